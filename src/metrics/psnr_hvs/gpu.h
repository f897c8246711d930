// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_PSNR_HVS_GPU_H
#define ACUITY_METRICS_PSNR_HVS_GPU_H

#include <array>

#include "engine/device_feature.h"

namespace acuity::psnr_hvs {

/// What VisibleError does, on a device.
class DeviceVisibleError {
 public:
  static constexpr int kPlanes = 3;

  static Result<DeviceVisibleError> create(Device& device, const FrameShape& shape);

  size_t bytes() const { return weights_->size(); }
  size_t scratch_bytes() const;

  /// Leaves a sum for each plane, three floats.
  Status submit(Queue& queue, const DeviceWindow& window, uint64_t sums);
  /// VisibleError::mean of a plane.
  float mean(float sum, int plane) const;

 private:
  struct Plane {
    int across = 0;
    int blocks = 0;
  };

  size_t squares_bytes() const;
  int pieces() const;

  FrameShape shape_;
  std::array<Plane, kPlanes> planes_;
  std::unique_ptr<DeviceMemory> weights_;
};

}  // namespace acuity::psnr_hvs

#endif
