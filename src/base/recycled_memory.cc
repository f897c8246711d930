// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/recycled_memory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace acuity {
namespace {

constexpr size_t kSmallest = size_t{64} << 10;  // smaller ones are not given back to the system
constexpr size_t kMostBlocks = 128;

struct Kept {
  std::byte* memory = nullptr;
  size_t size = 0;
};

struct Recycler {
  std::mutex mutex;
  size_t most_bytes = 0;
  size_t bytes = 0;
  size_t peak_bytes = 0;
  std::vector<Kept> blocks;  // the latest at the back

  /// Takes out the oldest until there are at most so many bytes and one place.
  std::vector<Kept> take_oldest(size_t most) {
    size_t count = 0;
    while (count < blocks.size() && (bytes > most || blocks.size() - count >= kMostBlocks)) {
      bytes -= blocks[count++].size;
    }
    std::vector<Kept> oldest(blocks.begin(), blocks.begin() + static_cast<ptrdiff_t>(count));
    blocks.erase(blocks.begin(), blocks.begin() + static_cast<ptrdiff_t>(count));
    return oldest;
  }
};

// Never destroyed: memory may be freed while the process ends. Not allocated: that might throw.
Recycler& recycler() {
  alignas(Recycler) static std::byte room[sizeof(Recycler)];
  static auto& one = *new (room) Recycler;
  return one;
}

void free_all(const std::vector<Kept>& blocks) {
  for (const Kept& block : blocks) std::free(block.memory);
}

}  // namespace

RecycledMemory::RecycledMemory(size_t most_bytes) : most_bytes_(most_bytes) {
  const std::lock_guard lock(recycler().mutex);
  recycler().blocks.reserve(kMostBlocks);
  if (recycler().most_bytes == 0) recycler().peak_bytes = 0;
  recycler().most_bytes += most_bytes_;
}

RecycledMemory::~RecycledMemory() {
  std::vector<Kept> freed;
  {
    const std::lock_guard lock(recycler().mutex);
    recycler().most_bytes -= most_bytes_;
    freed = recycler().take_oldest(recycler().most_bytes);
  }
  free_all(freed);
}

RecycledMemory::Bytes RecycledMemory::kept() {
  const std::lock_guard lock(recycler().mutex);
  return {recycler().bytes, recycler().peak_bytes};
}

std::byte* take_recycled(size_t bytes, size_t& size) noexcept {
  if (bytes < kSmallest) return nullptr;
  Recycler& kept = recycler();
  const std::lock_guard lock(kept.mutex);
  const auto found = std::find_if(kept.blocks.rbegin(), kept.blocks.rend(),
                                  [&](const Kept& one) { return one.size >= bytes && one.size - bytes <= bytes / 8; });
  if (found == kept.blocks.rend()) return nullptr;
  std::byte* memory = found->memory;
  size = found->size;
  kept.bytes -= size;
  kept.blocks.erase(std::next(found).base());
  return memory;
}

bool keep_recycled(std::byte* memory, size_t size) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  return false;  // it is to find uses of freed memory
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return false;
#endif
#endif
  if (size < kSmallest) return false;
  Recycler& kept = recycler();
  std::vector<Kept> freed;
  try {
    const std::lock_guard lock(kept.mutex);
    if (size > kept.most_bytes) return false;
    freed = kept.take_oldest(kept.most_bytes - size);
    kept.blocks.push_back({memory, size});
    kept.bytes += size;
    kept.peak_bytes = std::max(kept.peak_bytes, kept.bytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  free_all(freed);
  return true;
}

}  // namespace acuity
