// The right sides of validity.cpp, and the examples their tests run on.
#pragma once

#include "rewrite/rule.h"

namespace whit::validity {

const Node* always(const Match& match, Graph& graph);
const Node* never(const Match& match, Graph& graph);
const Node* strongest(const Match& match, Graph& graph);
const Node* weakest(const Match& match, Graph& graph);
const Node* under_condition(const Match& match, Graph& graph);
const Node* tighten_index(const Match& match, Graph& graph);
const Node* drop_gate(const Match& match, Graph& graph);

const Node* example_always(Random& random, Graph& graph);
const Node* example_store_always(Random& random, Graph& graph);
const Node* example_never(Random& random, Graph& graph);
const Node* example_and(Random& random, Graph& graph);
const Node* example_or(Random& random, Graph& graph);
const Node* example_choice(Random& random, Graph& graph);
const Node* example_gated(Random& random, Graph& graph);
const Node* example_gated_store(Random& random, Graph& graph);
const Node* example_needless(Random& random, Graph& graph);

}  // namespace whit::validity
