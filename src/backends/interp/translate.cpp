#include "backends/interp/translate.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "codegen/executions.h"

namespace whit::interp {

namespace {

// ---- Loops --------------------------------------------------------------------------------------------------------------------------

void begin_loop(const Instruction& i, Frame& frame) {
  *frame.at<int64_t>(i.out) = 0;
  if (*frame.at<int64_t>(i.a) <= 0) frame.next += i.jump;
}
void end_loop(const Instruction& i, Frame& frame) {
  if (++*frame.at<int64_t>(i.out) < *frame.at<int64_t>(i.a)) frame.next += i.jump;
}
void begin_chunk(const Instruction& i, Frame& frame) {
  *frame.at<int64_t>(i.out) = frame.begin;
  if (frame.begin >= frame.end) frame.next += i.jump;
}
void end_chunk(const Instruction& i, Frame& frame) {
  if (++*frame.at<int64_t>(i.out) < frame.end) frame.next += i.jump;
}

// ---- Translation --------------------------------------------------------------------------------------------------------------------

// A scalar that is read by lanes has a place with room for all lanes, and is spread over them whenever it changes; so operands are
// always read lane by lane.
class Translator {
 public:
  explicit Translator(const LinearKernel& kernel) : kernel_(kernel), executions_(kernel), places_(kernel.code.size()) {
    code_.name = kernel.name;
    for (const KernelParam& param : kernel.params) code_.params.push_back(param.type);
    for (const Node* array : kernel.locals) {
      code_.locals.push_back({code_.local_bytes, array->arg(1)});
      code_.local_bytes += (size_t(array->arg(1)) * item_size(array->dtype) + 63) & ~size_t(63);
    }
    for (const Node* range : kernel.vector_ranges) code_.lanes = std::max(code_.lanes, uint32_t(kernel.lanes(range)));
    for (const Node* node : kernel.code)
      if (lanes_of_work(kernel, node) > 1)
        for (const Node* source : node->sources()) named_with_lanes_.insert(source);
    for (const Node* variable : kernel.variables) code_.variables.push_back({named(variable), uint32_t(frame_bytes(variable->dtype))});
  }

  Code translate() {
    for (position_ = 0; position_ < kernel_.code.size(); ++position_) translate(kernel_.code[position_]);
    code_.image.resize((size_ + 63) & ~size_t(63));
    return std::move(code_);
  }

 private:
  void translate(const Node* node) {
    if (is_named(node->op)) return;
    switch (node->op) {
      case Op::Loop: return loop(node->source(0));
      case Op::EndLoop: return end_loop_of();
      case Op::Set: return set(node);
      case Op::Across: return across(node);
      case Op::Load: return load(node, false);
      case Op::VectorLoad: return load(node, true);
      case Op::Store: return store(node, false);
      case Op::VectorStore: return store(node, true);
      case Op::Barrier: return;
      default: return compute(node);
    }
  }

  Instruction& emit(Run run, int64_t lanes) {
    WHIT_ASSERT(run, "the interpreter has no ", name(kernel_.code[position_]->op), " of ", name(kernel_.code[position_]->dtype));
    Instruction& instruction = code_.instructions.emplace_back();
    instruction.run = run;
    instruction.lanes = uint32_t(lanes);
    instruction.position = uint32_t(position_);
    instruction.op = kernel_.code[position_]->op;
    return instruction;
  }

  uint32_t allocate(DType type, int64_t lanes) {
    const size_t bytes = frame_bytes(type) * size_t(lanes), alignment = lanes > 1 ? 64 : 8;
    size_ = (size_ + alignment - 1) & ~(alignment - 1);
    const size_t place = size_;
    size_ += bytes;
    WHIT_ASSERT(size_ < Instruction::kNone, kernel_.name, " is too large for the interpreter");
    return uint32_t(place);
  }

  /// The place of the current instruction's value.
  uint32_t result(DType type, int64_t lanes) {
    return places_[position_] = allocate(type, executions_.used_with_lanes(position_) ? code_.lanes : lanes);
  }

