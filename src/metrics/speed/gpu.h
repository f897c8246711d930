// SPDX-License-Identifier: BSD-2-Clause-Patent
// SpEED on a device: the device makes small pictures and what covariances are made of, the host does the algebra.
#ifndef ACUITY_METRICS_SPEED_GPU_H
#define ACUITY_METRICS_SPEED_GPU_H

#include <memory>
#include <span>
#include <vector>

#include "engine/device_feature.h"
#include "metrics/speed/shrink.h"
#include "metrics/speed/texture.h"

namespace acuity::speed {

/// As PlaneReader.
struct DeviceReader {
  DevicePlane plane;
  DevicePlane subtracted;  // its address may be 0
};

/// Finds textures of several planes at once.
class DeviceTextures {
 public:
  /// For so many planes, of which all or none have something subtracted.
  static Result<DeviceTextures> create(Device& device, const Geometry& geometry, const ShrinkTaps& taps, size_t planes);

  size_t bytes() const { return tables_->size(); }
  size_t scratch_bytes() const;
  size_t result_bytes() const { return planes_ * plane_result_bytes(); }

  /// The samples have `depth` bits.
  Status submit(Queue& queue, std::span<const DeviceReader> readers, int depth, uint64_t scratch, uint64_t results);
  /// What the results of one of the planes come to.
  void conclude(std::span<const std::byte> results, size_t plane, float noise, Texture& out);

 private:
  size_t small_samples() const {
    return static_cast<size_t>(geometry_.small_width) * static_cast<size_t>(geometry_.small_height);
  }
  size_t sum_bytes() const;
  size_t plane_result_bytes() const;

  Geometry geometry_;
  size_t planes_ = 0;
  int blur_taps_ = 0, local_taps_ = 0, scaling_taps_ = 0;
  size_t local_at_ = 0, weights_at_ = 0, places_at_ = 0;
  std::unique_ptr<DeviceMemory> tables_;
  TextureFinder finder_;
  std::vector<float> small_;
};

}  // namespace acuity::speed

#endif
