// The right sides of reduce.cpp, and the examples their tests run on.
#pragma once

#include "rewrite/rule.h"

namespace whit::reductions {

const Node* drop_trivial(const Match& match, Graph& graph);
const Node* independent(const Match& match, Graph& graph);
const Node* independent_relaxed(const Match& match, Graph& graph);
const Node* flatten(const Match& match, Graph& graph);
const Node* gather(const Match& match, Graph& graph);
const Node* gather_relaxed(const Match& match, Graph& graph);
const Node* count(const Match& match, Graph& graph);
const Node* any_or_all(const Match& match, Graph& graph);
const Node* sum_of_indices(const Match& match, Graph& graph);
const Node* split(const Match& match, Graph& graph);

const Node* example_trivial(Random& random, Graph& graph);
const Node* example_independent(Random& random, Graph& graph);
const Node* example_nested(Random& random, Graph& graph);
const Node* example_gather(Random& random, Graph& graph);
const Node* example_product_gather(Random& random, Graph& graph);
const Node* example_count(Random& random, Graph& graph);
const Node* example_any(Random& random, Graph& graph);
const Node* example_indices(Random& random, Graph& graph);
const Node* example_split(Random& random, Graph& graph);

}  // namespace whit::reductions
