// Hash-consing in both graphs, and what a graph of any depth or width costs.
#include <gtest/gtest.h>
#include <pthread.h>
#include <whit/error.h>

#include <ctime>
#include <functional>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "ir/graph.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace whit {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Node* variable(Graph& graph, const char* name, DType type) { return graph.make(Op::Variable, {}, {name_id(name), 0, 100}, type); }

// A buffer that no other test has.
NodeRef buffer(int64_t size = 16) {
  TensorGraph& graph = TensorGraph::shared();
  return graph.make(Op::Buffer, {}, {graph.next_serial(), size, kNoDevice}, DType::float32);
}

// Runs on a thread whose stack is 256 KiB: nothing may recurse over a graph.
void on_small_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_t thread;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  const auto run = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

double seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

// What grows with the square would take 100 times as long for 10 times as much; caches make the larger one a little slower anyway.
void expect_linear(const std::function<void(int)>& work) {
  const double small = std::min(seconds([&] { work(100'000); }), seconds([&] { work(100'000); }));
  const double large = seconds([&] { work(1'000'000); });
  EXPECT_LT(large, 40 * small + 0.05);
}

// ---- The arena -----------------------------------------------------------------------------------------------------------------------

TEST(Graph, EqualNodesAreOne) {
  Graph graph;
  const Node* x = variable(graph, "x", DType::float32);
  const auto build = [&] { return graph.make(Op::Log, {graph.add(graph.mul(x, x), graph.constant(DType::float32, 1))}); };
  const Node* z = build();
  const size_t size = graph.size();
  EXPECT_EQ(build(), z);
  EXPECT_EQ(graph.size(), size);
  EXPECT_EQ(size, 5u);
  EXPECT_NE(variable(graph, "x", DType::float64), x);
  EXPECT_NE(variable(graph, "y", DType::float32), x);
}

TEST(Graph, ConstantsByBits) {
  Graph graph;
  for (const DType type : {DType::float16, DType::float32, DType::float64}) {
    EXPECT_NE(graph.constant(type, 0.0), graph.constant(type, -0.0)) << name(type);
    EXPECT_EQ(graph.constant(type, kNaN), graph.constant(type, -kNaN)) << name(type);
    EXPECT_TRUE(graph.constant(type, 0.0)->is_constant(0));
    EXPECT_FALSE(graph.constant(type, -0.0)->is_constant(0));
  }
  // Bits that no value of the type has are brought to those of the value they stand for.
  EXPECT_EQ(graph.constant_bits(DType::uint8, 256 + 7), graph.constant(DType::uint8, 7));
  EXPECT_EQ(graph.constant_bits(DType::float32, 0x7fc12345), graph.constant(DType::float32, kNaN));
  EXPECT_EQ(graph.constant_bits(DType::boolean, 2), graph.boolean(true));
}

TEST(Graph, ConstantsFoldAndStandOnTheRight) {
  Graph graph;
  const Node* x = variable(graph, "x", DType::int32);
  const Node* two = graph.constant(DType::int32, 2);
  EXPECT_EQ(graph.mul(two, two), graph.constant(DType::int32, 4));
  EXPECT_EQ(graph.add(two, x), graph.add(x, two));
  EXPECT_NE(graph.make(Op::Quotient, {two, x}), graph.make(Op::Quotient, {x, two}));
  EXPECT_EQ(graph.cast(graph.constant(DType::float32, 300.7), DType::uint8), graph.constant(DType::uint8, 255));
  EXPECT_EQ(graph.less(two, graph.constant(DType::int32, 3)), graph.boolean(true));
  // Rounded differently by different devices: only they may evaluate it.
  EXPECT_EQ(graph.make(Op::Exp, {graph.constant(DType::float32, 1)})->op, Op::Exp);
}

TEST(Graph, KnowsWhatIsBelow) {
  Graph graph;
  const Node* range = graph.range(3, 8, AxisKind::reduce);
  const Node* other = graph.range(5, 4, AxisKind::loop);
  const Node* value = graph.add(graph.mul(range, other), range);
  EXPECT_EQ(value->open, (1u << 3) | (1u << 5));
  const Node* sum = graph.make(Op::Accumulate, {value, range}, {int64_t(Op::Add)});
  EXPECT_EQ(sum->open, 1u << 5);
  EXPECT_TRUE(sum->below.contains(Op::Mul));
  EXPECT_FALSE(sum->below.contains(Op::Load));
}

