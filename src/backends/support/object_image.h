// Machine code in this process: an ELF relocatable object laid out in memory of its own, linked, and made executable. No page
// is ever writable and executable at once. Pointers into it are valid while the ObjectImage lives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace whit {

/// What a kernel may call: memcpy, memmove, memset, and fma and trunc where the machine has no instruction for them. Null for
/// any other name.
void* kernel_external(std::string_view name);

class ObjectImage {
 public:
  /// Throws a BackendError where the object is damaged, was made for another machine, or needs what `resolve_external` lacks.
  explicit ObjectImage(std::span<const uint8_t> object, const std::function<void*(std::string_view)>& resolve_external = kernel_external);
  ObjectImage(ObjectImage&& other) noexcept;
  ObjectImage& operator=(ObjectImage&& other) noexcept;
  ~ObjectImage();

  /// The address of a global symbol; throws a BackendError that names it when the object has none.
  void* symbol(std::string_view name) const;

 private:
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
  std::map<std::string, void*, std::less<>> symbols_;
};

}  // namespace whit
