// A shared library opened at run time, so that a build needs none of the vendors' packages. Symbols stay local to the handle
// (RTLD_LOCAL) and pointers taken from a library are valid only while it lives.
#pragma once

#include <span>
#include <string>

namespace whit {

class DynamicLibrary {
 public:
  /// Opens the first of `names` that loads; throws a BackendError with the names that aren't there and the loader's message
  /// for those that don't load.
  explicit DynamicLibrary(std::span<const std::string> names);
  explicit DynamicLibrary(const std::string& name) : DynamicLibrary(std::span(&name, 1)) {}

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  /// The name it was opened by.
  const std::string& name() const { return name_; }

  /// The address of a symbol, or null when the library has none of that name.
  void* find(const std::string& symbol) const;

  /// The address of a symbol; throws a BackendError that names the symbol and the library when it is missing.
  void* symbol(const std::string& symbol) const;

  /// Sets a function pointer of any type from the symbol.
  template <class Function>
  void load(const std::string& name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace whit
