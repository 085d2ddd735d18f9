#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <whit/error.h>

#include <filesystem>
#include <thread>

#include "unit/environment.h"

namespace whit {
namespace {

namespace fs = std::filesystem;
using test::Environment;

std::string error_of(const auto& action) {
  try {
    action();
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::File);
    return error.what();
  }
  return "no error";
}

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class FileTest : public testing::Test {
 protected:
  TemporaryDirectory folder_{"test"};
  std::string path_ = join_path(folder_.path(), "file");
};

TEST_F(FileTest, WritesAndReads) {
  write_file(path_, "hello");
  EXPECT_EQ(read_text_file(path_), "hello");
  EXPECT_EQ(read_file(path_), (std::vector<uint8_t>{'h', 'e', 'l', 'l', 'o'}));
  const Bytes parts[] = {bytes_of("one "), {}, bytes_of("two")};
  write_file(path_, parts);
  EXPECT_EQ(read_text_file(path_), "one two");
  EXPECT_EQ(files_in(folder_.path()), 1u) << "no temporary file stays behind";
}

TEST_F(FileTest, KeepsEmptyAndLargeFiles) {
  write_file(path_, "");
  EXPECT_EQ(read_text_file(path_), "");
  std::string large(3'000'001, 'x');
  large.back() = 'y';
  write_file(path_, large);
  EXPECT_EQ(read_text_file(path_), large);
}

TEST_F(FileTest, ReadsWhatStatesNoSize) {
  if (fs::exists("/proc/self/status")) {
    EXPECT_FALSE(read_text_file("/proc/self/status").empty());
  }
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::thread writer([&] { write_file(path_, "through a pipe"); });
  EXPECT_EQ(read_text_file(path_), "through a pipe");
  writer.join();
  EXPECT_TRUE(fs::is_fifo(path_)) << "writing must not replace a pipe by a file";
}

TEST_F(FileTest, ErrorsNamePathAndReason) {
  std::string missing = join_path(folder_.path(), "missing");
  EXPECT_EQ(error_of([&] { read_file(missing); }), "cannot open '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of([&] { MappedFile::open(missing); }), "cannot open '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder_.path()); }), "cannot read '" + folder_.path() + "': Is a directory");
  EXPECT_EQ(error_of([&] { MappedFile::open(folder_.path()); }), "cannot read '" + folder_.path() + "': Is a directory");
  EXPECT_EQ(error_of([&] { write_file(folder_.path(), "x"); }), "cannot write '" + folder_.path() + "': Is a directory");
  EXPECT_EQ(error_of([&] { write_file(missing + "/x", "x"); }), "cannot write '" + missing + "/x': No such file or directory");
  write_file(path_, "a file");
  EXPECT_NE(error_of([&] { make_directories(path_ + "/below"); }).find("cannot make the folder '" + path_), std::string::npos);
  EXPECT_NE(error_of([&] { read_file(std::string("/etc\0/passwd", 12)); }).find("zero byte"), std::string::npos);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(error_of([&] { write_file("/dev/full", "x"); }), "cannot write '/dev/full': No space left on device");
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  write_file(path_, "old");
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(error_of([&] { write_file(path_, "new"); }), "no error");
  EXPECT_EQ(read_text_file(path_), "old");
  fs::permissions(folder_.path(), fs::perms::owner_all);
}

TEST_F(FileTest, WritingKeepsModeAndLinks) {
  write_file(path_, "secret");
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  std::string link = join_path(folder_.path(), "link");
  fs::create_symlink("file", link);
  write_file(link, "changed");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_text_file(path_), "changed");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, ReadersSeeOldOrNew) {
  const std::string old_text(100'000, 'a'), new_text(200'000, 'b');
  write_file(path_, old_text);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) write_file(path_, i % 2 == 0 ? new_text : old_text);
  });
  for (int i = 0; i < 200; ++i) {
    std::string text = read_text_file(path_);
    EXPECT_TRUE(text == old_text || text == new_text);
  }
  writer.join();
}

TEST_F(FileTest, MapsAndMoves) {
  write_file(path_, "mapped");
  MappedFile first = MappedFile::open(path_);
  const uint8_t* address = first.bytes().data();
  MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());  // NOLINT: a moved-from mapping is empty by contract
  EXPECT_EQ(second.bytes().data(), address);
  fs::remove(path_);
  EXPECT_EQ(std::string(second.bytes().begin(), second.bytes().end()), "mapped") << "a mapping outlives the name";
  write_file(path_, "");
  second = MappedFile::open(path_);
  EXPECT_TRUE(second.bytes().empty());
}

TEST(MappedFileTest, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(error_of([] { MappedFile::open("/dev/null"); }), "cannot map '/dev/null': it is no regular file");
}

TEST(TemporaryDirectoryTest, VanishesWithItsContent) {
  std::string path;
  {
    TemporaryDirectory folder("vanish");
    path = folder.path();
    make_directories(join_path(path, "a/b/c"));
    write_file(join_path(path, "a/b/c/file"), "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(CacheDirectoryTest, PrefersTheMoreSpecific) {
  Environment own("WHIT_CACHE", "/own"), shared("XDG_CACHE_HOME", "/shared"), home("HOME", "/home/me");
  EXPECT_EQ(cache_directory(), "/own");
  Environment no_own("WHIT_CACHE", "");
  EXPECT_EQ(cache_directory(), "/shared/whit");
  {
    Environment relative("XDG_CACHE_HOME", "relative");
    EXPECT_EQ(cache_directory(), "/home/me/.cache/whit");
  }
  Environment no_shared("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(cache_directory(), "/home/me/.cache/whit");
  Environment no_home("HOME", nullptr);
  EXPECT_EQ(cache_directory(), "");
}

TEST(JoinPathTest, PutsOneSlash) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("/", "b"), "/b");
}

}  // namespace
}  // namespace whit
