#include "ir/parse.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "ir/device_id.h"
#include "ir/form.h"
#include "ir/print.h"

namespace whit {

namespace {

// More args than any node of a sensible rank has; keeps the memory that hostile text can ask for linear in its length.
constexpr size_t kArgLimit = 256;
constexpr size_t kNameLimit = 256;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

template <class T>
std::optional<T> read_number(std::string_view token) {
  T value;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return value;
}

std::optional<Bits> read_value(DType type, std::string_view token) {
  if (type == DType::boolean) return token == "true" ? std::optional<Bits>(1) : token == "false" ? std::optional<Bits>(0) : std::nullopt;
  if (type == DType::float64) {
    const auto value = read_number<double>(token);
    return value ? std::optional(bits_of_float(type, *value)) : std::nullopt;
  }
  if (is_float(type)) {
    const auto value = read_number<float>(token);
    return value ? std::optional(bits_of_float(type, *value)) : std::nullopt;
  }
  if (type == DType::uint64) {
    const auto value = read_number<uint64_t>(token);
    return value ? std::optional(Bits(*value)) : std::nullopt;
  }
  const auto value = read_number<int64_t>(token);
  return value && bits_of_integer(type, *value) == *value ? value : std::nullopt;
}

class Parser {
 public:
  Parser(Graph& graph, std::string_view text) : graph_(graph), text_(text) {}

  std::vector<const Node*> parse() {
    const Node* last = nullptr;
    while (skip_lines()) {
      if (peek() == '%') {
        last = line();
        end_of_line();
        continue;
      }
      if (word("a node or `return`") != "return") wrong("a line starts with %name or return");
      std::vector<const Node*> roots;
      do roots.push_back(reference());
      while (accept(','));
      end_of_line();
      if (skip_lines()) wrong("nothing follows `return`");
      return roots;
    }
    return last ? std::vector{last} : std::vector<const Node*>();
  }

 private:
  // ---- Characters and tokens; `start_` is where the latest token starts, and where errors point.

  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    const std::string_view before = text_.substr(0, start_);
    const size_t line = size_t(std::ranges::count(before, '\n')) + 1, newline = before.rfind('\n');
    const size_t column = start_ - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
    fail(ErrorKind::Value, "graph text, line ", line, ", column ", column, ": ", parts...);
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    if (at_ < text_.size() && text_[at_] == '#')
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    start_ = at_;
    return at_ < text_.size() ? text_[at_] : '\n';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) wrong("expected '", c, "'");
  }
  bool skip_lines() {
    while (accept('\n')) {
    }
    return at_ < text_.size();
  }
  void end_of_line() {
    if (peek() != '\n') wrong("expected the end of the line");
  }

  template <class Belongs>
  std::string_view token(const char* expected, Belongs belongs) {
    peek();
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    if (at_ == start_) wrong("expected ", expected);
    return text_.substr(start_, at_ - start_);
  }
  std::string_view word(const char* expected) { return token(expected, is_word); }
  std::string_view number_token(const char* expected) {
    return token(expected, [](char c) { return is_word(c) || c == '-' || c == '+' || c == '.'; });
  }

  int64_t integer() {
    const auto value = read_number<int64_t>(number_token("an integer"));
    if (!value) wrong("expected an integer of 64 bits");
    return *value;
  }

