#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "backends/support/host_memory.h"
#include "base/error.h"
#include "runtime/backend.h"

namespace whit {
namespace {

TEST(HostMemory, IsAlignedAndWritable) {
  std::vector<void*> blocks;
  for (size_t bytes = 1; bytes < (size_t(40) << 20); bytes = bytes * 3 + 1) {
    blocks.push_back(host_alloc(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % 64, 0u);
    EXPECT_EQ(host_size(blocks.back()), bytes);
    static_cast<char*>(blocks.back())[0] = 1;
    static_cast<char*>(blocks.back())[bytes - 1] = 2;
  }
  for (void* block : blocks) host_free(block);
  EXPECT_EQ(host_size(blocks[0]), 0u);
}

TEST(HostMemory, GivesTheSameBlockAgain) {
  host_trim();
  void* const first = host_alloc(100000);
  host_free(first);
  EXPECT_EQ(host_alloc(100001), first);  // of the same class
  EXPECT_EQ(host_size(first), 100001u);
  const HostMemoryUse before = host_memory_use();
  for (int round = 0; round < 1000; ++round) {
    void* const block = host_alloc(5000000);
    host_free(block);
  }
  const HostMemoryUse after = host_memory_use();
  EXPECT_EQ(after.live, before.live);
  EXPECT_LT(after.cached, before.cached + 6000000);
  host_free(first);
}

TEST(HostMemory, KeepsNoMoreThanWasEverUsed) {
  host_trim();
  std::vector<void*> blocks;
  for (size_t i = 0; i < 40; ++i) blocks.push_back(host_alloc((i + 1) << 20));
  for (void* block : blocks) host_free(block);
  const HostMemoryUse use = host_memory_use();
  EXPECT_LE(use.live + use.cached, use.peak + (size_t(64) << 20));
  host_trim();
  EXPECT_EQ(host_memory_use().cached, 0u);
}

TEST(HostMemory, RefusesWhatIsTooLarge) {
  for (const size_t bytes : {~size_t(0), size_t(1) << 62, size_t(1) << 50}) {
    try {
      host_alloc(bytes);
      FAIL() << bytes;
    } catch (const UserError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::OutOfMemory);
      EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos);
    }
  }
}

TEST(HostMemory, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (size_t round = 0; round < 500; ++round) {
        const size_t bytes = 64 + (round * 977 + size_t(number) * 131) % 70000;
        auto* block = static_cast<unsigned char*>(host_alloc(bytes));
        std::memset(block, number, bytes);
        EXPECT_EQ(block[bytes / 2], number);
        host_free(block);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

/// Every device that computes: memory goes in and comes out, at any offset.
TEST(DeviceMemory, ComesBackAsItWentIn) {
  for (const Backend* backend : registered_backends()) {
    if (!backend->unavailable().empty() || backend->device == "NULL") continue;
    SCOPED_TRACE(std::string(backend->device) + std::string(backend->compiler));
    const auto device = backend->open(0);
    std::vector<char> in(1000), out(1000);
    for (size_t i = 0; i < in.size(); ++i) in[i] = char(i * 7);
    void* const memory = device->alloc(1013);
    device->copy_in(memory, 13, in.data(), in.size());
    device->copy_in(memory, 0, in.data(), 0);
    device->copy_out(out.data(), memory, 13, out.size());
    EXPECT_EQ(in, out);
    device->copy_out(out.data(), memory, 500, 10);
    EXPECT_EQ(out[0], in[487]);
    device->free(memory, 1013);
    EXPECT_THROW(device->alloc(size_t(1) << 60), UserError);
  }
}

TEST(DeviceMemory, OfNullReadsAsZeros) {
  for (const Backend* backend : registered_backends()) {
    if (backend->device != "NULL") continue;
    const auto device = backend->open(0);
    void* const first = device->alloc(size_t(1) << 40);
    void* const second = device->alloc(1);
    EXPECT_NE(first, nullptr);
    EXPECT_NE(first, second);
    char bytes[4] = {1, 2, 3, 4};
    device->copy_in(first, 0, bytes, 4);
    device->copy_out(bytes, first, 0, 4);
    for (const char byte : bytes) EXPECT_EQ(byte, 0);
    device->free(first, size_t(1) << 40);
    device->free(second, 1);
  }
}

TEST(Registry, NamesEachBackendOnce) {
  std::vector<std::string> names;
  for (const Backend* backend : registered_backends()) {
    names.push_back(std::string(backend->device) + ":" + std::string(backend->compiler));
    EXPECT_FALSE(backend->description.empty());
    EXPECT_EQ(backend->unavailable().find('\n'), std::string::npos);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const char* name : {"CPU:INTERP", "CPU:C", "CPU:LLVM", "CL:", "NULL:"}) EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
}

}  // namespace
}  // namespace whit
