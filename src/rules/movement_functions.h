// The right sides of movement.cpp, and the examples their tests run on.
#pragma once

#include "rewrite/rule.h"

namespace whit::movements {

const Node* needless(const Match& match, Graph& graph);
const Node* reshape_reshape(const Match& match, Graph& graph);
const Node* permute_permute(const Match& match, Graph& graph);
const Node* permute_as_reshape(const Match& match, Graph& graph);
const Node* expand_expand(const Match& match, Graph& graph);
const Node* pad_pad(const Match& match, Graph& graph);
const Node* shrink_shrink(const Match& match, Graph& graph);
const Node* shrink_pad(const Match& match, Graph& graph);
const Node* flip_flip(const Match& match, Graph& graph);
const Node* flip_single(const Match& match, Graph& graph);
const Node* window_of_one(const Match& match, Graph& graph);
const Node* spread_of_one(const Match& match, Graph& graph);
const Node* scalar_moved(const Match& match, Graph& graph);
const Node* scalar_padded(const Match& match, Graph& graph);
const Node* scalar_operand(const Match& match, Graph& graph);
const Node* reduce_single(const Match& match, Graph& graph);
const Node* reduce_reduce(const Match& match, Graph& graph);
const Node* reduce_scalar(const Match& match, Graph& graph);
const Node* sum_as_scatter(const Match& match, Graph& graph);

const Node* example_needless(Random& random, Graph& graph);
const Node* example_reshape(Random& random, Graph& graph);
const Node* example_permute(Random& random, Graph& graph);
const Node* example_permute_of_ones(Random& random, Graph& graph);
const Node* example_expand(Random& random, Graph& graph);
const Node* example_pad(Random& random, Graph& graph);
const Node* example_shrink(Random& random, Graph& graph);
const Node* example_shrink_pad(Random& random, Graph& graph);
const Node* example_flip(Random& random, Graph& graph);
const Node* example_flip_single(Random& random, Graph& graph);
const Node* example_window(Random& random, Graph& graph);
const Node* example_spread(Random& random, Graph& graph);
const Node* example_scalar(Random& random, Graph& graph);
const Node* example_scalar_padded(Random& random, Graph& graph);
const Node* example_scalar_operand(Random& random, Graph& graph);
const Node* example_reduce_single(Random& random, Graph& graph);
const Node* example_reduce_reduce(Random& random, Graph& graph);
const Node* example_reduce_scalar(Random& random, Graph& graph);
const Node* example_sum_as_scatter(Random& random, Graph& graph);

}  // namespace whit::movements