  int hex_digit() {
    const char c = at_ < text_.size() ? text_[at_++] : '"';
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : (wrong("\\x needs two hexadecimal digits"), 0);
  }
  std::string string() {
    expect('"');
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        if (c == 'x') {
          const int high = hex_digit();
          c = char(high * 16 + hex_digit());
        }
      }
      value += c;
    }
    if (at_ >= text_.size() || text_[at_] != '"') wrong("the quotes are not closed");
    ++at_;
    if (value.size() > kNameLimit) wrong("a name of ", value.size(), " characters");
    return value;
  }

  const Node* reference() {
    expect('%');
    const size_t percent = start_;
    const auto found = names_.find(word("the name of a node"));
    start_ = percent;
    if (found == names_.end()) wrong("no line above names this node");
    return found->second;
  }

  // ---- Nodes

  const Node* line() {
    expect('%');
    const std::string_view name = word("the name of the node");
    const size_t name_start = start_;
    expect('=');
    Op op;
    if (!op_of_name(word("an op"), op)) wrong("no op has this name");
    const size_t op_start = start_;
    const DType dtype = optional_dtype();
    sources_.clear();
    if (accept('(')) {
      do sources_.push_back(reference());
      while (accept(','));
      expect(')');
    }
    read_args(op, dtype);
    const Node* node = make(op, dtype, op_start);
    if (accept(':')) check_shape(node);
    start_ = name_start;
    if (!names_.emplace(name, node).second) wrong("a line above has this name");
    return node;
  }

  DType optional_dtype() {
    if (!is_word(peek())) return DType::none;
    const size_t before = at_;
    const DType dtype = dtype_of_name(word("a dtype"));
    if (dtype == DType::none) at_ = before;
    return dtype;
  }

  void read_args(Op op, DType dtype) {
    args_.clear();
    if (op == Op::Const) {
      args_.push_back(value(dtype));
    } else if (accept('[')) {
      do {
        if (args_.size() == kArgLimit) wrong("more than ", kArgLimit, " args");
        args_.push_back(arg(op, dtype));
      } while (accept(','));
      expect(']');
    }
  }

  int64_t value(DType dtype) {
    if (dtype == DType::none) wrong("expected a dtype");
    const auto bits = read_value(dtype, number_token("a value"));
    if (!bits) wrong("expected a value of ", whit::name(dtype));
    return *bits;
  }

  int64_t arg(Op op, DType dtype) {
    Op named;
    AxisKind kind;
    switch (arg_kind(op, args_.size())) {
      case ArgKind::number: return integer();
      case ArgKind::size: return size(op);
      case ArgKind::value: return value(dtype != DType::none || sources_.empty() ? dtype : sources_[0]->dtype);
      case ArgKind::op:
        if (!op_of_name(word("an op"), named)) wrong("no op has this name");
        return int64_t(named);
      case ArgKind::axis_kind:
        if (!axis_kind_of_name(word("a kind of range"), kind)) wrong("no kind of range has this name");
        return int64_t(kind);
      case ArgKind::name: return name_id(string());
      case ArgKind::device: break;
    }
    if (peek() == '"') return device_id(string());
    if (word("a device") != "any") wrong("expected a device in quotes, or any");
    return kNoDevice;
  }

  int64_t size(Op op) {
    if (accept('$')) {
      const int64_t k = integer();
      if (k < 0 || uint64_t(k) >= sources_.size() || !is_symbol_arg(kSymbolArg + k)) wrong("there is no such source");
      return kSymbolArg + k;
    }
    if (peek() != '%') return integer();
    const Node* node = reference();
    for (size_t k = op == Op::Iota ? 0 : 1; k < sources_.size() && is_symbol_arg(kSymbolArg + int64_t(k)); ++k)
      if (sources_[k] == node) return kSymbolArg + int64_t(k);
    wrong("this size is not among the sources");
  }

  const Node* make(Op op, DType dtype, size_t op_start) {
    const Draft draft{.op = op, .dtype = dtype, .sources = sources_, .args = args_, .shape = {}};
    start_ = op_start;
    if (const std::string error = form_error(draft); !error.empty()) wrong(error);
    const Node* node = graph_.make(op, sources_, args_, dtype);
    if (dtype != DType::none && dtype != node->dtype) wrong("the dtype is ", whit::name(node->dtype));
    return node;
  }

  // A shape is compared as text: what stands for a symbolic size need not be readable.
  void check_shape(const Node* node) {
    const std::string shape = to_string(node->shape());
    peek();
    if (!text_.substr(at_).starts_with(shape)) wrong("the shape is ", shape);
    at_ += shape.size();
  }

  Graph& graph_;
  std::string_view text_;
  size_t at_ = 0, start_ = 0;
  std::unordered_map<std::string_view, const Node*> names_;
  std::vector<const Node*> sources_;
  std::vector<int64_t> args_;
};

}  // namespace

std::vector<const Node*> parse(Graph& graph, std::string_view text) { return Parser(graph, text).parse(); }

}  // namespace whit