TEST(Graph, RefusesWrongForms) {
  Graph graph;
  const Node* x = variable(graph, "x", DType::float32);
  const Node* n = variable(graph, "n", DType::int32);
  const Node* tensor = graph.make(Op::Param, {}, {0, 6, kNoDevice}, DType::float32);
  EXPECT_THROW(graph.add(x, n), InternalError);
  EXPECT_THROW(graph.make(Op::Add, {x}), InternalError);
  EXPECT_THROW(graph.make(Op::Quotient, {x, x}), InternalError);
  EXPECT_THROW(graph.make(Op::Sqrt, {n}), InternalError);
  EXPECT_THROW(graph.make(Op::Where, {x, x, x}), InternalError);
  EXPECT_THROW(graph.make(Op::Reshape, {tensor}, {2, 4}), InternalError);
  EXPECT_THROW(graph.make(Op::Permute, {tensor}, {1}), InternalError);
  EXPECT_THROW(graph.make(Op::Shrink, {tensor}, {3, 4}), InternalError);
  EXPECT_THROW(graph.make(Op::Reduce, {tensor}, {int64_t(Op::Less), 0}), InternalError);
  EXPECT_THROW(graph.make(Op::Bitcast, {x}, {}, DType::float16), InternalError);
  EXPECT_THROW(graph.range(64, 4, AxisKind::loop), InternalError);
  EXPECT_THROW(graph.add(tensor, graph.make(Op::Param, {}, {1, 7, kNoDevice}, DType::float32)), InternalError);
}

TEST(Graph, ImportSharesAcrossRoots) {
  Graph from, to;
  const Node* x = variable(from, "x", DType::float32);
  const Node* square = from.mul(x, x);
  const Node* roots[] = {from.add(square, x), from.make(Op::Neg, {square})};
  NodeMap<const Node*> seen;
  const std::vector<const Node*> copies = {to.import(roots[0], seen), to.import(roots[1], seen)};
  EXPECT_EQ(to.size(), 4u);
  EXPECT_EQ(copies[0]->source(0), copies[1]->source(0));
  EXPECT_EQ(print(copies), print(roots));
}

TEST(Graph, WithSourcesKeepsTheType) {
  Graph graph;
  const Node* lanes = graph.range(0, 4, AxisKind::vector);
  const Node* other = graph.range(1, 8, AxisKind::vector);
  const Node* accumulator = graph.make(Op::Register, {lanes}, {0}, DType::float32);
  const Node* replaced = graph.with_sources(accumulator, Sources(&other, 1));
  EXPECT_EQ(replaced->dtype, DType::float32);
  EXPECT_EQ(graph.with_sources(replaced, Sources(&lanes, 1)), accumulator);
}

TEST(Graph, TopologicalOrderListsSourcesFirst) {
  Graph graph;
  std::mt19937 random(5);
  std::vector<const Node*> nodes = {variable(graph, "x", DType::int64), variable(graph, "y", DType::int64)};
  for (int i = 0; i < 2000; ++i) nodes.push_back(graph.add(nodes[random() % nodes.size()], nodes[random() % nodes.size()]));
  const std::vector<const Node*> order = topological_order(nodes);
  NodeSet seen;
  for (const Node* node : order) {
    for (const Node* source : node->sources()) EXPECT_TRUE(seen.contains(source));
    EXPECT_TRUE(seen.insert(node));
  }
  for (const Node* node : nodes) EXPECT_TRUE(seen.contains(node));
  const std::vector<const Node*> shallow = topological_order(Sources(&nodes.back(), 1), [](const Node*) { return Sources{}; });
  EXPECT_EQ(shallow, std::vector{nodes.back()});
}

