// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/large_memory.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/memory.h"
#include "base/recycled_memory.h"

namespace acuity {
namespace {

// Filters look at many rows at once, each on a page of its own. Large pages need fewer entries in the processor's
// table, and are made in fewer steps.
constexpr size_t kLargePage = size_t{1} << 21;

struct Block {
  size_t size = 0;
  std::vector<std::shared_ptr<const void>> companions;
};

std::mutex mutex;
using Blocks = std::map<const std::byte*, Block>;
// By first address. Never destroyed: memory may be freed while the process ends. Not allocated: that might throw.
Blocks& blocks() {
  alignas(Blocks) static std::byte room[sizeof(Blocks)];
  static auto& known = *new (room) Blocks;
  return known;
}

// Of memory that is less than a large page.
size_t usable_bytes([[maybe_unused]] std::byte* memory) {
#ifdef __GLIBC__
  return std::min(malloc_usable_size(memory), kLargePage - 1);
#else
  return 0;
#endif
}

}  // namespace

std::byte* allocate_large(size_t bytes) noexcept {
  const size_t alignment = bytes >= kLargePage ? kLargePage : kAlignment;
  if (bytes > std::numeric_limits<size_t>::max() - alignment) return nullptr;
  bytes = round_up(bytes, alignment);
  size_t kept_bytes = bytes;
  // What was kept with the size of a large page or more is made of them.
  std::byte* memory = take_recycled(bytes, kept_bytes);
  if (memory == nullptr) memory = static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
  if (memory == nullptr || alignment < kLargePage) return memory;
  bytes = kept_bytes;
#ifdef __linux__
  // A hint: what becomes of it does not matter.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  try {
    const std::lock_guard lock(mutex);
    blocks()[memory].size = bytes;
  } catch (const std::bad_alloc&) {
    std::free(memory);
    return nullptr;
  }
  return memory;
}

void free_large(std::byte* memory) noexcept {
  std::map<const std::byte*, Block>::node_type block;
  if (reinterpret_cast<uintptr_t>(memory) % kLargePage == 0) {
    const std::lock_guard lock(mutex);
    block = blocks().extract(memory);
  }
  if (!block.empty()) block.mapped().companions.clear();
  if (memory != nullptr && keep_recycled(memory, block.empty() ? usable_bytes(memory) : block.mapped().size)) return;
  std::free(memory);
}

std::span<std::byte> large_pages_of(const void* address) noexcept {
  const auto* place = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex);
  auto block = blocks().upper_bound(place);
  if (block == blocks().begin()) return {};
  --block;
  if (static_cast<size_t>(place - block->first) >= block->second.size) return {};
  return {const_cast<std::byte*>(block->first), block->second.size};
}

void keep_with(std::span<std::byte> pages, std::shared_ptr<const void> companion) {
  const std::lock_guard lock(mutex);
  const auto block = blocks().find(pages.data());
  if (block != blocks().end()) block->second.companions.push_back(std::move(companion));
}

}  // namespace acuity
