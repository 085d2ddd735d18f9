// The right sides of index.cpp that have to be computed, and the examples their tests run on.
#pragma once

#include "rewrite/rule.h"

namespace whit::index_rewrites {

const Node* known_value(const Match& match, Graph& graph);
const Node* known_source(const Match& match, Graph& graph);
const Node* canonical_sum(const Match& match, Graph& graph);
const Node* canonical_product(const Match& match, Graph& graph);
const Node* extremum(const Match& match, Graph& graph);
const Node* less(const Match& match, Graph& graph);
const Node* not_equal(const Match& match, Graph& graph);
const Node* quotient(const Match& match, Graph& graph);
const Node* remainder(const Match& match, Graph& graph);
const Node* quotient_by_size(const Match& match, Graph& graph);
const Node* remainder_by_size(const Match& match, Graph& graph);

/// A random index expression of up to `size` ops over ranges and variables.
const Node* random_index(Random& random, Graph& graph, int size);

const Node* example_known(Random& random, Graph& graph);
const Node* example_known_source(Random& random, Graph& graph);
const Node* example_sum(Random& random, Graph& graph);
const Node* example_product(Random& random, Graph& graph);
const Node* example_extremum(Random& random, Graph& graph);
const Node* example_less(Random& random, Graph& graph);
const Node* example_not_equal(Random& random, Graph& graph);
const Node* example_quotient(Random& random, Graph& graph);
const Node* example_remainder(Random& random, Graph& graph);
const Node* example_quotient_by_size(Random& random, Graph& graph);
const Node* example_remainder_by_size(Random& random, Graph& graph);

}  // namespace whit::index_rewrites
