// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory for frames in flight, which is used again and again: copies of frames, and frames with more bits.
#ifndef ACUITY_ENGINE_FRAME_MEMORY_H
#define ACUITY_ENGINE_FRAME_MEMORY_H

#include <memory>
#include <mutex>
#include <vector>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity {

/// Frames of one format. Those handed out may outlive it.
class FrameMemory {
 public:
  /// Of `format` only the size, the depth and the subsampling count.
  explicit FrameMemory(const FrameView& format);

  /// The same samples in memory of this object's; safe to call from several threads. `frame` has the same size and
  /// subsampling, and at most as many bits a sample: it is scaled by a power of two.
  Result<FrameView> copy(const FrameView& frame);

 private:
  struct Piece {
    Arena arena;
    std::byte* bytes = nullptr;
  };
  struct Unused {
    std::mutex mutex;
    std::vector<Piece> pieces;
  };

  Result<std::shared_ptr<std::byte>> take();

  FrameView format_;
  size_t bytes_ = 0;
  std::shared_ptr<Unused> unused_ = std::make_shared<Unused>();
};

/// Whether every sample is within the frame's depth; features use samples as places in tables.
bool within_depth(const FrameView& frame);

}  // namespace acuity

#endif
