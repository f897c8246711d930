// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filters of libswscale as it has them by default. Only + - * / in double, so that weights are equal everywhere.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "media/scale.h"

namespace acuity {
namespace {

// sin(pi x); the C library's differs in the last bit from machine to machine.
double sine(double x) {
  const double nearest = std::floor(x + 0.5);
  const double angle = (x - nearest) * std::numbers::pi;
  const double square = angle * angle;
  double sum = 0;
  for (int i = 23; i >= 3; i -= 2) sum = (sum + 1) * square / (-i * (i - 1));
  const double value = angle * (sum + 1);
  return static_cast<int64_t>(nearest) % 2 == 0 ? value : -value;
}

double reach(Scaler scaler) { return scaler == Scaler::bilinear ? 1 : scaler == Scaler::bicubic ? 2 : 3; }

double kernel(Scaler scaler, double distance) {
  const double x = std::abs(distance);
  if (x >= reach(scaler)) return 0;
  if (scaler == Scaler::bilinear) return 1 - x;
  if (scaler == Scaler::lanczos) {
    if (x == 0) return 1;
    return 3 * sine(x) * sine(x / 3) / (std::numbers::pi * std::numbers::pi * x * x);
  }
  // Mitchell and Netravali's with B = 0 and C = 0.6.
  return x < 1 ? (1.4 * x - 2.4) * x * x + 1 : ((-0.6 * x + 3) * x - 4.8) * x + 2.4;
}

}  // namespace

ScaleWeights scale_weights(Scaler scaler, int from, int to) {
  // Where a line becomes shorter, the filter becomes as much wider: every sample of it counts.
  const double step = static_cast<double>(from) / to;
  const double stretch = std::max(step, 1.0);
  const double radius = reach(scaler) * stretch;
  ScaleWeights result;
  result.taps = std::min(from, static_cast<int>(std::ceil(2 * radius)));
  const auto taps = static_cast<size_t>(result.taps);
  for (int i = 0; i < to; ++i) {
    const double centre = static_cast<double>((2 * int64_t{i} + 1) * from - to) / static_cast<double>(2 * int64_t{to});
    const int begin = static_cast<int>(std::floor(centre - radius)) + 1;
    const int end = static_cast<int>(std::ceil(centre + radius));
    const int first = std::clamp(begin, 0, from - result.taps);
    std::vector<double> weights(taps);
    double sum = 0;
    for (int k = begin; k < end; ++k) {
      const double weight = kernel(scaler, (k - centre) / stretch);
      // The first and the last sample stand for what would lie beyond them. Where rounding lets one more in than there
      // are taps, its weight is all but zero.
      weights[static_cast<size_t>(std::clamp(std::clamp(k, 0, from - 1) - first, 0, result.taps - 1))] += weight;
      sum += weight;
    }
    result.first.push_back(first);
    for (const double weight : weights) result.weights.push_back(static_cast<float>(weight / sum));
  }
  return result;
}

std::string describe_scaling(int from_width, int from_height, int width, int height, Scaler scaler) {
  return fmt::format("scaled from {}x{} to {}x{} ({})", from_width, from_height, width, height, name_of(scaler));
}

}  // namespace acuity
