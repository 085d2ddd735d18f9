// Whole rule sets on random graphs: they end, they end at a fixed point, and they keep every value.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "instances.h"
#include "ir/print.h"
#include "rewrite/driver.h"
#include "rules/index_functions.h"
#include "rules/movement_functions.h"
#include "rules/reduce_functions.h"
#include "rules/simplify.h"
#include "rules/tables.h"
#include "rules/validity_functions.h"

namespace whit::rule_tests {
namespace {

// Scalar expressions over all types, a pool of nodes that grows.
class Expressions {
 public:
  Expressions(Random& random, Graph& graph) : random_(random), graph_(graph) {
    for (const DType type :
         {DType::boolean, DType::int8, DType::uint8, DType::int32, DType::uint64, DType::float32, DType::float16, DType::index})
      for (int i = 0; i < 3; ++i) {
        pool_.push_back(random_variable(random, graph, type, concat("v", i)));
        pool_.push_back(graph.constant_bits(type, type == DType::index ? random.between(-3, 8) : random_value(random, type)));
        if (i == 0) pool_.push_back(graph.constant(type, double(random.between(0, 2))));
      }
    for (int64_t i = 0; i < 3; ++i) pool_.push_back(graph.range(i, random.between(1, 12), AxisKind::loop));
  }

  const Node* draw(int ops) {
    const Node* last = pool_[0];
    for (int i = 0; i < ops;) {
      const Node* node = draw_one();
      if (!node) continue;
      ++i;
      pool_.push_back(node);
      if (!node->is_constant()) last = node;
    }
    return last;
  }

 private:
  const Node* any_of(DType type) {
    // Mostly what is new, so that expressions get deep.
    for (int attempt = 0; attempt < 50; ++attempt) {
      const size_t reach = random_.coin() ? pool_.size() : std::min<size_t>(pool_.size(), 12);
      const Node* node = pool_[pool_.size() - 1 - size_t(random_.next() % reach)];
      if (type == DType::none ? true : node->dtype == type) return node;
    }
    return nullptr;
  }

  const Node* draw_one() {
    const Op op = Op(random_.next() % kOpCount);
    if (!has(op, alu) || op == Op::Threefry || op == Op::Bitcast) return nullptr;
    const Node* first = any_of(op == Op::Where ? DType::boolean : DType::none);
    if (!first) return nullptr;
    // Which zero a maximum of two zeros is stays open, and 1/x tells; libm's functions are not what is tested here.
    if (is_float(first->dtype) && (op == Op::Max || op == Op::Min || has(op, lowered))) return nullptr;
    const DType types[] = {DType::boolean, DType::int8, DType::int32, DType::uint64, DType::float32, DType::index};
    if (op == Op::Cast) {
      const DType type = random_.pick(types);
      // An index is proven not to overflow where it is made; 64 arbitrary bits are none.
      return type == DType::index && (item_size(first->dtype) > 2 || is_float(first->dtype)) && first->dtype != DType::index
                 ? nullptr
                 : graph_.cast(first, type);
    }
    if (has(op, floating) && !is_float(first->dtype)) return nullptr;
    if (has(op, integral) && is_float(first->dtype)) return nullptr;
    const Node* sources[3] = {first, nullptr, nullptr};
    DType type = op == Op::Where ? DType::none : first->dtype;
    for (int k = 1; k < info(op).arity; ++k) {
      sources[k] = any_of(type);
      if (!sources[k]) return nullptr;
      type = sources[k]->dtype;
    }
    return graph_.make(op, Sources(sources, size_t(info(op).arity)));
  }

