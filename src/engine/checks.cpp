#include "engine/checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/settings.h"
#include "ir/print.h"

namespace whit {

namespace {

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  return text.substr(size_t(std::ranges::find_if_not(text, blank) - text.begin()));
}

// Formulas of fused kernels run over pages.
std::string shortened(std::string text) { return text.size() <= 300 ? text : text.substr(0, 300) + " …"; }

// A store whose index runs over fewer places than its buffer has leaves the rest as it was.
bool is_partial(const Node* store) {
  if (store->sources().size() > 3) return true;
  int64_t places = 1;
  for (const Node* node : topological_order(Sources(&store, 1)))
    if (node->op == Op::Range && (node->open & store->source(1)->open)) places *= node->source(0)->maximum;
  return places != store->source(0)->arg(1);
}

double element(DType type, const std::vector<char>& bytes, int64_t i) {
  return float_of_bits(type, load_element(type, bytes.data() + size_t(i) * item_size(type)));
}

bool holds_infinity(DType type, const std::vector<char>& bytes) {
  for (int64_t i = 0; i < int64_t(bytes.size() / item_size(type)); ++i)
    if (!std::isfinite(element(type, bytes, i))) return true;
  return false;
}

bool names_infinity(const Node* root) {
  for (const Node* node : topological_order(Sources(&root, 1)))
    if (node->op == Op::Const && is_float(node->dtype) && !std::isfinite(node->number())) return true;
  return false;
}

}  // namespace

Checks checks_wanted() {
  Checks checks;
  std::string unknown, rest = text_setting("CHECK");
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string word = trimmed(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    if (word == "bounds")
      checks.bounds = true;
    else if (word == "kernels")
      checks.kernels = true;
    else if (word == "nan")
      checks.nan = true;
    else if (!word.empty())
      unknown = word;
  }
  // A CHECK with none of these words is another program's.
  const std::string source = setting_source("CHECK");
  if (!unknown.empty() && (source != "CHECK" || checks.bounds || checks.kernels || checks.nan))
    fail(ErrorKind::Value, source, ": there is no check \"", unknown, "\"; there are bounds, kernels and nan, separated by commas");
  return checks;
}

void check_level(Level level, Sources roots, const std::string& what) {
  const std::string error = verify(level, roots);
  if (!error.empty()) throw InternalError(concat("CHECK=kernels: ", what, ": ", error));
}

WatchedLaunch::WatchedLaunch(const Checks& checks, const std::string& kernel, const Node* sink, DeviceId device, const BoundsGuard& guard)
    : checks_(checks), kernel_(kernel), sink_(sink), device_(device), guard_(guard) {}

void WatchedLaunch::start(std::vector<void*>& memory, std::vector<size_t>& offsets) {
  if (!guard_.accesses.empty()) {
    const std::vector<char> zeros(size_t(guard_.elements) * item_size(guard_.type));
    report_ = StorageRef(new Storage(device_, int64_t(zeros.size())));
    device(device_).copy_in(report_->memory(), 0, zeros.data(), zeros.size());
    memory.push_back(report_->memory());
    offsets.push_back(0);
  }
  memory_ = memory;
  offsets_ = offsets;
  if (!checks_.nan) return;
  for (const Node* store : sink_->sources())
    if (is_float(store->source(0)->dtype) && is_partial(store)) before_.emplace_back(store, contents(store->source(0)));
}

void WatchedLaunch::finish() {
  device(device_).synchronize();
  if (report_) check_report();
  if (!checks_.nan) return;
  for (const Node* store : sink_->sources())
    if (is_float(store->source(0)->dtype)) check_output(store);
}

std::vector<char> WatchedLaunch::contents(const Node* param) const {
  std::vector<char> bytes(size_t(param->arg(1)) * item_size(param->dtype));
  const size_t slot = size_t(param->arg(0));
  device(device_).synchronize();
  device(device_).copy_out(bytes.data(), memory_[slot], offsets_[slot], bytes.size());
  return bytes;
}

void WatchedLaunch::check_report() const {
  const size_t size = item_size(guard_.type);
  std::vector<char> bytes(size_t(guard_.elements) * size);
  device(device_).copy_out(bytes.data(), report_->memory(), 0, bytes.size());
  std::vector<int64_t> words;
  for (int64_t i = 0; i < guard_.elements; ++i) words.push_back(load_element(guard_.type, bytes.data() + size_t(i) * size));
  const std::string error = describe_report(kernel_, guard_, words);
  if (!error.empty()) throw InternalError(concat("CHECK=bounds: ", error));
}

// What is not finite on the way in may be so on the way out, and so may what the program itself names as infinite; a NaN is told of
// wherever it is first seen.
void WatchedLaunch::check_output(const Node* store) const {
  const Node* param = store->source(0);
  const std::vector<char> bytes = contents(param);
  const auto kept = std::ranges::find(before_, store, &std::pair<const Node*, std::vector<char>>::first);
  const size_t size = item_size(param->dtype);
  for (int64_t i = 0; i < param->arg(1); ++i) {
    const double value = element(param->dtype, bytes, i);
    if (std::isfinite(value)) continue;
    if (kept != before_.end() && std::memcmp(&bytes[size_t(i) * size], &kept->second[size_t(i) * size], size) == 0) continue;
    std::string cause;
    for (const Node* node : topological_order(Sources(&store, 1)))
      if (node->op == Op::Load && node->source(0) != param && is_float(node->dtype) &&
          holds_infinity(node->dtype, contents(node->source(0))))
        cause = concat("buffer ", node->source(0)->arg(0), ", which it reads, holds one already");
    if (!std::isnan(value) && (!cause.empty() || names_infinity(store))) return;
    if (cause.empty()) cause = "all that it reads is finite";
    fail(ErrorKind::Value, "CHECK=nan: kernel ", kernel_, " makes ", std::isnan(value) ? "a NaN" : "an infinity", ": element ", i,
         " of buffer ", param->arg(0), " (", name(param->dtype), ", ", param->arg(1),
         " elements) = ", shortened(print_expression(store->source(2))), "; ", cause);
  }
}

}  // namespace whit
