// All of whit: tensors, gradients, devices.
#pragma once

#include <whit/device.h>
#include <whit/functional.h>
#include <whit/random.h>
#include <whit/tensor.h>
