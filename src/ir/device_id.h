// Names of devices as small numbers, so that a node can carry one.
#pragma once

#include <string>
#include <string_view>

#include "ir/node.h"

namespace whit {

/// The number of a canonical device name ("CPU", "CL:1"); the same name always gives the same number.
DeviceId device_id(std::string_view name);
const std::string& device_name(DeviceId id);

}  // namespace whit
