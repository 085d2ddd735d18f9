// CHECK=bounds,kernels,nan: what is right stays as it is, what is wrong is named.
#include "engine/checks.h"

#include <gtest/gtest.h>
#include <whit/whit.h>

#include <cmath>

#include "engine/handle.h"
#include "engine/plan_cache.h"
#include "unit/environment.h"

namespace whit {
namespace {

using test::Environment;

template <class Thrown, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Checks, ReadsItsWords) {
  const Environment unset("WHIT_CHECK", nullptr);
  {
    const Environment none("CHECK", nullptr);
    EXPECT_FALSE(checks_wanted().any());
  }
  {
    const Environment one("CHECK", "bounds");
    EXPECT_TRUE(checks_wanted().bounds);
    EXPECT_FALSE(checks_wanted().kernels || checks_wanted().nan);
    const Environment own("WHIT_CHECK", "nan, kernels");
    EXPECT_TRUE(checks_wanted().nan && checks_wanted().kernels);
    EXPECT_FALSE(checks_wanted().bounds) << "WHIT_CHECK wins";
  }
}

TEST(Checks, AWrongWordIsNamedWithThoseThereAre) {
  const Environment own("WHIT_CHECK", nullptr), wrong("CHECK", "bounds,nans");
  const std::string message = message_of<UserError>([] { Tensor::full({3}, 1.0).clone().realize(); });
  EXPECT_TRUE(contains(message, "CHECK: there is no check \"nans\"; there are bounds, kernels and nan")) << message;
}

TEST(Checks, AnotherProgramsCheckIsIgnored) {
  const Environment own("WHIT_CHECK", nullptr), theirs("CHECK", "true");
  EXPECT_FALSE(checks_wanted().bounds || checks_wanted().kernels || checks_wanted().nan);
  const Environment ours("WHIT_CHECK", "true");
  EXPECT_THROW(checks_wanted(), UserError);
}

TEST(Checks, ChangeNoResult) {
  const auto compute = [] {
    const Tensor a = Tensor::arange(6 * 70, {.dtype = DType::float32}).reshape({6, 70}).clone();
    const Tensor padded = (a / 7 - 3).pad({{1, 2}, {0, 3}});
    Tensor rows = padded.softmax(1).sum(0) + padded.max(0);
    Tensor picked = a[Tensor::arange(3, {.dtype = DType::int32}) * 2];
    return std::pair(rows.to_vector<float>(), picked.to_vector<float>());
  };
  const auto plain = compute();
  const Environment check("WHIT_CHECK", "bounds,kernels,nan");
  forget_plans();
  EXPECT_EQ(compute(), plain);
  forget_plans();
}

TEST(Checks, ALevelThatIsBrokenIsNamed) {
  Graph graph;
  const Node* range = graph.range(0, 4, AxisKind::loop);
  EXPECT_NO_THROW(check_level(Level::kernel, Sources(&range, 1), "a kernel"));
  const std::string message = message_of<InternalError>([&] { check_level(Level::tensor, Sources(&range, 1), "the tensor graph"); });
  EXPECT_TRUE(contains(message, "CHECK=kernels: the tensor graph: ") && contains(message, "Range")) << message;
}

TEST(Checks, AReportIsAnErrorThatNamesTheKernel) {
  const DeviceId cpu = open_device("CPU");
  BoundsGuard guard;
  guard.accesses.push_back({Op::Load, false, 0, 10, 1, "r0 * 3", 0, 1});
  guard.elements = 1;
  Graph graph;
  const std::string name = "e_4";
  WatchedLaunch watched({.bounds = true}, name, graph.make(Op::Sink, Sources{}), cpu, guard);
  std::vector<void*> memory;
  std::vector<size_t> offsets;
  watched.start(memory, offsets);
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_NO_THROW(watched.finish());
  const int64_t word = 2 * 12 + 1;
  device(cpu).copy_in(memory[0], 0, &word, sizeof word);
  const std::string message = message_of<InternalError>([&] { watched.finish(); });
  EXPECT_EQ(message, "CHECK=bounds: kernel e_4: a Load of buffer 0 at r0 * 3 reaches element 12; it has 10");
}

class NanCheck : public testing::Test {
 protected:
  Environment check_{"WHIT_CHECK", "nan"};
};

TEST_F(NanCheck, NamesTheFirstNaN) {
  const Tensor x = (Tensor::arange(4, {.dtype = DType::float32}) - 1).clone().realize();
  const std::string message = message_of<UserError>([&] { x.log().clone().realize(); });
  EXPECT_TRUE(contains(message, "CHECK=nan: kernel ") && contains(message, "makes a NaN: element 0 of buffer 0 (float32, 4 elements)"))
      << message;
  EXPECT_TRUE(contains(message, "all that it reads is finite")) << message;
}

TEST_F(NanCheck, TellsOfWhatCameFromOutside) {
  const Tensor x = Tensor(std::vector<float>{1, NAN, 3});
  const std::string message = message_of<UserError>([&] { (x * 2).clone().realize(); });
  EXPECT_TRUE(contains(message, "makes a NaN: element 1") && contains(message, "which it reads, holds one already")) << message;
}

TEST_F(NanCheck, InfinityIsAnErrorUnlessItWasReadOrNamed) {
  const Tensor x = Tensor::full({4}, 100.0f).clone().realize();
  const std::string message = message_of<UserError>([&] { x.exp().clone().realize(); });
  EXPECT_TRUE(contains(message, "makes an infinity")) << message;
  const Tensor mask = (x > 1).where(-INFINITY, x);
  EXPECT_NO_THROW(Tensor(mask).clone().realize());
  const Tensor read = Tensor(std::vector<float>{1, INFINITY});
  EXPECT_NO_THROW((read + 1).clone().realize());
}

TEST(DeviceNames, AnErrorNamesWhereTheNameCameFrom) {
  const std::string message = message_of<UserError>([] { open_device_of("DEV", "CUDAX"); });
  EXPECT_TRUE(message.starts_with("DEV=CUDAX: there is no device \"CUDAX\"; there are ")) << message;
  EXPECT_TRUE(contains(message, "CPU:INTERP") && contains(message, "NULL")) << message;
}

}  // namespace
}  // namespace whit
