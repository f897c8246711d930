// SPDX-License-Identifier: BSD-2-Clause-Patent
// What memory and kernels features need on a device, found on one that only counts.
#ifndef ACUITY_ENGINE_FRAME_PLAN_H
#define ACUITY_ENGINE_FRAME_PLAN_H

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "acuity/frame.h"
#include "engine/feature.h"
#include "lang/kernel.h"

namespace acuity {

/// Bytes on the device, and the kernels. Of frames the planes are counted that some feature reads, with rows as
/// FrameMemory lays them out.
struct FramePlan {
  int64_t per_frame = 0;  // for each pair in flight
  // Besides: for the pairs before them that windows contain, and for one that the thread which sent it still holds.
  int64_t windows = 0;
  std::vector<KernelInfo> kernels{};

  int64_t bytes(int in_flight) const { return per_frame * in_flight + windows; }
};

Result<FramePlan> plan_frames(const std::array<FrameShape, 2>& shapes, std::span<const Feature* const> features);

/// Which planes some feature reads, by Role.
std::array<PlaneSet, 2> planes_read(const std::array<FrameShape, 2>& shapes, std::span<const Feature* const> features);

/// How many pairs in flight keep a device busy.
int usual_in_flight(const std::array<FrameShape, 2>& shapes);

}  // namespace acuity

#endif
