// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pieces of memory of one size that are used again: a fresh one costs a page fault for every 4 KiB.
#ifndef ACUITY_BASE_MEMORY_POOL_H
#define ACUITY_BASE_MEMORY_POOL_H

#include <memory>
#include <mutex>
#include <vector>

#include "acuity/status.h"
#include "base/memory.h"

namespace acuity {

/// Pieces that were taken may outlive it. May be used from several threads.
class MemoryPool {
 public:
  explicit MemoryPool(size_t piece_bytes) : piece_bytes_(piece_bytes) {}

  size_t piece_bytes() const { return piece_bytes_; }
  /// An aligned piece, whose content is unspecified; it is free again when nobody holds it.
  Result<std::shared_ptr<std::byte>> take() const;

 private:
  struct Piece {
    Arena arena;
    std::byte* bytes = nullptr;
  };
  struct Unused {
    std::mutex mutex;
    std::vector<Piece> pieces;
  };

  size_t piece_bytes_;
  std::shared_ptr<Unused> unused_ = std::make_shared<Unused>();
};

}  // namespace acuity

#endif
