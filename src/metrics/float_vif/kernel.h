// SPDX-License-Identifier: BSD-2-Clause-Patent
// The windows of float_vif.
#ifndef ACUITY_METRICS_FLOAT_VIF_KERNEL_H
#define ACUITY_METRICS_FLOAT_VIF_KERNEL_H

#include <vector>

#include "frames/gaussian_windows.h"

namespace acuity::float_vif {

struct Kernel {
  std::vector<float> weights;
  int taps() const { return static_cast<int>(weights.size()); }
  int radius() const { return taps() / 2; }
};

/// That of a scale, 0 to 3.
inline Kernel kernel_of(int scale, float kernel_scale) {
  const int taps = window_taps((1 << (4 - scale)) + 1, kernel_scale);
  return {gaussian_window(taps, static_cast<float>(taps) / 5.0f)};
}

}  // namespace acuity::float_vif

#endif
