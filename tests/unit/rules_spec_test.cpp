// What the verifier lets stand at each level, and what it says of the rest.
#include <gtest/gtest.h>

#include "rules/spec.h"

namespace whit {
namespace {

class Spec : public testing::Test {
 protected:
  const Node* param(int64_t slot = 0) { return graph.make(Op::Param, {}, {slot, 16, kNoDevice}, DType::float32); }
  const Node* load(const Node* index) { return graph.make(Op::Load, {param(), index}); }
  const Node* store(const Node* index, const Node* value) { return graph.make(Op::Store, {param(1), index, value}); }
  std::string verify_one(Level level, const Node* root) { return verify(level, Sources(&root, 1)); }
  bool says(const std::string& error, const char* text) { return error.find(text) != std::string::npos; }

  Graph graph;
  const Node* i = graph.range(0, 4, AxisKind::loop);
  const Node* r = graph.range(1, 4, AxisKind::reduce);
};

TEST_F(Spec, TensorLevel) {
  const Node* tensor = graph.make(Op::Reshape, {param()}, {4, 4});
  EXPECT_EQ(verify_one(Level::tensor, graph.make(Op::Reduce, {graph.add(tensor, tensor)}, {int64_t(Op::Add), 1})), "");
  EXPECT_TRUE(
      says(verify_one(Level::tensor, graph.make(Op::Sink, {graph.cast(i, DType::float32)})), "Range may not stand at the tensor level"));
  EXPECT_TRUE(says(verify_one(Level::tensor, load(graph.index(1))), "Load may not stand"));
}

TEST_F(Spec, KernelLevel) {
  const Node* sum = graph.make(Op::Accumulate, {load(graph.add(i, r)), r}, {int64_t(Op::Add)});
  EXPECT_EQ(verify_one(Level::kernel, graph.make(Op::Sink, {store(i, sum)})), "");
  EXPECT_TRUE(says(verify_one(Level::kernel, graph.make(Op::Sink, {sum})), "a Sink of Stores"));
  const Node* escapes = graph.make(Op::Sink, {store(r, sum)});
  EXPECT_TRUE(says(verify_one(Level::kernel, escapes), "in loops that no reduction below it closes"));
  const Node* twice = graph.make(Op::Accumulate, {load(r), r, r}, {int64_t(Op::Add)});
  EXPECT_TRUE(says(verify_one(Level::kernel, graph.make(Op::Sink, {store(i, twice)})), "each named once"));
  const Node* tensor = graph.make(Op::Reshape, {param()}, {4, 4});
  EXPECT_TRUE(says(verify_one(Level::kernel, tensor), "Reshape may not stand at the kernel level"));
}

TEST_F(Spec, LinearLevel) {
  const Node *loop = graph.make(Op::Loop, {i}), *end = graph.make(Op::EndLoop, {i});
  const Node* value = load(i);
  const Node* doubled = graph.add(value, value);
  const Node* out = store(i, doubled);
  const Node* right[] = {loop, value, doubled, out, end};
  EXPECT_EQ(verify(Level::linear, right), "");
  const Node* unordered[] = {loop, doubled, value, out, end};
  EXPECT_TRUE(says(verify(Level::linear, unordered), "before it stands in the code"));
  const Node* outside[] = {loop, value, end, doubled};
  EXPECT_TRUE(says(verify(Level::linear, outside), "before it stands in the code"));
  const Node* closed[] = {value};
  EXPECT_TRUE(says(verify(Level::linear, closed), "a loop that is not open"));
  const Node* open[] = {loop, value};
  EXPECT_TRUE(says(verify(Level::linear, open), "does not end"));
  const Node *inner = graph.make(Op::Loop, {r}), *crossed[] = {loop, inner, end};
  EXPECT_TRUE(says(verify(Level::linear, crossed), "does not end the innermost loop"));
  const Node* folded[] = {graph.make(Op::Accumulate, {load(r), r}, {int64_t(Op::Add)})};
  EXPECT_TRUE(says(verify(Level::linear, folded), "Accumulate may not stand at the linear level"));
}

}  // namespace
}  // namespace whit
