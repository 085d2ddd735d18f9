// The caches of plans and kernels are bounded, and what is in use stays.
#include "engine/plan_cache.h"

#include <gtest/gtest.h>
#include <whit/whit.h>

#include <thread>

#include "engine/handle.h"
#include "engine/lru_cache.h"
#include "unit/environment.h"

namespace whit {
namespace {

TEST(LruCache, TheLeastRecentlyUsedGoesFirst) {
  LruCache<int, std::string> cache;
  std::vector<std::string> gone;
  for (const int key : {1, 2, 3}) cache.insert(key, std::to_string(key), 10, 30, gone);
  EXPECT_TRUE(gone.empty());
  EXPECT_EQ(cache.find(1), "1");
  cache.insert(4, "4", 10, 30, gone);
  EXPECT_EQ(gone, std::vector<std::string>{"2"});
  EXPECT_FALSE(cache.find(2));
  EXPECT_EQ(cache.find(3), "3");
  EXPECT_EQ(cache.weight(), 30);
}

TEST(LruCache, OneThatIsTooHeavyIsAloneThere) {
  LruCache<int, int> cache;
  std::vector<int> gone;
  cache.insert(1, 1, 10, 30, gone);
  cache.insert(2, 2, 40, 30, gone);
  EXPECT_EQ(gone, std::vector<int>{1});
  EXPECT_EQ(cache.find(2), 2);
  cache.insert(2, 5, 20, 30, gone);
  EXPECT_EQ(cache.find(2), 5);
  EXPECT_EQ(cache.weight(), 20);
  EXPECT_EQ(cache.size(), 1u);
}

// A plan for each size, on a device whose compiler takes no time.
void compute(int64_t size) {
  Tensor x = Tensor::arange(size, {.device = "CPU:INTERP"}) * 3;
  const std::vector<int> values = x.to_vector<int>();
  ASSERT_EQ(values[size_t(size) - 1], 3 * (int(size) - 1));
}

TEST(PlanCache, PlansAndKernelsStayBelowTheirBounds) {
  forget_plans();
  const test::Environment plans("WHIT_PLAN_CACHE", "1"), kernels("WHIT_KERNEL_CACHE", "5");
  for (int64_t size = 1; size <= 60; ++size) compute(size);
  const CacheUse use = cache_use();
  EXPECT_LE(use.plan_bytes, 1 << 20);
  EXPECT_GE(use.plans, 1u);
  EXPECT_LT(use.plans, 60u);
  EXPECT_EQ(use.kernels, 5u);
}

TEST(PlanCache, WhatIsUsedAgainAndAgainStays) {
  forget_plans();
  const test::Environment plans("WHIT_PLAN_CACHE", "1");
  for (int64_t size = 1; size <= 60; ++size) {
    compute(size);
    const int64_t built = counters().plans_built;
    compute(1);
    EXPECT_EQ(counters().plans_built, built);
  }
  const int64_t built = counters().plans_built;
  compute(2);
  EXPECT_EQ(counters().plans_built, built + 1) << "the plan of one used long ago is made anew";
}

TEST(PlanCache, AKernelInUseOutlivesItsPlaceInTheCache) {
  forget_plans();
  const test::Environment kernels("WHIT_KERNEL_CACHE", "1");
  for (int64_t size = 100; size < 110; ++size) compute(size);
  const int64_t compiled = counters().kernels_compiled;
  for (int64_t size = 100; size < 110; ++size) compute(size);
  EXPECT_EQ(counters().kernels_compiled, compiled) << "the plans hold their kernels";
}

TEST(PlanCache, ThreadsMayShareASmallOne) {
  forget_plans();
  const test::Environment plans("WHIT_PLAN_CACHE", "0"), kernels("WHIT_KERNEL_CACHE", "1");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int64_t k = 0; k < 40; ++k) compute(1 + (k * 7 + t) % 13);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache_use().plans, 1u);
  EXPECT_LE(cache_use().kernels, 1u);
}

}  // namespace
}  // namespace whit
