// Shapes: movement ops that come to nothing or to one, and tensors that hold one number. At tensor level only.
#include "rules/movement_functions.h"
#include "rules/tables.h"

namespace whit {

namespace {

using namespace patterns;
using namespace movements;

constexpr OpSet kMoves = OpSet::with(movement);
constexpr OpSet kKeeps = OpSet::of(Op::Reshape, Op::Permute, Op::Expand, Op::Shrink, Op::Flip, Op::Window);
constexpr Note one_stretch = grows("the scalar is stretched once, to the result");

constexpr char kName[] = "movement";

// clang-format off
constexpr Rule kRows[] = {
    {"needless", anything, any(kMoves, x, rest), needless, "a movement that leaves each element where it is", example_needless},
    {"reshape_reshape", anything, reshape(reshape(x)), reshape_reshape, "only the last shape counts", example_reshape},
    {"permute_permute", anything, permute(permute(x)), permute_permute, "one permutation after the other is a permutation", example_permute},
    {"permute_of_ones", anything, permute(x), permute_as_reshape, "moving axes of size 1 is a Reshape", example_permute_of_ones, grows("a Permute becomes a Reshape, never the reverse")},
    {"expand_expand", anything, expand(expand(x)), expand_expand, "only the last sizes count", example_expand},
    {"pad_pad", anything, pad(pad(x)), pad_pad, "the paddings add up", example_pad},
    {"shrink_shrink", anything, shrink(shrink(x)), shrink_shrink, "the offsets add up", example_shrink},
    {"shrink_pad", anything, shrink(pad(x)), shrink_pad, "what the Shrink takes away is not padded first", example_shrink_pad, grows("the Shrink moves inwards")},
    {"flip_flip", anything, flip(flip(x)), flip_flip, "an axis reversed twice is as it was", example_flip},
    {"flip_single", anything, flip(x), flip_single, "an axis of size 1 cannot be reversed", example_flip_single, grows("fewer axes are reversed")},
    {"window_of_one", anything, any(Op::Window, x), window_of_one, "windows of one element, next to each other, are a part of the axis", example_window, grows("a Window becomes a Shrink, never the reverse")},
    {"spread_of_one", anything, any(Op::Spread, x), spread_of_one, "windows of one element spread next to each other are the axis, padded", example_spread, grows("a Spread becomes a Pad, never the reverse")},

    {"scalar_moved", anything, any(kKeeps, expand(reshape(x)), rest), scalar_moved, "moving a tensor of one number changes its shape only", example_scalar, one_stretch},
    {"scalar_padded", anything, any(OpSet::of(Op::Pad, Op::Spread), expand(reshape(0)), rest), scalar_padded, "zeros padded with zeros are zeros", example_scalar_padded, one_stretch},
    {"scalar_operand", anything, any(OpSet::with(alu), rest), scalar_operand, "a tensor of one number takes part in arithmetic as that number", example_scalar_operand, one_stretch},

    {"reduce_single", anything, any(Op::Reduce, x), reduce_single, "a reduction over axes of size 1 keeps the values", example_reduce_single, grows("an addition of 0.0 takes the place of a sum")},
    {"reduce_reduce", anything, any(Op::Reduce, any(Op::Reduce, x)), reduce_reduce, "reductions by one op, where their order does not matter, are one", example_reduce_reduce},
    {"reduce_scalar", anything, any(Op::Reduce, expand(reshape(x))), reduce_scalar, "the maximum of a tensor of one number is that number, its sum a product, where that is exact", example_reduce_scalar, one_stretch},
    {"sum_as_scatter", anything, any(Op::Reduce, where(x != y, 0, z)), sum_as_scatter, "a sum of which each term goes to one place adds it there", example_sum_as_scatter, grows("the loop over the places goes")},
};
// clang-format on

}  // namespace

constinit const RuleTable movement_rules = rule_table<kRows, kName>();

}  // namespace whit
