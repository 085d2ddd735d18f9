// Tensors as text, in the manner of NumPy: long axes are shortened, columns aligned, floats shown with the digits that tell them apart.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ostream>

#include "ir/number.h"
#include "tensor/build.h"

namespace whit {

namespace {

constexpr int64_t kThreshold = 1000, kEdge = 3;  // more elements than the first are shortened to so many at each end of an axis
constexpr int kPrecision = 8;                    // digits behind the point at most
constexpr size_t kLineWidth = 75;

// A finite number as the fewest decimal digits that read back as the same value of its type, d.ddd × 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
  bool negative = false;
};

Decimal shortest(DType type, double value) {
  char buffer[40];
  const Bits bits = bits_of_float(type, value);
  for (int precision = 0; precision < 18; ++precision) {
    std::snprintf(buffer, sizeof buffer, "%.*e", precision, std::abs(value));
    if (bits_of_float(type, std::strtod(buffer, nullptr)) == bits_of_float(type, std::abs(value)) || precision == 17) break;
  }
  Decimal result;
  result.negative = std::signbit(float_of_bits(type, bits));
  const char* c = buffer;
  for (; *c != 'e'; ++c)
    if (*c != '.') result.digits += *c;
  result.exponent = std::atoi(c + 1);
  return result;
}

// How all the floats of a tensor are written.
struct FloatFormat {
  bool scientific = false;
  int fraction = 0;  // digits behind the point, at most

  static FloatFormat of(DType type, const std::vector<double>& values) {
    FloatFormat format;
    double least = INFINITY, greatest = 0;
    for (const double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      least = std::min(least, std::abs(value));
      greatest = std::max(greatest, std::abs(value));
    }
    format.scientific = greatest > 0 && (greatest >= 1e8 || least < 1e-4 || greatest / least > 1000);
    for (const double value : values)
      if (std::isfinite(value)) format.fraction = std::max(format.fraction, format.digits_behind(type, value));
    return format;
  }

  int digits_behind(DType type, double value) const {
    if (scientific) return std::min(int(shortest(type, value).digits.size()) - 1, kPrecision);
    const std::string whole = fixed(type, value);
    return int(whole.size() - whole.find('.') - 1);
  }

  // "1.25", "1."; without zeros at the end.
  static std::string fixed(DType type, double value) {
    const Decimal decimal = shortest(type, value);
    char buffer[360];
    std::snprintf(buffer, sizeof buffer, "%.*f", std::clamp(int(decimal.digits.size()) - 1 - decimal.exponent, 1, kPrecision), value);
    std::string out = buffer;
    while (out.back() == '0') out.pop_back();
    return out;
  }

  std::string operator()(DType type, double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (!scientific) {
      std::string out = fixed(type, value);
      out.append(size_t(fraction) - (out.size() - out.find('.') - 1), ' ');
      return out;
    }
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "%#.*e", fraction, value);
    return buffer;
  }
};

// The text of the values of a tensor.
class Writer {
 public:
  Writer(const Sizes& shape, DType type, std::vector<std::byte> bytes, size_t indent)
      : shape_(shape), type_(type), bytes_(std::move(bytes)), indent_(indent), shortened_(product(shape) > kThreshold) {
    if (is_float(type)) {
      std::vector<double> values;
      for_shown(0, 0, [&](int64_t i) { values.push_back(float_of_bits(type_, bits(i))); });
      format_ = FloatFormat::of(type, values);
    }
    for_shown(0, 0, [&](int64_t i) { width_ = std::max(width_, element(i).size()); });
  }

  std::string text() {
    if (shape_.empty()) return trimmed(element(0));
    if (product(shape_) == 0) return "[]";
    write(0, 0);
    return out_;
  }

 private:
  Bits bits(int64_t i) const { return load_element(type_, &bytes_[size_t(i) * item_size(type_)]); }

