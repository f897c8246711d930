// SPDX-License-Identifier: BSD-2-Clause-Patent
// What memory a Scorer or a FrameScorer will need, without making one and without a GPU.
#ifndef ACUITY_PLAN_H
#define ACUITY_PLAN_H

#include <cstdint>

#include "acuity/export.h"
#include "acuity/frame.h"
#include "acuity/frame_scorer.h"
#include "acuity/image.h"
#include "acuity/scorer.h"
#include "acuity/status.h"

namespace acuity {

/// Bytes of the host, page-locked or not, and of the device. Pictures in your own memory, results and maps are not
/// counted.
struct MemoryBytes {
  int64_t host = 0;
  int64_t device = 0;
};

/// Of all metrics together. On a device the samples of the pictures are counted.
struct MemoryPlan {
  MemoryBytes pair;               ///< to score a pair
  MemoryBytes further_pair;       ///< for each further one at the same time
  MemoryBytes reference;          ///< held by a Reference of Keep::fast
  MemoryBytes small_reference;    ///< held by one of Keep::small, besides pictures in your own memory
  MemoryBytes against_reference;  ///< to score a picture against a Reference, which is not counted
  int64_t staging = 0;            ///< of the host, for each picture that comes to a device from ordinary memory
};

/// For pictures of that size and kind in sRGB. `options.device` must be "cpu" or a GPU, which need not be there;
/// MemoryMode::automatic counts as full. Never less than is used, and at most 10 % more.
ACUITY_API Result<MemoryPlan> plan_memory(const ScorerOptions& options, int width, int height,
                                          SampleType type = SampleType::u8, Channels channels = Channels::rgb);
/// The same for frames of video. On the CPU they become RGB floats first, in memory that is not counted.
ACUITY_API Result<MemoryPlan> plan_memory(const ScorerOptions& options, const FrameShape& frame);

/// Bytes on a GPU that a FrameScorer with these options uses: for frames_in_flight pairs, or if that is 0 for as many
/// as it has if all fit. `options.device` must be a GPU, which need not be there. Never less than is used, and at most
/// 10 % and one pair of frames more; your frames with gaps of more than 63 bytes between their rows may use more.
ACUITY_API Result<int64_t> plan_device_bytes(const FrameScorerOptions& options);

}  // namespace acuity

#endif
