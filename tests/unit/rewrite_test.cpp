// The matcher, the driver, substitution and the trace, on small tables of their own.
#include <gtest/gtest.h>
#include <whit/error.h>

#include <cstdlib>
#include <new>

#include "rewrite/driver.h"
#include "rewrite/substitute.h"
#include "rewrite/trace.h"

namespace {

thread_local size_t allocations = 0;

}  // namespace

// Counted, so that a test can say that matching allocates nothing. Not inlined: g++ would take malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace whit {
namespace {

using namespace patterns;

const Node* variable(Graph& graph, const char* name, DType type = DType::int32) {
  return graph.make(Op::Variable, {}, {name_id(name), 0, type == DType::boolean ? 1 : 100}, type);
}

const Node* next_constant(const Match& m, Graph& graph) { return graph.constant(m.root->dtype, double(m.integer(c0) + 1)); }

constexpr char kFirstName[] = "first";
constexpr Rule kFirstRows[] = {
    {"or_zero", exact, x | 0, x},
    {"minus_one", ints, x * -1, -x},
    {"times_negative_zero", floats, x * -0.0, 7},
    {"times_zero", floats, x * 0.0, 8},
    {"to_greatest", ints, x % 255, -1},
    {"compare_literal", integers, x < y + 3, x + 1 < y + 4, grows("an example")},
    {"same_twice", integers, (x + y) * (x + z), x, grows("an example")},
    {"only_even", ints, x << c0, x, [](const Match& m) { return m.integer(c0) % 2 == 0; }},
    {"relaxed_row", floats, x / y, x, relaxed("everything")},
    {"any_of", integers, any(OpSet::of(Op::Max, Op::Min), x, c0), x},
    {"loads", anything, load(x, c0), next_constant, "the number of the element read, and one", nullptr},
};
constinit const RuleTable first = rule_table<kFirstRows, kFirstName>();

constexpr char kSecondName[] = "second";
constexpr Rule kSecondRows[] = {
    {"or_is_and", exact, x | y, x& y, grows("an example")},
};
constinit const RuleTable second = rule_table<kSecondRows, kSecondName>();

const Node* step(const RuleSet& rules, const Node* node, Graph& graph, bool with_relaxed = false) {
  const RuleInfo* hit = nullptr;
  return rules.rewrite(node, graph, &hit, with_relaxed);
}

TEST(Match, LiteralsMatchByValue) {
  Graph graph;
  const Node* f = variable(graph, "f", DType::float32);
  EXPECT_TRUE(step(first, graph.mul(f, graph.constant(DType::float32, -0.0)), graph)->is_constant(7));
  EXPECT_TRUE(step(first, graph.mul(f, graph.constant(DType::float32, 0.0)), graph)->is_constant(8));
  const Node* i = variable(graph, "i");
  EXPECT_EQ(step(first, graph.mul(i, graph.constant(DType::int32, -1)), graph), graph.make(Op::Neg, {i}));
  const Node* u = variable(graph, "u", DType::uint64);
  EXPECT_EQ(step(first, graph.mul(u, graph.constant_bits(DType::uint64, -1)), graph), nullptr) << "the greatest uint64 is not -1";
}

TEST(Match, LiteralsOnTheRightTakeTheTypeOfTheirPlace) {
  Graph graph;
  const Node* u = variable(graph, "u", DType::uint8);
  const Node* greatest = step(first, graph.make(Op::Remainder, {u, graph.constant(DType::uint8, 255)}), graph);
  EXPECT_EQ(greatest, graph.constant(DType::uint8, 255)) << "-1 wraps";
  const Node *a = variable(graph, "a", DType::int64), *b = variable(graph, "b", DType::int64);
  const Node* less = step(first, graph.less(a, graph.add(b, graph.constant(DType::int64, 3))), graph);
  EXPECT_EQ(less->source(0), graph.add(a, graph.constant(DType::int64, 1)));
  EXPECT_EQ(less->source(1), graph.add(b, graph.constant(DType::int64, 4)));
}

TEST(Match, TriesEveryOrderOfCommutativeOps) {
  Graph graph;
  const Node *a = variable(graph, "a"), *b = variable(graph, "b"), *c = variable(graph, "c");
  const Node* sums[2][2] = {{graph.add(a, b), graph.add(b, a)}, {graph.add(a, c), graph.add(c, a)}};
  for (const Node* left : sums[0])
    for (const Node* right : sums[1]) EXPECT_EQ(step(first, graph.mul(left, right), graph), a);
  EXPECT_EQ(step(first, graph.mul(sums[0][0], graph.add(c, c)), graph), nullptr);
}

TEST(Match, GuardsDomainsAndNotes) {
  Graph graph;
  const Node* i = variable(graph, "i");
  const auto shifted = [&](int by) { return graph.make(Op::Shl, {i, graph.constant(DType::int32, by)}); };
  EXPECT_EQ(step(first, shifted(2), graph), i);
  EXPECT_EQ(step(first, shifted(3), graph), nullptr);
  const Node* x64 = variable(graph, "x", DType::index);
  EXPECT_EQ(step(first, graph.make(Op::Shl, {x64, graph.index(2)}), graph), nullptr) << "index is not in the domain";
  const Node* f = variable(graph, "f", DType::float32);
  const Node* divided = graph.make(Op::Divide, {f, f});
  EXPECT_EQ(step(first, divided, graph), nullptr);
  EXPECT_EQ(step(first, divided, graph, true), f);
  EXPECT_EQ(step(first, graph.make(Op::Min, {i, graph.constant(DType::int32, 5)}), graph), i);
}

TEST(Match, CountsTheSourcesOfVariadicOps) {
  Graph graph;
  const Node* storage = graph.make(Op::Param, {}, {0, 8, kNoDevice}, DType::int32);
  EXPECT_TRUE(step(first, graph.make(Op::Load, {storage, graph.index(4)}), graph)->is_constant(5));
  EXPECT_EQ(step(first, graph.make(Op::Load, {storage, graph.index(4), variable(graph, "p", DType::boolean)}), graph), nullptr);
}

TEST(RuleSet, AnEarlierTableWins) {
  Graph graph;
  const Node *a = variable(graph, "a"), *zero = graph.constant(DType::int32, 0), *b = variable(graph, "b");
  EXPECT_EQ(step(RuleSet(first) + second, graph.make(Op::Or, {a, zero}), graph), a);
  EXPECT_EQ(step(RuleSet(second) + first, graph.make(Op::Or, {a, zero}), graph), graph.make(Op::And, {a, zero}));
  EXPECT_EQ(step(RuleSet(first) + second, graph.make(Op::Or, {a, b}), graph), graph.make(Op::And, {a, b}));
}

#define TEN(n)                                                                                                   \
  {"row" #n "0", ints, x ^ n##0, x}, {"row" #n "1", ints, x ^ n##1, x}, {"row" #n "2", ints, x ^ n##2, x},       \
      {"row" #n "3", ints, x ^ n##3, x}, {"row" #n "4", ints, x ^ n##4, x}, {"row" #n "5", ints, x ^ n##5, x},   \
      {"row" #n "6", ints, x ^ n##6, x}, {"row" #n "7", ints, x ^ n##7, x}, {"row" #n "8", ints, x ^ n##8, x}, { \
    "row" #n "9", ints, x ^ n##9, x                                                                              \
  }
constexpr char kWideName[] = "wide";
constexpr Rule kWideRows[] = {TEN(1), TEN(2), TEN(3), TEN(4), TEN(5), TEN(6), TEN(7), TEN(8), TEN(9)};
#undef TEN
constinit const RuleTable wide = rule_table<kWideRows, kWideName>();

TEST(RuleSet, ABucketMayHaveMoreThan64Variants) {
  Graph graph;
  const Node* a = variable(graph, "a");
  for (int number = 5; number < 105; ++number) {
    const RuleInfo* hit = nullptr;
    const Node* result = RuleSet(wide).rewrite(graph.make(Op::Xor, {a, graph.constant(DType::int32, number)}), graph, &hit);
    EXPECT_EQ(result, number >= 10 && number < 100 ? a : nullptr) << number;
    EXPECT_TRUE(!hit || hit->name == "row" + std::to_string(number));
  }
}

TEST(RuleSet, RejectingAllocatesNothing) {
  Graph graph;
  const Node *a = variable(graph, "a"), *b = variable(graph, "b");
  const Node* quiet[] = {graph.add(a, b), graph.mul(graph.add(a, a), graph.add(b, b)),
                         graph.make(Op::Shl, {a, graph.constant(DType::int32, 3)}), graph.less(a, b)};
  const size_t before = allocations;
  for (int i = 0; i < 1000; ++i)
    for (const Node* node : quiet)
      if (step(RuleSet(first) + wide, node, graph)) ADD_FAILURE();
  EXPECT_EQ(allocations, before);
}

TEST(RuleSet, CountsHits) {
  Graph graph;
  const Node* node = graph.make(Op::Or, {variable(graph, "a"), graph.constant(DType::int32, 0)});
  const uint64_t before = first.hits[0].load();
  for (int i = 0; i < 3; ++i) step(first, node, graph);
  EXPECT_EQ(first.hits[0].load(), before + 3);
  EXPECT_NE(hit_counts(first).find("first.or_zero"), std::string::npos);
}

// ---- Driver -----------------------------------------------------------------------------------------------------------------------------

constexpr char kDriverName[] = "driver";
constexpr Rule kDriverRows[] = {
    {"neg_neg", numbers, -(-x), x},
    {"times_zero", ints, x * 0, 0},
    {"max_is_sum", ints, max(x, y), x + y, grows("an example")},
};
constinit const RuleTable driver_rules = rule_table<kDriverRows, kDriverName>();

constexpr char kEndlessName[] = "endless";
constexpr Rule kEndlessRows[] = {{"swap", exact, x ^ y, y ^ x, grows("a mistake")}};
constinit const RuleTable endless = rule_table<kEndlessRows, kEndlessName>();

TEST(Driver, ReachesAFixedPoint) {
  Graph graph;
  const Node *a = variable(graph, "a"), *b = variable(graph, "b");
  const auto neg = [&](const Node* node) { return graph.make(Op::Neg, {node}); };
  const Node* root = neg(neg(graph.make(Op::Max, {neg(neg(a)), neg(neg(neg(b)))})));
  EXPECT_EQ(rewrite(graph, root, driver_rules), graph.add(a, neg(b)));
}

TEST(Driver, LeavesAloneWhatNoRowCanStartAt) {
  Graph graph;
  const Node* quiet = graph.make(Op::Xor, {variable(graph, "a"), variable(graph, "b")});
  const Node* root = graph.make(Op::Neg, {graph.make(Op::And, {quiet, quiet})});
  Rewriter rewriter(graph, driver_rules);
  EXPECT_EQ(rewriter(root), root);
  EXPECT_EQ(rewriter.counts().visits, 1u);
}

TEST(Driver, RootsShareWhatWasFound) {
  Graph graph;
  const auto neg = [&](const Node* node) { return graph.make(Op::Neg, {node}); };
  const Node* shared = neg(neg(variable(graph, "a")));
  const Node* roots[] = {graph.add(shared, shared), neg(shared), shared};
  Rewriter rewriter(graph, driver_rules);
  const auto results = rewriter(Sources(roots));
  const Node* a = variable(graph, "a");
  EXPECT_EQ(results[0], graph.add(a, a));
  EXPECT_EQ(results[1], neg(a));
  EXPECT_EQ(results[2], a);
  const size_t visits = rewriter.counts().visits;
  EXPECT_EQ(rewriter(roots[0]), results[0]);
  EXPECT_EQ(rewriter.counts().visits, visits);
}

TEST(Driver, StretchesAScalarToTheShape) {
  Graph graph;
  const Node* tensor = graph.make(Op::Reshape, {graph.make(Op::Param, {}, {0, 6, kNoDevice}, DType::int32)}, {2, 3});
  const Node* result = rewrite(graph, graph.add(graph.mul(tensor, graph.constant(DType::int32, 0)), tensor), driver_rules);
  const Node* zeros = result->source(0);
  EXPECT_TRUE(std::ranges::equal(zeros->shape(), tensor->shape()));
  EXPECT_EQ(zeros->op, Op::Expand);
  EXPECT_EQ(zeros->source(0)->op, Op::Reshape);
  EXPECT_TRUE(zeros->source(0)->source(0)->is_constant(0));
}

TEST(Driver, NamesTheRulesThatDoNotEnd) {
  Graph graph;
  const Node* root = graph.make(Op::Xor, {variable(graph, "a"), variable(graph, "b")});
  try {
    rewrite(graph, root, endless, {.budget = 100});
    FAIL() << "it ends";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("endless.swap"), std::string::npos) << error.what();
  }
  EXPECT_EQ(rewrite(graph, variable(graph, "a"), endless), variable(graph, "a")) << "usable after the error";
}

TEST(Driver, TakesAMillionDeepGraphInLinearTime) {
  Graph graph;
  const Node *a = variable(graph, "a"), *b = variable(graph, "b");
  const Node* chain = graph.make(Op::Neg, {graph.make(Op::Neg, {a})});
  for (int i = 0; i < 1'000'000; ++i) chain = graph.add(chain, b);
  Rewriter rewriter(graph, driver_rules);
  const Node* result = rewriter(chain);
  EXPECT_NE(result, chain);
  EXPECT_EQ(rewriter.counts().rewrites, 1u);
  EXPECT_LT(rewriter.counts().visits, 10u) << "no row starts at Add";
  const Substitution swap[] = {{a, b}};
  EXPECT_EQ(substitute(graph, substitute(graph, result, swap), swap), substitute(graph, result, swap));
}

// ---- Substitution -----------------------------------------------------------------------------------------------------------------------

TEST(Substitute, ReplacesEveryOccurrence) {
  Graph graph;
  const Node *a = variable(graph, "a"), *b = variable(graph, "b"), *c = variable(graph, "c");
  const Node* roots[] = {graph.add(graph.mul(a, b), a), graph.mul(b, c), c};
  const Substitution pairs[] = {{a, b}, {b, a}};
  const auto results = substitute(graph, Sources(roots), pairs);
  EXPECT_EQ(results[0], graph.add(graph.mul(b, a), b)) << "what was put in is not replaced again";
  EXPECT_EQ(results[1], graph.mul(a, c));
  EXPECT_EQ(results[2], c);
  EXPECT_EQ(substitute(graph, roots[0], {}), roots[0]);
}

TEST(Substitute, LeavesClosedRangesAlone) {
  Graph graph;
  const Node *i = graph.range(0, 4, AxisKind::loop), *r = graph.range(1, 4, AxisKind::reduce);
  const Node* sum = graph.make(Op::Accumulate, {graph.add(i, r), r}, {int64_t(Op::Add)});
  const Node* root = graph.add(sum, r);
  const Node *five = graph.index(5), *six = graph.index(6);
  const Substitution pairs[] = {{r, five}, {i, six}};
  EXPECT_EQ(substitute(graph, root, pairs), graph.add(graph.make(Op::Accumulate, {graph.add(six, r), r}, {int64_t(Op::Add)}), five));
  const Substitution only_closed[] = {{r, five}};
  EXPECT_EQ(substitute(graph, root, only_closed), graph.add(sum, five));
}

// ---- Trace ------------------------------------------------------------------------------------------------------------------------------

TEST(Trace, RecordsStepsWhileARecordingLives) {
  Graph graph, other;
  const auto twice = [](Graph& g) { return g.make(Op::Neg, {g.make(Op::Neg, {variable(g, "a")})}); };
  Trace trace(graph);
  {
    const Recording recording(trace);
    trace.start_pass("signs");
    rewrite(graph, twice(graph), driver_rules);
    rewrite(other, twice(other), driver_rules);
  }
  rewrite(graph, twice(graph), driver_rules);
  ASSERT_EQ(trace.entries().size(), 1u);
  EXPECT_EQ(trace.passes()[trace.entries()[0].pass], "signs");
  EXPECT_STREQ(trace.entries()[0].rule->name, "neg_neg");
  EXPECT_EQ(trace.entries()[0].old_node, twice(graph));
  EXPECT_EQ(trace.entries()[0].new_node, variable(graph, "a"));
}

}  // namespace
}  // namespace whit
