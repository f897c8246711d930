// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/memory.h"

#include <fmt/format.h>

#include "base/large_memory.h"

namespace acuity {
void AlignedFree::operator()(std::byte* memory) const { free_large(memory); }

Result<Arena> Arena::create(size_t bytes) {
  Arena arena;
  arena.memory_.reset(allocate_large(bytes));
  arena.size_ = round_up(bytes, kAlignment);
  if (bytes != 0 && !arena.memory_) {
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
