// The text form of random graphs: it reads back to the same nodes, and no damaged text does worse than be refused.
#include <gtest/gtest.h>
#include <whit/error.h>

#include <set>
#include <string>

#include "ir/parse.h"
#include "ir/print.h"
#include "unit/mutations.h"
#include "unit/random_graph.h"

namespace whit {
namespace {

TEST(RandomText, DrawsEveryOp) {
  std::set<Op> drawn;
  for (uint64_t seed = 0; seed < 4000 && drawn.size() < kOpCount; ++seed) {
    Graph graph;
    RandomGraph random(graph, seed);
    random.grow(400);
    for (const Node* node : random.nodes()) drawn.insert(node->op);
  }
  for (size_t i = 0; i < kOpCount; ++i) EXPECT_TRUE(drawn.contains(Op(i))) << name(Op(i));
}

TEST(RandomText, ReadsBackToTheSameNodes) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Graph graph;
    RandomGraph random(graph, seed);
    random.grow(int(20 + random.pick(300)));
    const std::string text = print(random.nodes());
    const size_t size = graph.size();
    ASSERT_EQ(parse(graph, text), random.nodes()) << "seed " << seed << '\n' << text;
    ASSERT_EQ(graph.size(), size) << "seed " << seed;
    // The last node alone: no line says what the root is.
    const Node* last = random.nodes().back();
    ASSERT_EQ(parse(graph, print(Sources(&last, 1))), std::vector{last});
    Graph other;
    ASSERT_EQ(print(parse(other, text)), text) << "seed " << seed;
    // Copies are the same text, so import loses nothing.
    Graph third;
    NodeMap<const Node*> seen;
    std::vector<const Node*> copies;
    for (const Node* node : random.nodes()) copies.push_back(third.import(node, seen));
    ASSERT_EQ(print(copies), text) << "seed " << seed;
  }
}

TEST(RandomText, CountedCopiesAreTheSameText) {
  const size_t before = TensorGraph::shared().size();
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Graph graph;
    RandomGraph random(graph, seed);
    random.grow(200);
    const std::vector<NodeRef> references = TensorGraph::shared().import(random.nodes());
    std::vector<const Node*> copies;
    for (const NodeRef& reference : references) copies.push_back(reference.get());
    ASSERT_EQ(print(copies), print(random.nodes())) << "seed " << seed;
  }
  EXPECT_EQ(TensorGraph::shared().size(), before);
}

TEST(RandomText, DamagedTextIsReadOrRefused) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Graph graph;
    RandomGraph random(graph, seed);
    random.grow(60);
    const std::string text = print(random.nodes());
    test::expect_mutations_survived({text.begin(), text.end()}, 200, [](std::span<const uint8_t> bytes) {
      Graph other;
      const std::vector<const Node*> roots = parse(other, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      ASSERT_EQ(parse(other, print(roots)), roots);
    });
  }
}

}  // namespace
}  // namespace whit
