// SPDX-License-Identifier: BSD-2-Clause-Patent
// The sums of sums.h and ansnr.h on a device. `shape` is that of the frames, with the depth of their samples there.
#ifndef ACUITY_METRICS_PSNR_YUV_GPU_H
#define ACUITY_METRICS_PSNR_YUV_GPU_H

#include "engine/device_feature.h"

namespace acuity::psnr_yuv {

/// Load the kernels ahead of their first use.
Status prepare_squares(Device& device);
Status prepare_moments(Device& device);
Status prepare_anti_noise(Device& device);

/// Adds what squared_differences() gives, or with `rounded` rounded_squared_differences(), to a sum on the device.
Status add_squared_differences(Queue& queue, const FrameShape& shape, int plane, const DeviceFrame& reference,
                               const DeviceFrame& distorted, uint64_t sum, bool rounded = false);

/// Adds Moments of luma to two sums.
Status add_moments(Queue& queue, const FrameShape& shape, const DeviceFrame& frame, uint64_t sums);

/// The sums of rows that Energies are made of: floats, as many as there are rows, of the signal and then of the noise.
Status sum_anti_noise_rows(Queue& queue, const FrameShape& shape, const DeviceFrame& reference,
                           const DeviceFrame& distorted, uint64_t sums);

}  // namespace acuity::psnr_yuv

#endif
