// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_SSIM_GPU_H
#define ACUITY_METRICS_SSIM_GPU_H

#include "engine/device_feature.h"

namespace acuity::ssim {

/// Loads the kernels ahead of their first use.
Status prepare(Device& device);

/// What sum() needs besides.
size_t scratch_bytes(const FrameShape& shape);

/// The sum of the similarities of all windows, a double. Samples are widened to the depth of `shape`; c1 and c2 are
/// those of WindowRow.
Status sum(Queue& queue, const FrameShape& shape, const DeviceWindow& window, double c1, double c2, uint64_t result);

}  // namespace acuity::ssim

#endif
