#include "base/dynamic_library.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"

namespace whit {
namespace {

std::string failure(const std::vector<std::string>& names) {
  try {
    DynamicLibrary library{std::span(names)};
  } catch (const BackendError& error) {
    return error.what();
  }
  return "it loaded";
}

TEST(DynamicLibrary, OpensTheFirstThatLoads) {
  const std::vector<std::string> names = {"libnonexistent.so.1", "libm.so.6", "libc.so.6"};
  DynamicLibrary library{std::span(names)};
  EXPECT_EQ(library.name(), "libm.so.6");
  double (*cosine)(double);
  library.load("cos", cosine);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(library.find("no_such_symbol"), nullptr);
  EXPECT_THROW(library.symbol("no_such_symbol"), BackendError);
}

TEST(DynamicLibrary, SaysWhatIsMissingAndWhatDoesNotLoad) {
  EXPECT_EQ(failure({"libnone.so", "libnone.so.1"}), "cannot load a shared library: not found: libnone.so, libnone.so.1");
  EXPECT_NE(failure({"libnone.so", "/dev/null"}).find("libnone.so; /dev/null: "), std::string::npos);
  EXPECT_EQ(failure({"/dev/null"}).find("cannot load a shared library: /dev/null: "), 0u);
  EXPECT_NE(failure({}), "it loaded");
}

TEST(DynamicLibrary, MovesItsHandle) {
  DynamicLibrary first("libm.so.6"), second("libc.so.6");
  first = std::move(second);
  EXPECT_EQ(first.name(), "libc.so.6");
  DynamicLibrary third(std::move(first));
  EXPECT_NE(third.find("memcpy"), nullptr);
  EXPECT_EQ(first.find("memcpy"), nullptr);  // NOLINT(bugprone-use-after-move): an empty handle finds nothing
}

TEST(FunctionRef, CallsWhatItViews) {
  int total = 0;
  auto add = [&](int amount) { return total += amount; };
  FunctionRef<int(int)> view = add;
  EXPECT_EQ(view(3), 3);
  const auto twice = [](FunctionRef<int(int)> function) { return function(2) + function(2); };
  EXPECT_EQ(twice(view), 5 + 7);
  EXPECT_EQ(twice([](int x) { return x * x; }), 8);
  const auto measure = [&](const std::string& text) { total = static_cast<int>(text.size()); };
  const FunctionRef<void(std::string &&)> takes = measure;
  takes("four");
  EXPECT_EQ(total, 4);
}

}  // namespace
}  // namespace whit
