// Memory that each thread keeps for itself, and that still serves what runs when a thread's own variables are gone: the destructors of
// statics and exit handlers run after the thread_local variables of the main thread are destroyed.
#pragma once

#include <utility>

namespace whit {

/// The T of this thread, made at the first call and destroyed with the thread; made anew after that and then kept. Each Tag has its own.
template <class T, class Tag>
T& of_this_thread() {
  static thread_local T* value = nullptr;  // a pointer: it can be read at any time
  struct Owner {
    ~Owner() { delete std::exchange(value, nullptr); }
  };
  if (!value) {
    static thread_local const Owner owner;
    static_cast<void>(owner);
    value = new T;
  }
  return *value;
}

}  // namespace whit
