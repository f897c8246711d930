// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "frames/gaussian_windows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/powers.h"

namespace acuity {
namespace {

constexpr float kKernelScales[] = {1.0f,     0.5f,     1.5f,      2.0f,      2.0f / 3,  2.4f,      360.0f / 97,
                                   4.0f / 3, 3.5f / 3, 3.75f / 3, 4.25f / 3, 5.0f / 3,  3.0f,      1.0f / 2.25f,
                                   1.4746f,  1.54f,    1.6f,      1.06667f,  0.711111f, 0.740740f, 1.111111f};

}  // namespace

int window_taps(int taps, float kernel_scale) {
  const int whole = static_cast<int>(std::ceil(static_cast<float>(taps) * kernel_scale));
  return std::max(whole % 2 == 0 ? whole + 1 : whole, 3);
}

std::vector<float> gaussian_window(int taps, float deviation) {
  std::vector<float> weights;
  float sum = 0;
  const auto spread = static_cast<double>(deviation);
  // libvmaf divides by what a normal distribution multiplies with; the sum mends that.
  const auto norm = static_cast<float>(1 / (spread * std::sqrt(2 * std::numbers::pi)));
  for (int i = 0; i < taps; ++i) {
    const double x = i - taps / 2;
    weights.push_back(static_cast<float>(exact_exp(-0.5 * x / spread * x / spread)) / norm);
    sum += weights.back();
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

bool is_kernel_scale(double scale) {
  return std::any_of(std::begin(kKernelScales), std::end(kKernelScales), [&](float known) {
    return static_cast<double>(std::abs(static_cast<float>(scale) - known)) < 1e-3;
  });
}

std::string kernel_scales() {
  std::vector<float> sorted(std::begin(kKernelScales), std::end(kKernelScales));
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("{:.4g}", fmt::join(sorted, ", "));
}

}  // namespace acuity
