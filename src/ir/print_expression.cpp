// Nodes on one line, as a reader of C expects them, and the values in them.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/print.h"

namespace whit {

namespace {

constexpr int kDepthLimit = 48;
constexpr std::string_view kCut = "...";

constexpr std::string_view kAxisKinds[] = {"loop", "parallel", "local", "reduce", "vector", "unroll", "sequence"};

template <class T>
std::string shortest(T value) {
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

template <class T>
std::string shortest_float(T value) {
  if (value != value) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = shortest(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Writes expressions until the text has grown beyond its limit. Depth is limited too, so that the recursion is.
class Writer {
 public:
  explicit Writer(size_t limit) : limit_(limit) {}

  std::string finish(const Node* root) {
    write(root, 0);
    // The outermost parentheses of an operator say nothing.
    if (text_.size() > 2 && has(root->op, alu) && text_.front() == '(' && text_.back() == ')' && !full())
      text_ = text_.substr(1, text_.size() - 2);
    if (!full()) return std::move(text_);
    return text_.substr(0, limit_) + std::string(kCut);
  }

 private:
  bool full() const { return text_.size() > limit_; }

  void write(const Node* node, int depth) {
    if (full()) return;
    if (depth > kDepthLimit)
      text_ += kCut;
    else if (is_subtraction(node))
      write_subtraction(node, depth);
    else if (has(node->op, alu) && !info(node->op).spelling.empty())
      write_spelling(node, depth);
    else
      write_other(node, depth);
  }

  static bool is_subtraction(const Node* node) {
    if (node->op != Op::Add) return false;
    const Node* second = node->source(1);
    return second->op == Op::Neg || (second->is_constant() && is_signed(second->dtype) && is_integer(second->dtype) && second->arg(0) < 0);
  }

  void write_subtraction(const Node* node, int depth) {
    const Node* second = node->source(1);
    text_ += '(';
    write(node->source(0), depth + 1);
    text_ += " - ";
    if (second->op == Op::Neg)
      write(second->source(0), depth + 1);
    else
      text_ += shortest(uint64_t(0) - uint64_t(second->arg(0)));
    text_ += ')';
  }

  void write_spelling(const Node* node, int depth) {
    const std::string_view spelling = info(node->op).spelling;
    for (size_t i = 0; i < spelling.size(); ++i)
      if (spelling[i] == '$')
        write(node->source(size_t(spelling[++i] - '0')), depth + 1);
      else
        text_ += spelling[i];
  }

  void write_other(const Node* node, int depth) {
    switch (node->op) {
      case Op::Const: text_ += print_value(node->dtype, node->arg(0)); return;
      case Op::Variable: write_name(name_of(node->arg(0))); return;
      case Op::Param: text_ += "param" + std::to_string(node->arg(0)); return;
      case Op::Buffer: text_ += "buffer" + std::to_string(node->arg(0)); return;
      case Op::Local: text_ += "local" + std::to_string(node->arg(0)); return;
      case Op::Range: text_ += "r" + std::to_string(node->arg(0)); return;
      case Op::Register: text_ += "register" + std::to_string(node->arg(0)); return;
      case Op::Cast: text_ += whit::name(node->dtype); break;
      default:
        text_ += whit::name(node->op);
        if (has(node->op, reduces)) (text_ += '.') += whit::name(node->reduce_op());
    }
    text_ += '(';
    for (size_t i = 0; i < node->sources().size() && !full(); ++i) {
      if (i) text_ += ", ";
      write(node->source(i), depth + 1);
    }
    text_ += ')';
  }

  // A name that could be taken for something else stands in quotes.
  void write_name(const std::string& name) {
    const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
    text_ += plain ? name : quoted(name);
  }

  size_t limit_;
  std::string text_;
};

}  // namespace

std::string print_value(DType type, Bits bits) {
  if (type == DType::boolean) return bits ? "true" : "false";
  if (type == DType::float64) return shortest_float(std::bit_cast<double>(bits));
  if (is_float(type)) return shortest_float(std::bit_cast<float>(uint32_t(bits)));
  return type == DType::uint64 ? shortest(uint64_t(bits)) : shortest(bits);
}

std::string print_expression(const Node* node, size_t limit) { return node ? Writer(limit).finish(node) : "nothing"; }

std::string to_string(ShapeView shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ", ";
    text += shape[i].symbol ? print_expression(shape[i].symbol, 64) : std::to_string(shape[i].size);
  }
  if (shape.size() == 1) text += ",";
  return text + ")";
}

std::string_view name(AxisKind kind) { return kAxisKinds[size_t(kind)]; }

std::string quoted(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (c >= ' ' && c <= '~')
      result += c;
    else
      ((result += "\\x") += digits[uint8_t(c) >> 4]) += digits[uint8_t(c) & 15];
  return result + '"';
}

bool axis_kind_of_name(std::string_view text, AxisKind& kind) {
  for (size_t i = 0; i < std::size(kAxisKinds); ++i)
    if (kAxisKinds[i] == text) {
      kind = AxisKind(i);
      return true;
    }
  return false;
}

}  // namespace whit
