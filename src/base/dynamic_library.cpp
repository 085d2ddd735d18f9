#include "base/dynamic_library.h"

#include <dlfcn.h>

#include <utility>

#include "base/error.h"

namespace whit {

DynamicLibrary::DynamicLibrary(std::span<const std::string> names) {
  std::string missing, refused;
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      return;
    }
    const char* text = dlerror();
    const std::string reason = text ? text : name;
    // A library that isn't there is the usual case, and the same sentence for each of twenty names tells nothing.
    const bool absent = reason == name + ": cannot open shared object file: No such file or directory";
    std::string& list = absent ? missing : refused;
    list += concat(list.empty() ? "" : absent ? ", " : "; ", absent ? name : reason);
  }
  if (!missing.empty()) missing = concat("not found: ", missing, refused.empty() ? "" : "; ");
  throw BackendError(concat("cannot load a shared library: ", missing, refused));
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_) dlclose(handle_);
}

void* DynamicLibrary::find(const std::string& symbol) const { return handle_ ? dlsym(handle_, symbol.c_str()) : nullptr; }

void* DynamicLibrary::symbol(const std::string& symbol) const {
  void* address = find(symbol);
  if (!address) throw BackendError(concat("the shared library ", name_, " has no symbol ", symbol));
  return address;
}

}  // namespace whit