TEST(Graph, ANodeOfManySources) {
  Graph graph;
  std::vector<const Node*> sources;
  for (int64_t i = 0; i < 100'000; ++i) sources.push_back(graph.index(i));
  const Node* sink = graph.make(Op::Sink, sources);
  EXPECT_EQ(graph.make(Op::Sink, sources), sink);
  EXPECT_EQ(sink->sources().size(), sources.size());
  EXPECT_EQ(graph.index(7), sources[7]);  // the block in use is still in use
  EXPECT_EQ(topological_order(Sources(&sink, 1)).size(), sources.size() + 1);
  Graph copy;
  NodeMap<const Node*> seen;
  EXPECT_EQ(copy.import(sink, seen)->sources().size(), sources.size());
}

// ---- Depth ---------------------------------------------------------------------------------------------------------------------------

const Node* chain(Graph& graph, int length) {
  const Node* x = variable(graph, "x", DType::float32);
  const Node* node = x;
  for (int i = 0; i < length; ++i) node = graph.add(node, x);
  return node;
}

TEST(Depth, AMillionAddsInAnArena) {
  on_small_stack([] {
    expect_linear([](int length) {
      Graph graph;
      const Node* root = chain(graph, length);
      ASSERT_EQ(topological_order(Sources(&root, 1)).size(), size_t(length) + 1);
      Graph copy;
      NodeMap<const Node*> seen;
      ASSERT_EQ(copy.import(root, seen)->op, Op::Add);
      ASSERT_LT(print_expression(root).size(), 300u);
    });
  });
}

TEST(Depth, AMillionAddsAsText) {
  on_small_stack([] {
    expect_linear([](int length) {
      Graph graph;
      const Node* root = chain(graph, length);
      const std::string text = print(Sources(&root, 1));
      ASSERT_EQ(parse(graph, text), std::vector{root});
    });
  });
}

TEST(Depth, AMillionAddsOfTensors) {
  on_small_stack([] {
    TensorGraph& graph = TensorGraph::shared();
    const size_t before = graph.size();
    expect_linear([&](int length) {
      const NodeRef x = buffer();
      NodeRef node = x;
      for (int i = 0; i < length; ++i) node = graph.make(Op::Add, {node.get(), x.get()});
      ASSERT_EQ(graph.size(), before + size_t(length) + 1);
    });
    EXPECT_EQ(graph.size(), before);
  });
}

// ---- The counted graph ---------------------------------------------------------------------------------------------------------------

class CountedAttachment : public Attachment {
 public:
  CountedAttachment() { ++alive; }
  ~CountedAttachment() override { --alive; }
  static inline std::atomic<int> alive{0};
};

void attach(const Node* node) {
  Attachment* attachment = new CountedAttachment;
  attachment->retain();
  node->attachment.store(attachment);
}

TEST(TensorGraph, NodesLiveAsLongAsTheyAreReferredTo) {
  TensorGraph& graph = TensorGraph::shared();
  const size_t before = graph.size();
  {
    NodeRef x = buffer();
    NodeRef z = graph.make(Op::Exp, {graph.make(Op::Mul, {x.get(), x.get()}).get()});
    EXPECT_EQ(graph.size(), before + 3);
    const Node* square = z->source(0);
    EXPECT_EQ(graph.make(Op::Mul, {x.get(), x.get()}).get(), square);
    x = {};
    EXPECT_EQ(graph.size(), before + 3);
    NodeRef copy = z;
    z = {};
    EXPECT_EQ(copy->source(0), square);
    EXPECT_EQ(graph.size(), before + 3);
  }
  EXPECT_EQ(graph.size(), before);
}

TEST(TensorGraph, AttachmentsGoWithTheirNode) {
  TensorGraph& graph = TensorGraph::shared();
  {
    const NodeRef x = buffer();
    attach(x.get());
    {
      const NodeRef y = graph.make(Op::Neg, {x.get()});
      attach(y.get());
      EXPECT_EQ(CountedAttachment::alive, 2);
    }
    EXPECT_EQ(CountedAttachment::alive, 1);
  }
  EXPECT_EQ(CountedAttachment::alive, 0);
}

TEST(TensorGraph, ImportFindsWhatExists) {
  TensorGraph& graph = TensorGraph::shared();
  const NodeRef x = buffer();
  const NodeRef y = graph.make(Op::Neg, {x.get()});
  Graph arena;
  NodeMap<const Node*> seen;
  const Node* copies[] = {arena.import(y.get(), seen), arena.import(x.get(), seen)};
  const size_t size = graph.size();
  const std::vector<NodeRef> back = graph.import(copies);
  EXPECT_EQ(back[0], y);
  EXPECT_EQ(back[1], x);
  EXPECT_EQ(graph.size(), size);
}

TEST(TensorGraph, ALongLoopHoldsConstantMemory) {
  TensorGraph& graph = TensorGraph::shared();
  const NodeRef weight = buffer(), gradient = buffer();
  NodeRef kept;
  size_t size = 0;
  for (int step = 0; step < 100'000; ++step) {
    const NodeRef rate = graph.constant(DType::float32, 1.0 / (step + 1));
    const NodeRef scaled = graph.make(Op::Mul, {gradient.get(), rate.get()});
    kept = graph.make(Op::Add, {weight.get(), scaled.get()});
    if (step == 10) size = graph.size();
    ASSERT_TRUE(step <= 10 || graph.size() <= size) << step;
  }
}

// Threads that make and drop the same few nodes revive each other's dying ones all the time.
TEST(TensorGraph, ThreadsShareNodes) {
  TensorGraph& graph = TensorGraph::shared();
  const size_t before = graph.size();
  {
    const NodeRef x = buffer();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        std::vector<NodeRef> kept(4);
        for (int i = 0; i < 20'000; ++i) {
          NodeRef node = x;
          const unsigned steps = random() % 6;
          for (unsigned k = 0; k < steps; ++k) node = graph.make(k % 2 ? Op::Neg : Op::Sqrt, {node.get()});
          const NodeRef sum = graph.make(Op::Add, {node.get(), x.get()});
          if (sum->source(0) != node.get() || sum->source(1) != x.get()) ADD_FAILURE() << "a node changed";
          kept[random() % kept.size()] = sum;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(graph.size(), before + 1);
  }
  EXPECT_EQ(graph.size(), before);
}

}  // namespace
}  // namespace whit
