// Einstein summation: every operand is moved into one order of axes, the product is summed over those that are not in the result. Fusion
// makes a contraction of it.
#include <algorithm>
#include <cctype>
#include <map>

#include <whit/composed.h>

#include "tensor/build.h"

namespace whit {

namespace {

// The axes of an operand or of the result: letters, and where the axes of an ellipsis stand.
struct Term {
  std::string letters;  // '.' for an ellipsis
  bool has_ellipsis() const { return letters.find('.') != std::string::npos; }
};

Term parse_term(const std::string& text, const std::string& formula) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.compare(i, 3, "...") == 0) {
      if (term.has_ellipsis()) refuse(ErrorKind::Value, "einsum", "\"", formula, "\" has two ellipses in one term");
      term.letters += '.';
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      term.letters += text[i];
    } else {
      refuse(ErrorKind::Value, "einsum", "\"", formula, "\": '", text[i], "' is no letter");
    }
  }
  return term;
}

struct Formula {
  std::vector<Term> inputs;
  Term output;
};

Formula parse(const std::string& text) {
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Formula formula;
  for (size_t start = 0; start <= left.size();) {
    const size_t comma = std::min(left.find(',', start), left.size());
    formula.inputs.push_back(parse_term(left.substr(start, comma - start), text));
    start = comma + 1;
  }
  if (arrow != std::string::npos) {
    formula.output = parse_term(text.substr(arrow + 2), text);
    return formula;
  }
  std::map<char, int> times;
  bool ellipsis = false;
  for (const Term& term : formula.inputs)
    for (const char letter : term.letters) letter == '.' ? (ellipsis = true) : (++times[letter] > 0);
  if (ellipsis) formula.output.letters += '.';
  for (const auto& [letter, count] : times)
    if (count == 1) formula.output.letters += letter;
  return formula;
}

class Summation {
 public:
  Summation(const std::string& text, const std::vector<Tensor>& operands) : text_(text), formula_(parse(text)) {
    if (operands.size() != formula_.inputs.size())
      refuse(ErrorKind::Value, "einsum", "\"", text, "\" takes ", formula_.inputs.size(), " operands, not ", operands.size());
    for (size_t i = 0; i < operands.size(); ++i) add(formula_.inputs[i], operands[i]);
    for (size_t i = 0; i < formula_.output.letters.size(); ++i) {
      const char letter = formula_.output.letters[i];
      if (letter != '.' && !sizes_.contains(letter))
        refuse(ErrorKind::Value, "einsum", "\"", text, "\": no operand has the axis '", letter, "'");
      if (formula_.output.letters.find(letter, i + 1) != std::string::npos)
        refuse(ErrorKind::Value, "einsum", "\"", text, "\": the result has '", letter, "' twice");
    }
  }

  Tensor run() {
    // The result's axes in their order, then those that are summed over.
    std::string order = formula_.output.letters;
    if (order.find('.') == std::string::npos) order.insert(0, 1, '.');
    const bool summed_ellipsis = !formula_.output.has_ellipsis();
    for (const auto& [letter, size] : sizes_)
      if (order.find(letter) == std::string::npos) order += letter;
    Tensor product;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Tensor moved = arranged(operands_[i].first, operands_[i].second, order);
      product = product.defined() ? product * moved : moved;
    }
    std::vector<int64_t> summed;
    int64_t axis = 0;
    for (const char letter : order) {
      const int64_t count = letter == '.' ? ellipsis_ : 1;
      const bool goes = letter == '.' ? summed_ellipsis : formula_.output.letters.find(letter) == std::string::npos;
      for (int64_t i = 0; i < count; ++i, ++axis)
        if (goes) summed.push_back(axis);
    }
    return summed.empty() ? product : product.sum(summed, false, product.dtype());
  }

 private:
  // Takes the diagonal of letters that an operand has twice, and notes the sizes.
  void add(const Term& term, Tensor operand) {
    std::string letters = term.letters;
    const int64_t named = int64_t(letters.size()) - (term.has_ellipsis() ? 1 : 0), rank = operand.ndim();
    if (named > rank || (named != rank && !term.has_ellipsis()))
      refuse(ErrorKind::Shape, "einsum", "\"", text_, "\": \"", shown(letters), "\" doesn't fit an operand of shape ",
             text(operand.shape()));
    const int64_t rest = rank - named;
    for (size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == '.') continue;
      for (size_t twin = letters.find(letters[i], i + 1); twin != std::string::npos; twin = letters.find(letters[i], i + 1)) {
        const int64_t a = axis_at(letters, i, rest), b = axis_at(letters, twin, rest);
        if (operand.shape(a) != operand.shape(b))
          refuse(ErrorKind::Shape, "einsum", "\"", text_, "\": the axes '", letters[i], "' of ", text(operand.shape()), " differ");
        operand = diagonal(operand, 0, a, b);
        const char letter = letters[i];
        letters.erase(twin, 1);
        letters.erase(i, 1);
        letters += letter;  // the diagonal is the last axis
        i = size_t(-1);     // letters have moved: look at all again
        break;
      }
    }
    for (size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == '.') continue;
      const int64_t size = operand.shape(axis_at(letters, i, rest));
      int64_t& known = sizes_.try_emplace(letters[i], size).first->second;
      if (known == 1) known = size;
      if (size != known && size != 1)
        refuse(ErrorKind::Shape, "einsum", "\"", text_, "\": the axis '", letters[i], "' has the sizes ", known, " and ", size);
    }
    ellipsis_ = std::max(ellipsis_, rest);
    operands_.emplace_back(letters, operand);
  }

  static int64_t axis_at(const std::string& letters, size_t i, int64_t rest) {
    const size_t dots = letters.find('.');
    return int64_t(i) + (dots != std::string::npos && dots < i ? rest - 1 : 0);
  }
  static std::string shown(std::string letters) {
    if (const size_t dots = letters.find('.'); dots != std::string::npos) letters.replace(dots, 1, "...");
    return letters;
  }

  // The operand with its axes in this order, and axes of size 1 for those that it lacks.
  Tensor arranged(const std::string& letters, const Tensor& operand, const std::string& order) const {
    const size_t dots = letters.find('.');
    const int64_t rest = operand.ndim() - int64_t(letters.size()) + (dots != std::string::npos ? 1 : 0);
    std::vector<int64_t> axes;
    Sizes sizes;
    for (const char letter : order) {
      const size_t found = letters.find(letter);
      if (letter == '.') {
        sizes.insert(sizes.end(), size_t(ellipsis_ - (dots != std::string::npos ? rest : 0)), 1);
        for (int64_t i = 0; dots != std::string::npos && i < rest; ++i) {
          axes.push_back(int64_t(dots) + i);
          sizes.push_back(operand.shape(axes.back()));
        }
      } else if (found == std::string::npos) {
        sizes.push_back(1);
      } else {
        axes.push_back(axis_at(letters, found, rest));
        sizes.push_back(operand.shape(axes.back()));
      }
    }
    return operand.permute(axes).reshape(sizes);
  }

  const std::string text_;
  const Formula formula_;
  std::map<char, int64_t> sizes_;
  std::vector<std::pair<std::string, Tensor>> operands_;
  int64_t ellipsis_ = 0;  // the most axes that an ellipsis stands for
};

}  // namespace

Tensor einsum(const std::string& formula, const std::vector<Tensor>& operands, Site at) {
  const Call call(at, __func__);
  if (operands.empty()) refuse(ErrorKind::Value, "einsum", "needs an operand");
  return Summation(formula, operands).run();
}

}  // namespace whit
