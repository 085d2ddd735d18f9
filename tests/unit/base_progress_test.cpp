#include "base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <type_traits>

namespace whit {
namespace {

/// All that can be read from a descriptor without waiting.
std::string drain(int descriptor) {
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(descriptor, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(count));
  return text;
}

TEST(ProgressLineTest, ShowsShareRateAndTimeLeft) {
  EXPECT_EQ(progress_line("train", 35, 70, 7.0, "loss 0.31", 0), "train  35/70 50% 5.00/s 7s left  loss 0.31");
  EXPECT_EQ(progress_line("train", 35, 70, 7.0, "", 200), "train  35/70 [============>           ] 50% 5.00/s 7s left");
  EXPECT_EQ(progress_line("train", 70, 70, 90.0, "", 0), "train  70/70 100% 0.78/s in 1m30s");
  EXPECT_EQ(progress_line("", 0, 70, 0.0, "", 0), "0/70 0%");
  EXPECT_EQ(progress_line("bytes", 3'000'000, 0, 2.0, "", 0), "bytes  3000000 1.50M/s in 2s");
  EXPECT_EQ(progress_line("slow", 1, 1000, 60.0, "", 0), "slow  1/1000 0% 0.02/s 16h39m left");
}

TEST(ProgressLineTest, StaysOneLineWithinTheWidth) {
  EXPECT_EQ(progress_line("two\nlines\x1b", 1, 0, 0.0, "a\tb", 0), "two lines   1  a b");
  const std::string line = progress_line("żółć", 1, 70, 1.0, std::string(300, 'x'), 40);
  size_t columns = 0;
  for (char c : line) columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  EXPECT_EQ(columns, 40u);
  EXPECT_EQ(progress_line("żółć", 1, 70, 1.0, "", 2), "żó");
}

TEST(ProgressLineTest, OddCountsAreHarmless) {
  EXPECT_EQ(progress_line("", 80, 70, 1.0, "", 100).substr(0, 40), "80/70 [========================] 100% 80");
  EXPECT_FALSE(progress_line("", -5, 70, 1.0, "", 100).empty());
  EXPECT_FALSE(progress_line("", INT64_MAX, 1, 1e-300, "", 100).empty());
  EXPECT_FALSE(progress_line("", 1, INT64_MAX, 1e300, "", 100).empty());
}

TEST(ProgressTest, InAPipeShortWorkLeavesOnePlainLine) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Progress progress(1000, "work", ends[1]);
    for (int i = 1; i <= 1000; ++i) progress.update(i, "extra");
  }
  const std::string text = drain(ends[0]);
  EXPECT_TRUE(text.starts_with("work  1000/1000 100%")) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos) << "nothing for terminals in a pipe";
  { Progress unused(10, "never updated", ends[1]); }
  EXPECT_EQ(drain(ends[0]), "");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ProgressTest, OnATerminalOneLineIsRedrawn) {
  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (controller < 0 || ::grantpt(controller) != 0 || ::unlockpt(controller) != 0) GTEST_SKIP() << "no pseudo-terminal here";
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "no pseudo-terminal here";
  struct winsize size {};
  size.ws_row = 24;
  size.ws_col = 50;
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  {
    Progress progress(1000, "work", terminal);
    for (int i = 1; i <= 1000; ++i) progress.update(i, std::string(100, 'x'));
  }
  const std::string text = drain(controller);
  ASSERT_TRUE(text.starts_with("\rwork  1/1000 [>")) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "one new line, at the end: " << text;
  const size_t last = text.rfind("\rwork");
  EXPECT_NE(last, 0u);
  EXPECT_EQ(text.find("\x1b[K", last) - last - 1, 49u) << "as wide as the terminal less one";
  ::close(terminal);
  ::close(controller);
}

TEST(ProgressTest, AFailingDisplayIsIgnored) {
  static_assert(noexcept(std::declval<Progress&>().update(1)));
  static_assert(std::is_nothrow_destructible_v<Progress>);
  Progress closed(10, "closed", -1);
  closed.update(5);
}

}  // namespace
}  // namespace whit
