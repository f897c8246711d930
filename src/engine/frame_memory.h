// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory for frames in flight, which is used again and again: copies of frames, and frames with more bits.
#ifndef ACUITY_ENGINE_FRAME_MEMORY_H
#define ACUITY_ENGINE_FRAME_MEMORY_H

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory_pool.h"

namespace acuity {

/// Frames of one format. Those handed out may outlive it.
class FrameMemory {
 public:
  explicit FrameMemory(const FrameShape& format);

  /// What a frame takes.
  static size_t frame_bytes(const FrameShape& format);
  /// The same samples in memory of this object, of these planes; may be called from several threads. `frame` has the
  /// same size and subsampling, and at most as many bits a sample: it is scaled by a power of two.
  Result<FrameView> copy(const FrameView& frame, const PlaneSet& planes = {true, true, true});

 private:
  FrameView format_;
  MemoryPool pool_;
};

/// Whether every sample of these planes is within the frame's depth; features use samples as places in tables.
bool within_depth(const FrameView& frame, const PlaneSet& planes);

}  // namespace acuity

#endif