  void spread(DType type, uint32_t place) { emit(spreading(frame_bytes(type)), code_.lanes).out = place; }
  void finish(DType type, int64_t lanes, uint32_t place) {
    if (lanes == 1 && executions_.used_with_lanes(position_) && code_.lanes > 1) spread(type, place);
  }

  /// The place of a Const, Variable, Range or Register. The first two and vector Ranges are there before the code runs.
  uint32_t named(const Node* node) {
    if (const auto known = named_.find(node); known != named_.end()) return known->second;
    const bool vector = kernel_.vector_range(node) != nullptr;
    const uint32_t place = named_[node] = allocate(node->dtype, code_.lanes);
    if (node->op == Op::Const) fill(node->dtype, place, [node](int64_t) { return node->arg(0); });
    if (node->op == Op::Range && vector) fill(DType::index, place, [](int64_t lane) { return lane; });
    return place;
  }

  template <class Value>
  void fill(DType type, uint32_t place, Value value) {
    const size_t bytes = frame_bytes(type);
    if (code_.image.size() < size_) code_.image.resize(size_);
    for (int64_t lane = 0; lane < code_.lanes; ++lane) {
      const Bits bits = value(lane);
      std::memcpy(&code_.image[place + size_t(lane) * bytes], &bits, bytes);  // little endian: the low bytes of Bits are the value
    }
  }

  uint32_t source(size_t k) {
    const int32_t from = executions_.sources(position_)[k];
    return from >= 0 ? places_[size_t(from)] : named(kernel_.code[position_]->source(k));
  }

  /// The place of an index or size as int64.
  uint32_t as_index(DType type, uint32_t place, int64_t lanes) {
    if (frame_bytes(type) == 8) return place;
    const uint32_t wide = allocate(DType::int64, lanes);
    Instruction& convert = emit(casting(type, DType::int64), lanes);
    convert.out = wide;
    convert.a = place;
    return wide;
  }

  void loop(const Node* range) {
    const int32_t from = executions_.sources(position_)[0];
    const Node* size = range->source(0);
    const uint32_t limit = as_index(size->dtype, from >= 0 ? places_[size_t(from)] : named(size), 1);
    const uint32_t counter = named(range);
    Instruction& begin = emit(range == kernel_.parallel ? begin_chunk : begin_loop, 1);
    begin.out = counter;
    begin.a = limit;
    open_.push_back(code_.instructions.size() - 1);
    if (named_with_lanes_.contains(range) && code_.lanes > 1) spread(DType::index, counter);
  }

  void end_loop_of() {
    const size_t begin = open_.back();
    open_.pop_back();
    const Instruction head = code_.instructions[begin];
    Instruction& end = emit(head.run == begin_chunk ? end_chunk : end_loop, 1);
    end.out = head.out;
    end.a = head.a;
    end.jump = int32_t(begin + 1) - int32_t(code_.instructions.size());
    code_.instructions[begin].jump = int32_t(code_.instructions.size() - begin - 1);
  }

  void set(const Node* node) {
    const DType type = node->source(0)->dtype;
    const int64_t lanes = kernel_.lanes(node->source(0));
    const uint32_t value = source(1), target = source(0);
    Instruction& move = emit(moving(frame_bytes(type)), lanes);
    move.a = value;
    move.out = target;
    if (lanes == 1 && named_with_lanes_.contains(node->source(0)) && code_.lanes > 1) spread(type, target);
  }

  void round(DType type, uint32_t place, int64_t lanes) {
    if (Run run = rounding(type)) emit(run, lanes).out = place;
  }

  void operate(Op op, DType type, uint32_t out, std::initializer_list<uint32_t> operands, int64_t lanes) {
    Instruction& instruction = emit(arithmetic(op, type), lanes);
    const uint32_t* operand = operands.begin();
    instruction.out = out;
    instruction.a = operand[0];
    instruction.b = operands.size() > 1 ? operand[1] : operand[0];  // what an op has no use for is read all the same
    instruction.c = operands.size() > 2 ? operand[2] : operand[0];
    if (!has(op, compares)) round(type, out, lanes);
  }

