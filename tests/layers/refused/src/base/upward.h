#include <vector>
#include <whit/error.h>
#include <whit/tensor.h>

#include "../base/bare.h"
#include "bare.h"
#include "ir/node.h"
#include "nowhere/file.h"
#include "whit/error.h"
