// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM of pictures on a device, and what makes them smaller.
#ifndef ACUITY_METRICS_FLOAT_SSIM_GPU_H
#define ACUITY_METRICS_FLOAT_SSIM_GPU_H

#include <span>

#include "engine/device_feature.h"
#include "metrics/float_ssim/sums.h"

namespace acuity::float_ssim {

/// Y' of a frame as the stream has it, or a picture of floats.
struct DevicePicture {
  uint64_t address = 0;
  int bits = 32;  // of a sample in memory: 8, 16, or 32 for floats
  float scale = 1;
  int step = 0;  // samples from row to row
  int width = 0;
  int height = 0;

  static DevicePicture of_frame(const DeviceFrame& frame, int depth, int width, int height);
  /// Floats without gaps.
  static DevicePicture of_floats(uint64_t address, int width, int height) {
    return {address, 32, 1, width, width, height};
  }
  size_t bytes() const { return static_cast<size_t>(width) * static_cast<size_t>(height) * sizeof(float); }
};

/// The sums over all windows of pictures of one size.
struct DeviceSums {
  int width = 0;
  int height = 0;

  int cells_along() const;
  int cells_down() const;
  size_t scratch_bytes() const;
  size_t result_bytes() const { return static_cast<size_t>(cells_down()) * sizeof(Sums); }
  Status submit(Queue& queue, const DevicePicture& reference, const DevicePicture& distorted, uint64_t scratch,
                uint64_t results) const;
  Similarity finish(std::span<const std::byte> results) const;
};

/// Load the kernels ahead of their first use.
Status prepare_sums(Device& device);
Status prepare_shrinking(Device& device);
Status prepare_halving(Device& device);

/// Shrinks a frame's Y' by a factor; `to` has the size it shall have.
Status shrink(Queue& queue, const DevicePicture& from, int factor, float weight, const DevicePicture& to);
Status halve(Queue& queue, const DevicePicture& from, const DevicePicture& to);

}  // namespace acuity::float_ssim

#endif
