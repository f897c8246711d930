// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/memory.h"

#include <cstdlib>

#include <fmt/format.h>

namespace acuity {

void AlignedFree::operator()(std::byte* memory) const { std::free(memory); }

Result<Arena> Arena::create(size_t bytes) {
  Arena arena;
  arena.size_ = round_up(bytes, kAlignment);
  arena.memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, arena.size_)));
  if (arena.size_ != 0 && !arena.memory_) {
    return Status(StatusCode::internal, fmt::format("out of memory: {} MiB could not be allocated", bytes >> 20));
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
