#include <whit/tensor.h>
