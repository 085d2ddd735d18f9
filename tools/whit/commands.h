// The sub-commands of the program: one file each, which adds it with its options and its work.
#pragma once

#include <CLI/CLI.hpp>

namespace whit::tool {

void add_mnist(CLI::App& program);
void add_bench(CLI::App& program);
void add_devices(CLI::App& program);
void add_docs(CLI::App& program);

}  // namespace whit::tool