  void compute(const Node* node) {
    WHIT_ASSERT(has(node->op, alu), name(node->op), " in linear code");
    const int64_t lanes = kernel_.lanes(node);
    const DType from = node->source(node->op == Op::Where ? 1 : 0)->dtype;
    uint32_t operand[3] = {};
    for (size_t k = 0; k < node->source_count; ++k) operand[k] = source(k);
    const uint32_t out = result(node->dtype, lanes);
    if (has(node->op, typed)) {
      Instruction& convert = emit(node->op == Op::Cast ? casting(from, node->dtype) : bitcasting(from, node->dtype), lanes);
      convert.out = out;
      convert.a = operand[0];
      if (node->op == Op::Cast) round(node->dtype, out, lanes);
    } else if (node->source_count == 1) {
      operate(node->op, from, out, {operand[0]}, lanes);
    } else if (node->source_count == 2) {
      operate(node->op, from, out, {operand[0], operand[1]}, lanes);
    } else {
      operate(node->op, from, out, {operand[0], operand[1], operand[2]}, lanes);
    }
    finish(node->dtype, lanes, out);
  }

  void across(const Node* node) {
    const int64_t lanes = kernel_.lanes(node->source(1));
    WHIT_ASSERT(std::has_single_bit(uint64_t(lanes)), "Across of ", lanes, " lanes");
    const uint32_t value = source(0), out = result(node->dtype, lanes);
    const size_t bytes = frame_bytes(node->dtype);
    Instruction& move = emit(moving(bytes), lanes);
    move.a = value;
    move.out = out;
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      operate(node->reduce_op(), node->dtype, out, {out, out + uint32_t(size_t(half) * bytes)}, half);
    finish(node->dtype, 1, out);
  }

  uint32_t slot_of(const Node* storage) const {
    return uint32_t(storage->arg(0)) + (storage->op == Op::Local ? uint32_t(code_.params.size()) : 0);
  }

  void load(const Node* node, bool consecutive) {
    const int64_t lanes = consecutive ? kernel_.lanes(node->source(2)) : kernel_.lanes(node);
    const size_t gate = consecutive ? 3 : 2;
    const uint32_t index = as_index(node->source(1)->dtype, source(1), consecutive ? 1 : lanes);
    const uint32_t open = gate < node->source_count ? source(gate) : Instruction::kNone;
    const uint32_t out = result(node->dtype, lanes);
    Instruction& access = emit(loading(node->dtype, consecutive), lanes);
    access.out = out;
    access.a = index;
    access.b = open;
    access.slot = slot_of(node->source(0));
    finish(node->dtype, lanes, out);
  }

  void store(const Node* node, bool consecutive) {
    const int64_t lanes = consecutive ? kernel_.lanes(node->source(3)) : lanes_of_work(kernel_, node);
    const size_t gate = consecutive ? 4 : 3;
    const uint32_t index = as_index(node->source(1)->dtype, source(1), consecutive ? 1 : lanes);
    const uint32_t open = gate < node->source_count ? source(gate) : Instruction::kNone;
    const uint32_t value = source(2);
    Instruction& access = emit(storing(node->source(2)->dtype, consecutive), lanes);
    access.a = index;
    access.b = open;
    access.c = value;
    access.slot = slot_of(node->source(0));
  }

  const LinearKernel& kernel_;
  Executions executions_;
  Code code_;
  size_t position_ = 0, size_ = 0;
  std::vector<uint32_t> places_;  // of computed values, by position
  std::unordered_map<const Node*, uint32_t> named_;
  std::unordered_set<const Node*> named_with_lanes_;
  std::vector<size_t> open_;  // the Loop instructions that are open
};

}  // namespace

Code translate(const LinearKernel& kernel) { return Translator(kernel).translate(); }

}  // namespace whit::interp
