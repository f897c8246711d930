// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/memory_pool.h"

#include <new>
#include <utility>

#include "base/try.h"

namespace acuity {

Result<std::shared_ptr<std::byte>> MemoryPool::take() const {
  Piece piece;
  {
    const std::lock_guard lock(unused_->mutex);
    if (!unused_->pieces.empty()) {
      piece = std::move(unused_->pieces.back());
      unused_->pieces.pop_back();
    }
  }
  if (piece.bytes == nullptr) {
    ACUITY_TRY_ASSIGN(piece.arena, Arena::create(piece_bytes_));
    piece.bytes = piece.arena.take<std::byte>(piece_bytes_);
  }
  std::byte* bytes = piece.bytes;
  const auto give_back = [unused = unused_, held = std::make_shared<Piece>(std::move(piece))](std::byte*) {
    try {
      const std::lock_guard lock(unused->mutex);
      unused->pieces.push_back(std::move(*held));
    } catch (const std::bad_alloc&) {
      // No memory to note it: it goes back to the system.
    }
  };
  return std::shared_ptr<std::byte>(bytes, give_back);
}

}  // namespace acuity
