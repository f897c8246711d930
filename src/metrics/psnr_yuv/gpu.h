// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_PSNR_YUV_GPU_H
#define ACUITY_METRICS_PSNR_YUV_GPU_H

#include "engine/device_feature.h"

namespace acuity::psnr_yuv {

/// Loads the kernel ahead of its first use.
Status prepare(Device& device);

/// Adds what squared_differences() gives to a sum on the device; `shape` is that of the frames.
Status add_squared_differences(Queue& queue, const FrameShape& shape, int plane, const DeviceFrame& reference,
                               const DeviceFrame& distorted, uint64_t sum);

}  // namespace acuity::psnr_yuv

#endif
