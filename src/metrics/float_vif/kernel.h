// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Gaussian windows of float_vif.
#ifndef ACUITY_METRICS_FLOAT_VIF_KERNEL_H
#define ACUITY_METRICS_FLOAT_VIF_KERNEL_H

#include <span>
#include <vector>

namespace acuity::float_vif {

/// Weights from end to end, an odd number of them.
struct Kernel {
  std::vector<float> weights;
  int taps() const { return static_cast<int>(weights.size()); }
  int radius() const { return taps() / 2; }
};

/// That of a scale, 0 to 3. Rounded where libvmaf rounds.
Kernel gaussian_kernel(int scale, float kernel_scale);

/// What vif_kernelscale may be, within a thousandth.
std::span<const float> kernel_scales();

}  // namespace acuity::float_vif

#endif
