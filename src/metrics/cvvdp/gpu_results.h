// SPDX-License-Identifier: BSD-2-Clause-Patent
// What kernels are given and what they leave, of still pictures and of frames: places.h states where it lies.
#ifndef ACUITY_METRICS_CVVDP_GPU_RESULTS_H
#define ACUITY_METRICS_CVVDP_GPU_RESULTS_H

#include <vector>

#include "metrics/cvvdp/scales.h"

namespace acuity::cvvdp {

/// The sensitivity tables of all subbands: for each 32 luminances the logarithms of four channels, then how much these
/// grow to the next.
std::vector<float> sensitivity_fours(const std::vector<Scale>& scales, int channels);

/// Floats of all planes before the base: of still pictures the first scale is not among them.
size_t planes_before_base(const std::vector<Scale>& scales, int channels);

/// The planes of the base, of the reference and then of the distorted picture, and behind them the sums of all tiles.
class DeviceResults {
 public:
  DeviceResults(const std::vector<Scale>& scales, int channels);
  size_t base_floats() const { return base_floats_; }
  size_t floats() const { return base_floats_ + tiles_ * static_cast<size_t>(channels_); }
  Differences differences(const float* results) const;

 private:
  std::vector<Scale> scales_;
  int channels_;
  size_t base_floats_ = 0, tiles_ = 0;
};

}  // namespace acuity::cvvdp

#endif