  Random& random_;
  Graph& graph_;
  std::vector<const Node*> pool_;
};

void expect_same_values(Random& random, const Node* before, const Node* after, int assignments) {
  for (int i = 0; i < assignments; ++i) {
    Environment environment;
    const Node* sides[] = {before, after};
    bind_leaves(random, sides, environment);
    const std::optional<Bits> left = checked_value(before, environment);
    if (!left) continue;
    const Bits right = evaluate_expression(after, environment);
    ASSERT_TRUE(same_value(before, *left, right))
        << print_value(before->dtype, *left) << " becomes " << print_value(before->dtype, right) << explain(before, after, environment);
  }
}

void expect_fixed_point(Graph& graph, const Node* root, const RuleSet& rules) {
  const Node* again = rewrite(graph, root, rules);
  ASSERT_EQ(again, root) << print_expression(root) << "\n  " << print_expression(again);
}

constexpr size_t kBudget = 4000;

TEST(Graphs, ScalarExpressionsKeepTheirValues) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    Graph graph;
    const Node* root = Expressions(random, graph).draw(40);
    const Node* result = rewrite(graph, root, simplify_rules(), {.budget = kBudget});
    expect_same_values(random, root, result, 6);
    expect_fixed_point(graph, result, simplify_rules());
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Graphs, IndexExpressionsKeepTheirValues) {
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    Random random(seed);
    Graph graph;
    const Node* root = index_rewrites::random_index(random, graph, int(4 + seed % 20));
    const Node* result = rewrite(graph, root, simplify_rules(), {.budget = kBudget});
    expect_same_values(random, root, result, 6);
    expect_fixed_point(graph, result, simplify_rules());
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Graphs, KernelExpressionsKeepTheirValues) {
  const Example examples[] = {reductions::example_trivial, reductions::example_independent, reductions::example_nested,
                              reductions::example_gather,  reductions::example_count,       reductions::example_any,
                              reductions::example_indices, reductions::example_split,       reductions::example_product_gather,
                              validity::example_choice,    validity::example_gated,         validity::example_needless};
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    Graph graph;
    const Node* root = random.pick(examples)(random, graph);
    const Node* result = rewrite(graph, root, kernel_rules(), {.budget = kBudget});
    expect_same_values(random, root, result, 4);
    expect_fixed_point(graph, result, kernel_rules());
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// A tensor moved about and computed with.
const Node* random_tensor(Random& random, Graph& graph) {
  const auto move = [&](Op op, const Node* source, const std::vector<int64_t>& args) { return graph.make(op, Sources(&source, 1), args); };
  const Node* node = move(Op::Reshape, graph.make(Op::Param, {}, {0, 24, kNoDevice}, DType::int32), {2, 3, 4});
  for (int64_t steps = random.between(2, 10); steps > 0; --steps) {
    std::vector<int64_t> args, sizes;
    for (const Dim& dim : node->shape()) sizes.push_back(dim.size);
    const size_t rank = sizes.size();
    const size_t axis = rank ? size_t(random.next() % rank) : 0;
    if (rank == 0 || element_count(node->shape()) > 2000) break;
    switch (random.next() % 10) {
      case 0:  // split or merge axes
        if (sizes[axis] % 2 == 0)
          sizes[axis] /= 2, sizes.insert(sizes.begin() + int64_t(axis), 2);
        else if (rank > 1)
          sizes[0] *= sizes[1], sizes.erase(sizes.begin() + 1);
        node = move(Op::Reshape, node, sizes);
        break;
      case 1:
        for (size_t i = 0; i < rank; ++i) args.insert(args.begin() + random.between(0, int64_t(i)), int64_t(i));
        node = move(Op::Permute, node, args);
        break;
      case 2: node = move(Op::Flip, node, {int64_t(axis)}); break;
      case 3:
        for (size_t i = 0; i < 2 * rank; ++i) args.push_back(random.between(0, 1));
        node = move(Op::Pad, node, args);
        break;
      case 4:
        for (const int64_t size : sizes) {
          const int64_t first = random.between(0, size - 1);
          args.insert(args.end(), {first, random.between(1, size - first)});
        }
        node = move(Op::Shrink, node, args);
        break;
      case 5:
        for (const int64_t size : sizes) args.push_back(size == 1 ? random.between(1, 3) : size);
        node = move(Op::Expand, node, args);
        break;
      case 6: node = move(Op::Reduce, node, {int64_t(random.coin() ? Op::Add : Op::Max), int64_t(axis)}); break;
      case 7: node = graph.mul(node, graph.constant(DType::int32, double(random.between(-1, 2)))); break;
      case 8: node = graph.add(node, stretch(graph, graph.constant(DType::int32, double(random.between(0, 2))), node->shape())); break;
      default: node = graph.where(graph.less(node, move(Op::Flip, node, {int64_t(axis)})), node, graph.make(Op::Neg, {node}));
    }
  }
  return node;
}

TEST(Graphs, TensorsKeepTheirValues) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Graph graph;
    const Node* root = random_tensor(random, graph);
    const Node* result = rewrite(graph, root, tensor_rules(), {.budget = kBudget});
    ASSERT_TRUE(std::ranges::equal(root->shape(), result->shape()));
    Environment environment;
    bind_leaves(random, Sources(&root, 1), environment);
    ASSERT_EQ(tensor_values(root, root->shape(), environment), tensor_values(result, root->shape(), environment))
        << "seed " << seed << explain(root, result, {});
    expect_fixed_point(graph, result, tensor_rules());
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace whit::rule_tests
