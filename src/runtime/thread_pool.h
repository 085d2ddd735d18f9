// A pool of threads that stay: one loop over [0, count) is dealt in chunks to whoever is free, the caller included. Threads
// start at the first loop that needs them, spin for a moment between loops and then sleep.
//
// What holds: every index is run exactly once, `run` returns after all of them are done, and what the body wrote is visible to
// the caller. A loop inside a loop, or a loop from a second thread at the same time, runs whole on the thread that asked. In the
// child of a fork the pool starts again at its first loop; a child made inside a body must not return from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/function_ref.h"

namespace whit {

class ThreadPool {
 public:
  using Body = FunctionRef<void(int64_t begin, int64_t end)>;

  /// `threads` counts the caller: 1 means that nothing is ever started.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return size_; }

  /// Runs the body over [0, count) in chunks of at least `grain` indices. The first exception a body throws stops the dealing
  /// and is thrown here once every running chunk has ended.
  void run(int64_t count, int64_t grain, Body body);

  /// The process's pool: THREADS threads, or one for each core this process may use. Never destroyed, so that threads
  /// which still run at exit find it alive.
  static ThreadPool& shared();

  /// The size `shared` takes for this value of the setting THREADS; one that is not from 1 to 1024 is ignored.
  static unsigned size_for(int64_t threads);

 private:
  struct Workers;
  friend struct ForkGuard;

  const unsigned size_;
  std::atomic<bool> busy_{false};
  std::unique_ptr<Workers> workers_;  // touched only by whoever holds busy_, and by the fork handler
  ThreadPool* next_ = nullptr;        // the list of all pools, for the fork handler
};

}  // namespace whit
