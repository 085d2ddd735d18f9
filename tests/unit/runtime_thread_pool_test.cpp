#include "runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" void __tsan_init() __attribute__((weak));  // NOLINT: ThreadSanitizer's name, there only when it is

namespace whit {
namespace {

/// ThreadSanitizer ends a child that starts threads after a fork.
bool fork_may_start_threads() { return !__tsan_init; }

/// How often each index of a loop was run.
std::vector<int> visits(ThreadPool& pool, int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
  pool.run(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
  });
  return {seen.begin(), seen.end()};
}

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t count : {1, 2, 7, 63, 64, 65, 1000, 1001}) {
      for (int64_t grain : {-1, 0, 1, 3, 64, 5000}) EXPECT_EQ(visits(pool, count, grain), std::vector<int>(count, 1));
    }
  }
}

TEST(ThreadPool, RunsNothingForAnEmptyLoop) {
  ThreadPool pool(2);
  auto never = [](int64_t, int64_t) { FAIL(); };
  pool.run(0, 1, never);
  pool.run(-5, 1, never);
}

TEST(ThreadPool, ChunksAreNoSmallerThanTheGrainAndReachHugeCounts) {
  ThreadPool pool(4);
  for (int64_t count : {int64_t{1000}, int64_t{1} << 62, INT64_MAX}) {
    for (int64_t grain : {int64_t{7}, count / 3, count}) {
      std::atomic<int64_t> total{0};
      pool.run(count, grain, [&](int64_t begin, int64_t end) {
        EXPECT_GE(end - begin, grain);
        total += end - begin;
      });
      EXPECT_EQ(total, count);
    }
  }
}

TEST(ThreadPool, WritesOfTheBodyAreSeenByTheCaller) {
  ThreadPool pool(4);
  std::vector<int64_t> values(257);
  for (int64_t round = 0; round < 3000; ++round) {
    pool.run(257, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] += i;
    });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), (round + 1) * 257 * 128);
  }
}

TEST(ThreadPool, ThreadsSleepBetweenLoopsAndWakeAgain) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(visits(pool, 100, 1), std::vector<int>(100, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(ThreadPool, WaitsForALongLastChunk) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> done{0};
    std::thread::id caller = std::this_thread::get_id();
    pool.run(2, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      done.fetch_add(1);
    });
    EXPECT_EQ(done, 2);
  }
}

TEST(ThreadPool, UnevenChunksWork) {
  ThreadPool pool(4);
  std::atomic<int64_t> total{0};
  pool.run(40, 1, [&](int64_t begin, int64_t end) {
    if (begin == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    total += end - begin;
  });
  EXPECT_EQ(total, 40);
}

TEST(ThreadPool, ALoopInsideALoopRunsWhole) {
  ThreadPool pool(4);
  std::atomic<int64_t> inner{0};
  pool.run(64, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int calls = 0;
      pool.run(100, 1, [&](int64_t from, int64_t to) {
        ++calls;
        inner += to - from;
      });
      EXPECT_EQ(calls, 1);
    }
  });
  EXPECT_EQ(inner, 6400);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  callers.reserve(4);
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) wrong += visits(pool, 50, 1) != std::vector<int>(50, 1);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, AnExceptionReachesTheCallerAndThePoolLivesOn) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    for (int64_t thrower : {0, 13, 31}) {
      try {
        pool.run(32, 1, [&](int64_t begin, int64_t end) {
          if (begin <= thrower && thrower < end) throw std::runtime_error("chunk " + std::to_string(thrower));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "chunk " + std::to_string(thrower));
      }
    }
    EXPECT_EQ(visits(pool, 32, 1), std::vector<int>(32, 1));
  }
}

TEST(ThreadPool, AnExceptionStopsTheDealing) {
  ThreadPool pool(2);
  std::atomic<int> chunks{0};
  auto body = [&](int64_t, int64_t) {
    chunks.fetch_add(1);
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(pool.run(1000, 1, body), std::runtime_error);
  EXPECT_LE(chunks, 2);
}

TEST(ThreadPool, PoolsThatNeverRanOrJustRanCanGo) {
  for (int round = 0; round < 50; ++round) {
    ThreadPool idle(8), used(3);
    EXPECT_EQ(visits(used, 10, 1), std::vector<int>(10, 1));
  }
}

TEST(ThreadPool, RestartsInTheChildOfAFork) {
  if (!fork_may_start_threads()) GTEST_SKIP() << "ThreadSanitizer forbids it";
  ThreadPool pool(3);
  EXPECT_EQ(visits(pool, 100, 1), std::vector<int>(100, 1));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> chunks{0};
    pool.run(100, 1, [&](int64_t, int64_t) { chunks.fetch_add(1); });
    bool dealt = chunks > 1;  // a pool that lost its threads for good would run the loop in one piece
    _exit(dealt && visits(pool, 100, 1) == std::vector<int>(100, 1) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(visits(pool, 100, 1), std::vector<int>(100, 1));
}

TEST(ThreadPool, ForksWhileAnotherThreadRunsALoop) {
  if (!fork_may_start_threads()) GTEST_SKIP() << "ThreadSanitizer forbids it";
  ThreadPool pool(3);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) visits(pool, 100, 1);
  });
  for (int round = 0; round < 10; ++round) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::atomic<int64_t> total{0};
      pool.run(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      _exit(total == 100 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  other.join();
}

TEST(ThreadPool, SizeFollowsTheSettingOrTheAffinityMask) {
  EXPECT_EQ(ThreadPool::size_for(3), 3u);
  EXPECT_EQ(ThreadPool::size_for(1024), 1024u);
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  const auto cores = static_cast<unsigned>(CPU_COUNT(&mask));
  for (const int64_t ignored : {0, -2, 1025}) EXPECT_EQ(ThreadPool::size_for(ignored), cores) << ignored;
  EXPECT_GE(ThreadPool::shared().size(), 1u);

  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
      if (CPU_ISSET(core, &mask)) CPU_SET(core, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(ThreadPool::size_for(0), 1u);
  }).join();
}

}  // namespace
}  // namespace whit
