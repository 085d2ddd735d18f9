// Counting what the engine does (engine/handle.h: counters()).
#pragma once

#include <cstdint>

namespace whit {

void count_bytes(int64_t change);
void count_launch(double flops, double bytes);
void count_plan(bool found);
void count_compiled(int64_t kernels);

}  // namespace whit
