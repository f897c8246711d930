// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measures frames for float_vif.
#ifndef ACUITY_METRICS_FLOAT_VIF_WORKER_H
#define ACUITY_METRICS_FLOAT_VIF_WORKER_H

#include <array>
#include <memory>
#include <string>

#include "engine/feature.h"
#include "metrics/float_vif/cpu.h"
#include "metrics/float_vif/kernel.h"
#include "metrics/vif/scores.h"

namespace acuity::float_vif {

/// The options, and what follows from them.
struct Parameters {
  int width = 0;  // of frames
  int height = 0;
  int scaled_width = 0;  // of what is measured
  int scaled_height = 0;
  std::string scaling;
  std::array<Kernel, 4> kernels;
  Noise noise;
  bool skip_scale0 = false;
  std::array<double, 4> least{};  // ratios of scales are at least this

  bool scaled() const { return scaled_width != width || scaled_height != height; }
};

inline constexpr int kScales = 4;

/// What the sums of a scale come to.
vif::ScaleScore score_of(float numerator, float denominator, int scale, const Parameters& parameters);

Result<std::unique_ptr<FeatureWorker>> create_worker(const Parameters& parameters);
Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const Parameters& parameters);

}  // namespace acuity::float_vif

#endif
