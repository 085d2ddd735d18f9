// Linear code as text, for people: a line per instruction, values named by the position in the code where they are computed.
#include "base/error.h"
#include "codegen/linear.h"
#include "ir/print.h"

namespace whit {

namespace {

constexpr OpSet kNamed = OpSet::of(Op::Const, Op::Param, Op::Local, Op::Variable, Op::Range, Op::Register);

class Writer {
 public:
  explicit Writer(const LinearKernel& kernel) : kernel_(kernel) {}

  std::string write() {
    header();
    for (size_t position = 0; position < kernel_.code.size(); ++position) instruction(position);
    return std::move(out_);
  }

 private:
  void header() {
    out_ += concat("kernel ", kernel_.name, " (");
    for (size_t slot = 0; slot < kernel_.params.size(); ++slot) {
      const KernelParam& param = kernel_.params[slot];
      out_ += concat(slot ? ", " : "", "param", slot, ": ", name(param.type), param.read ? " read" : "", param.written ? " written" : "");
    }
    for (size_t i = 0; i < kernel_.variables.size(); ++i)
      out_ +=
          concat(i || !kernel_.params.empty() ? ", " : "", print_expression(kernel_.variables[i]), ": ", name(kernel_.variables[i]->dtype));
    out_ += concat(") index ", name(kernel_.index_type));
    if (kernel_.parallel)
      out_ += concat(", parallel ", print_expression(kernel_.parallel), " < ", print_expression(kernel_.parallel->source(0)));
    if (kernel_.group_size) out_ += concat(", groups of ", kernel_.group_size);
    for (const Node* array : kernel_.locals) out_ += concat(", ", print_expression(array), ": ", name(array->dtype), " x", array->arg(1));
    for (const Node* range : kernel_.vector_ranges)
      out_ += concat(", vector ", print_expression(range), " x", print_expression(range->source(0)));
    out_ += '\n';
  }

  void instruction(size_t position) {
    const Node* node = kernel_.code[position];
    if (node->op == Op::EndLoop) close();
    out_.append(2 * opened_.size() + 2, ' ');
    const SourceName source = [this](std::string& out, const Node* read) { append_source(out, read); };
    if (node->op == Op::Loop || node->op == Op::EndLoop) {
      const Node* range = node->source(0);
      out_ += concat(name(node->op), ' ', print_expression(range));
      if (node->op == Op::Loop) {
        out_ += " < ";
        append_source(out_, range->source(0));
        out_ += concat(' ', name(range->axis_kind()));
        opened_.push_back(undo_.size());
      }
    } else {
      if (node->dtype != DType::none) out_ += concat('%', position, " = ");
      append_node(out_, node, source);
      if (const Node* range = kernel_.vector_range(node)) out_ += concat(" x", print_expression(range->source(0)));
      set(node, int64_t(position));
    }
    out_ += '\n';
  }

  void append_source(std::string& out, const Node* node) const {
    if (kNamed.contains(node->op)) {
      out += print_expression(node);
      return;
    }
    const int64_t* position = latest_.find(node);
    out += position && *position >= 0 ? concat('%', *position) : concat("not computed: ", print_expression(node));
  }

  // A value computed in a loop is gone after it, and one computed before is what it was.
  void set(const Node* node, int64_t position) {
    const int64_t* before = latest_.find(node);
    undo_.emplace_back(node, before ? *before : -1);
    latest_[node] = position;
  }
  void close() {
    if (opened_.empty()) return;
    for (; undo_.size() > opened_.back(); undo_.pop_back()) latest_[undo_.back().first] = undo_.back().second;
    opened_.pop_back();
  }

  const LinearKernel& kernel_;
  std::string out_;
  NodeMap<int64_t> latest_;
  std::vector<std::pair<const Node*, int64_t>> undo_;
  std::vector<size_t> opened_;
};

}  // namespace

std::string to_string(const LinearKernel& kernel) { return Writer(kernel).write(); }

}  // namespace whit
