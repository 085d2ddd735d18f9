// `whit devices`: which ways of running there are on this machine, and why the others aren't there.
#include "engine/device.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"

namespace whit::tool {

namespace {

void print_lines(const std::vector<DeviceStatus>& statuses) {
  size_t width = 0;
  for (const DeviceStatus& status : statuses) width = std::max(width, status.name.size());
  for (const DeviceStatus& status : statuses) {
    std::cout << (status.is_default ? "* " : "  ") << std::left << std::setw(int(width)) << status.name << "  " << status.description;
    if (!status.reason.empty()) std::cout << "; not available: " << status.reason;
    std::cout << '\n';
  }
  std::cout << "* is used unless DEV or --device says otherwise\n";
}

void print_json(const std::vector<DeviceStatus>& statuses) {
  for (const DeviceStatus& status : statuses) {
    const nlohmann::ordered_json line{{"name", status.name},
                                      {"description", status.description},
                                      {"available", status.reason.empty()},
                                      {"default", status.is_default},
                                      {"reason", status.reason}};
    std::cout << line.dump() << '\n';
  }
}

}  // namespace

void add_devices(CLI::App& program) {
  CLI::App* command = program.add_subcommand("devices", "List the devices, and why one is missing");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object a line");
  command->callback([json] { (*json ? print_json : print_lines)(device_statuses()); });
}

}  // namespace whit::tool