  std::string element(int64_t i) const {
    if (type_ == DType::boolean) return bits(i) ? "True" : "False";
    if (is_float(type_)) return format_(type_, float_of_bits(type_, bits(i)));
    return type_ == DType::uint64 ? std::to_string(uint64_t(bits(i))) : std::to_string(bits(i));
  }

  static std::string trimmed(std::string text) {
    while (text.back() == ' ') text.pop_back();
    return text;
  }

  bool cut(size_t axis) const { return shortened_ && shape_[axis] > 2 * kEdge; }

  int64_t stride(size_t axis) const { return product(std::span(shape_).subspan(axis + 1)); }

  // Calls `visit` with the index of each element that is shown.
  template <class Visit>
  void for_shown(size_t axis, int64_t base, Visit&& visit) const {
    if (axis == shape_.size()) return visit(base);
    for (int64_t i = 0; i < shape_[axis]; ++i) {
      if (cut(axis) && i == kEdge) i = shape_[axis] - kEdge;
      for_shown(axis + 1, base + i * stride(axis), visit);
    }
  }

  void write(size_t axis, int64_t base) {
    out_ += '[';
    const bool innermost = axis + 1 == shape_.size();
    for (int64_t i = 0; i < shape_[axis]; ++i) {
      if (i > 0) separate(axis);
      if (cut(axis) && i == kEdge) {
        out_ += "...";
        separate(axis);
        i = shape_[axis] - kEdge;
      }
      if (innermost)
        append(element(base + i * stride(axis)));
      else
        write(axis + 1, base + i * stride(axis));
    }
    out_ += ']';
  }

  void separate(size_t axis) {
    out_ += ',';
    if (axis + 1 == shape_.size()) {
      out_ += ' ';
      return;
    }
    out_.append(shape_.size() - axis - 1, '\n');
    out_.append(indent_ + axis + 1, ' ');
  }

  // One element, on a new line where the line is full.
  void append(const std::string& text) {
    const size_t line_start = out_.rfind('\n') == std::string::npos ? 0 : out_.rfind('\n') + 1;
    const size_t column = out_.size() - line_start + (line_start == 0 ? indent_ : 0);
    if (column + width_ + 1 > kLineWidth && out_.back() == ' ') {
      out_.back() = '\n';
      out_.append(indent_ + shape_.size(), ' ');
    }
    out_.append(width_ - text.size(), ' ');
    out_ += text;
  }

  Sizes shape_;
  DType type_;
  std::vector<std::byte> bytes_;
  size_t indent_;
  bool shortened_;
  FloatFormat format_;
  size_t width_ = 0;
  std::string out_;
};

// The operation as a user knows it: what a cast or a change of shape stands on says more.
std::string_view operation_of(const Node* node) {
  while (node->op == Op::Reshape || node->op == Op::Expand) node = node->source(0);
  return name(node->op);
}

}  // namespace

std::string Tensor::str() const {
  if (!defined()) return "Tensor(undefined)";
  const NodeRef node = handle_->node();
  const std::string facts = concat("shape=", text(node->shape()), ", dtype=", name(dtype()), ", device=", device());
  if (!whit::is_realized(node.get())) return concat("Tensor(", facts, ", op=", operation_of(node.get()), ", not computed)");
  std::vector<std::byte> bytes(size_t(numel()) * item_size(dtype()));
  copy_to(bytes.data(), bytes.size());
  const std::string_view opening = "Tensor(";
  const std::string values = Writer(shape(), dtype(), std::move(bytes), opening.size()).text();
  const std::string rest = concat(facts, ", grad=", has_grad() ? "True" : "False", ")");
  const size_t last_line = values.size() - (values.rfind('\n') == std::string::npos ? 0 : values.rfind('\n') + 1);
  const bool fits = opening.size() + last_line + rest.size() + 2 <= kLineWidth + 25;
  return concat(opening, values, fits ? ", " : ",\n" + std::string(opening.size(), ' '), rest);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.str(); }

}  // namespace whit
