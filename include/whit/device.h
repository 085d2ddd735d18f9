// Which device tensors are made on.
#pragma once

#include <string>
#include <whit/site.h>

namespace whit {

/// The default device of this process: DEV, or what was set here, or the CPU. Names are "CPU", "CPU:LLVM", "CL", …; case doesn't matter.
struct Device {
  static std::string get_default();
  static void set_default(const std::string& name, Site at = {});  ///< a UserError(Device) with the reason where there is no such device
};

}  // namespace whit
