// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_MOTION_GPU_H
#define ACUITY_METRICS_MOTION_GPU_H

#include "engine/device_feature.h"

namespace acuity::motion {

/// Loads the kernel ahead of its first use.
Status prepare(Device& device);

/// Adds what BlurredDifference::sum gives to a sum on the device. The samples have `depth` bits and are widened to
/// those of `shape`.
Status add_blurred_difference(Queue& queue, const FrameShape& shape, int depth, const DevicePlane& before,
                              const DevicePlane& now, uint64_t sum);

}  // namespace acuity::motion

#endif
