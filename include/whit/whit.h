// All of whit: tensors, gradients, layers and optimizers, devices.
#pragma once

#include <whit/composed.h>
#include <whit/device.h>
#include <whit/functional.h>
#include <whit/nn.h>
#include <whit/random.h>
#include <whit/tensor.h>
