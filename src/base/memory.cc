// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/memory.h"

#include <cstdlib>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <fmt/format.h>

namespace acuity {
namespace {

// Filters look at many rows at once, each on a page of its own. Large pages need fewer entries in the processor's
// table, and are made in fewer steps.
constexpr size_t kLargePage = size_t{1} << 21;

std::byte* allocate(size_t bytes) {
  const size_t alignment = bytes >= kLargePage ? kLargePage : kAlignment;
  bytes = round_up(bytes, alignment);
  void* memory = std::aligned_alloc(alignment, bytes);
#ifdef __linux__
  // A hint: what becomes of it does not matter.
  if (memory != nullptr && alignment == kLargePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(memory);
}

}  // namespace

void AlignedFree::operator()(std::byte* memory) const { std::free(memory); }

Result<Arena> Arena::create(size_t bytes) {
  Arena arena;
  arena.size_ = round_up(bytes, kAlignment);
  arena.memory_.reset(allocate(arena.size_));
  if (arena.size_ != 0 && !arena.memory_) {
    return Status(StatusCode::out_of_memory, fmt::format("out of memory: {} MiB could not be allocated", bytes >> 20));
  }
  return arena;
}

std::byte* Arena::take_bytes(size_t bytes) {
  const size_t begin = used_;
  if (bytes > size_ - begin) return nullptr;
  used_ = begin + round_up(bytes, kAlignment);
  return memory_.get() + begin;
}

}  // namespace acuity
