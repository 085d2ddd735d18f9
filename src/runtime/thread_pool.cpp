#include "runtime/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "base/settings.h"

namespace whit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kChunksPerThread = 8;  // enough that one slow core holds up the others by an eighth at most
constexpr auto kSpin = std::chrono::microseconds(50);

/// Waits until `ready` holds, for as long as a loop that follows at once may take to come; false when the time is over.
template <class Ready>
bool spin_until(Ready ready) {
  for (int turn = 0; turn < 200; ++turn) {
    if (ready()) return true;
    pause_core();
  }
  // From here on another thread may need this core, perhaps the one that is waited for.
  for (auto end = Clock::now() + kSpin; Clock::now() < end; std::this_thread::yield()) {
    if (ready()) return true;
  }
  return ready();
}

/// New threads leave signals to the threads the program made itself.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

/// The threads and the loop they share. The gate guards the loop: a worker enters only while it is open, and the caller closes
/// it and waits until everyone has left before the loop changes. So a worker that wakes late can't touch a loop that is over.
struct ThreadPool::Workers {
  static constexpr uint32_t kOpen = 1u << 31;    // of the gate; the bits below count the workers inside
  static constexpr uint32_t kParked = 1u << 30;  // of the gate: the caller sleeps until the last one leaves

  alignas(64) std::atomic<uint32_t> gate{0};
  alignas(64) std::atomic<uint32_t> epoch{0};  // counts loops; workers sleep on it
  std::atomic<uint32_t> sleeping{0};
  std::atomic<bool> stop{false};
  alignas(64) std::atomic<int64_t> next{0};  // the chunk to be dealt next
  alignas(64) int64_t count = 0;
  int64_t chunks = 0;
  const Body* body = nullptr;
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::vector<std::thread> threads;

  explicit Workers(unsigned number);
  ~Workers();
  void serve();
  bool enter();
  void leave();
  void deal();
  void open(int64_t loop_count, int64_t loop_chunks, const Body& loop_body);
  void close();
};

ThreadPool::Workers::Workers(unsigned number) {
  SignalsBlocked blocked;
  threads.reserve(number);
  try {
    while (threads.size() < number) threads.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
  }
}

ThreadPool::Workers::~Workers() {
  stop.store(true);
  epoch.fetch_add(1);
  epoch.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void ThreadPool::Workers::serve() {
  for (uint32_t seen = 0;;) {
    if (!spin_until([&] { return epoch.load() != seen; })) {
      sleeping.fetch_add(1);
      epoch.wait(seen);
      sleeping.fetch_sub(1);
    }
    seen = epoch.load();
    if (stop.load()) return;
    if (!enter()) continue;
    deal();
    leave();
  }
}

bool ThreadPool::Workers::enter() {
  uint32_t state = gate.load();
  while (state & kOpen) {
    if (gate.compare_exchange_weak(state, state + 1)) return true;
  }
  return false;
}

void ThreadPool::Workers::leave() {
  if (gate.fetch_sub(1) == (kParked | 1)) gate.notify_one();
}

/// Runs chunks until none is left. Chunk sizes differ by one at most, so none is smaller than count / chunks.
void ThreadPool::Workers::deal() {
  const int64_t size = count / chunks, longer = count % chunks;
  for (int64_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
    const int64_t begin = chunk * size + std::min(chunk, longer);
    try {
      (*body)(begin, begin + size + (chunk < longer));
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
      next.store(chunks, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::Workers::open(int64_t loop_count, int64_t loop_chunks, const Body& loop_body) {
  count = loop_count;
  chunks = loop_chunks;
  body = &loop_body;
  next.store(0, std::memory_order_relaxed);
  gate.store(kOpen);
  epoch.fetch_add(1);
  // A worker counts itself as sleeping before it looks at the epoch for the last time, so none is missed here.
  const auto asleep = static_cast<int64_t>(sleeping.load());
  if (asleep == 0) return;
  if (chunks - 1 >= asleep) return epoch.notify_all();
  for (int64_t waking = 1; waking < chunks; ++waking) epoch.notify_one();
}

void ThreadPool::Workers::close() {
  auto empty = [&] { return (gate.load() & ~(kOpen | kParked)) == 0; };
  gate.fetch_and(~kOpen);
  if (!spin_until(empty)) {
    for (uint32_t state = gate.fetch_or(kParked) | kParked; state != kParked; state = gate.load()) gate.wait(state);
    gate.store(0);
  }
  body = nullptr;
}

/// All pools of the process. In the child of a fork only the forking thread is left, so each pool gives up its workers there:
/// they can be neither joined nor destroyed, and their memory stays.
struct ForkGuard {
  std::mutex mutex;
  ThreadPool* first = nullptr;

  static ForkGuard& get() {
    static ForkGuard& guard = *new ForkGuard;
    return guard;
  }

  ForkGuard() {
    pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); }, [] { get().restart(); });
  }

  void restart() {
    for (ThreadPool* pool = first; pool; pool = pool->next_) {
      static_cast<void>(pool->workers_.release());
      pool->busy_.store(false);
    }
    mutex.unlock();
  }

  void add(ThreadPool& pool) {
    std::lock_guard lock(mutex);
    pool.next_ = first;
    first = &pool;
  }

  void remove(ThreadPool& pool) {
    std::lock_guard lock(mutex);
    ThreadPool** link = &first;
    while (*link != &pool) link = &(*link)->next_;
    *link = pool.next_;
  }
};

ThreadPool::ThreadPool(unsigned threads) : size_(std::max(threads, 1u)) { ForkGuard::get().add(*this); }

ThreadPool::~ThreadPool() { ForkGuard::get().remove(*this); }

void ThreadPool::run(int64_t count, int64_t grain, Body body) {
  if (count <= 0) return;
  const int64_t chunks = std::min(count / std::max<int64_t>(grain, 1), size_ * kChunksPerThread);
  // The flag is taken when this is a loop inside a loop, or a second caller.
  if (size_ == 1 || chunks < 2 || busy_.exchange(true)) return body(0, count);
  struct Release {
    std::atomic<bool>& flag;
    ~Release() { flag.store(false); }
  } release{busy_};
  if (!workers_) workers_ = std::make_unique<Workers>(size_ - 1);
  Workers& workers = *workers_;
  workers.open(count, chunks, body);
  workers.deal();
  workers.close();
  if (workers.failed.exchange(false)) std::rethrow_exception(std::exchange(workers.error, nullptr));
}

ThreadPool& ThreadPool::shared() {
  static ThreadPool& pool = *new ThreadPool(size_for(setting("THREADS", 0)));
  return pool;
}

unsigned ThreadPool::size_for(int64_t threads) { return threads >= 1 && threads <= 1024 ? unsigned(threads) : available_cores(); }

}  // namespace whit
