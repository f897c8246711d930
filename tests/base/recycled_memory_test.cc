// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/recycled_memory.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/large_memory.h"

namespace acuity {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

TEST(RecycledMemory, IsUsedAgainOnlyWhileItIsWanted) {
  size_t size = 0;
  EXPECT_EQ(take_recycled(kMebibyte, size), nullptr);
  {
    const RecycledMemory recycled(16 * kMebibyte);
    for (const size_t bytes : {kMebibyte, 5 * kMebibyte}) {
      std::byte* first = allocate_large(bytes);
      ASSERT_NE(first, nullptr);
      free_large(first);
      std::byte* again = allocate_large(bytes);
      std::memset(again, 1, bytes);
      // Under AddressSanitizer nothing is kept.
      const bool is_large = bytes > 2 * kMebibyte;
      EXPECT_EQ(large_pages_of(again + 5).data(), is_large ? again : nullptr);
      free_large(again);
    }
    EXPECT_EQ(take_recycled(3 * kMebibyte, size), nullptr) << "of another size";
  }
  EXPECT_EQ(take_recycled(kMebibyte, size), nullptr) << "freed with the last";
}

TEST(RecycledMemory, KeepsTheLatestUpToItsSize) {
  const RecycledMemory recycled(4 * kMebibyte);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(allocate_large(kMebibyte));
  for (std::byte* block : blocks) free_large(block);
  std::byte* huge = allocate_large(64 * kMebibyte);
  free_large(huge);
  int kept = 0;
  size_t size = 0;
  std::vector<std::byte*> taken;
  while (std::byte* memory = take_recycled(kMebibyte, size)) {
    EXPECT_GE(size, kMebibyte);
    taken.push_back(memory);
    ++kept;
  }
  EXPECT_LE(kept, 4);
  for (std::byte* memory : taken) std::free(memory);
}

TEST(RecycledMemory, NoTwoHaveTheSame) {
  const RecycledMemory recycled(16 * kMebibyte);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const size_t bytes = kMebibyte * (1 + static_cast<size_t>(i % 3));
        std::byte* memory = allocate_large(bytes);
        memory[0] = memory[bytes - 1] = static_cast<std::byte>(t);
        std::this_thread::yield();
        EXPECT_EQ(memory[0], static_cast<std::byte>(t));
        EXPECT_EQ(memory[bytes - 1], static_cast<std::byte>(t));
        free_large(memory);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace acuity
