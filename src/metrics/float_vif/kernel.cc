// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_vif/kernel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/powers.h"

namespace acuity::float_vif {
namespace {

int next_odd(float length) {
  const int whole = static_cast<int>(std::ceil(length));
  return whole + (whole % 2 == 0 ? 1 : 0);
}

}  // namespace

Kernel gaussian_kernel(int scale, float kernel_scale) {
  const int taps = std::max(next_odd(static_cast<float>((1 << (4 - scale)) + 1) * kernel_scale), 3);
  const float deviation = static_cast<float>(taps) / 5.0f;
  // libvmaf divides by the factor of a normal distribution where it would be multiplied; the sum below mends that.
  const auto factor = static_cast<float>(1 / (static_cast<double>(deviation) * std::sqrt(2 * std::numbers::pi)));
  Kernel kernel;
  float sum = 0;
  for (int i = 0; i < taps; ++i) {
    const double x = i - taps / 2, d = static_cast<double>(deviation);
    kernel.weights.push_back(static_cast<float>(exact_exp(-0.5 * x / d * x / d)) / factor);
    sum += kernel.weights.back();
  }
  for (float& weight : kernel.weights) weight /= sum;
  return kernel;
}

std::span<const float> kernel_scales() {
  static constexpr float kScales[] = {
      1.0f,        1.0f / 2.0f, 3.0f / 2.0f,  2.0f,         2.0f / 3.0f, 24.0f / 10.0f, 360.0f / 97.0f,
      4.0f / 3.0f, 3.5f / 3.0f, 3.75f / 3.0f, 4.25f / 3.0f, 5.0f / 3.0f, 3.0f,          1.0f / 2.25f,
      1.4746f,     1.54f,       1.6f,         1.06667f,     0.711111f,   0.740740f,     1.111111f};
  return kScales;
}

}  // namespace acuity::float_vif
