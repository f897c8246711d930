// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/context.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace acuity::cvvdp {

std::vector<float> grey_context(std::vector<float> achromatic) {
  constexpr double kRange = 0.6, kDarkest = (1 - kRange) / 2;
  constexpr size_t kSteps = 1024;
  float least = 0;  // of those above 0
  for (const float value : achromatic) {
    if (value > 0 && (least == 0 || value < least)) least = value;
  }
  if (least == 0) return std::vector<float>(achromatic.size(), static_cast<float>(kDarkest));
  std::vector<float>& logs = achromatic;
  for (float& value : logs) value = std::log(std::max(value, least));
  const auto [low, high] = std::minmax_element(logs.begin(), logs.end());
  const double begin = *low, range = static_cast<double>(*high) - begin;
  const auto place_of = [&](float value) { return (value - begin) / range * (kSteps - 1); };
  std::array<double, kSteps> shares{};
  if (range < kRange) {
    for (float& value : logs) value = static_cast<float>((value - begin) / (range + 0.001) * kRange + kDarkest);
    return logs;
  }
  for (const float value : logs) {
    shares[std::min(kSteps - 1, static_cast<size_t>((value - begin) / range * kSteps))] += 1;
  }
  double sum = 0;
  for (double& share : shares) sum += share = std::cbrt(share);
  double up_to = 0;
  for (double& share : shares) share = (up_to += share / sum) * kRange + kDarkest;
  for (float& value : logs) {
    const double place = place_of(value);
    const size_t below = std::min(kSteps - 2, static_cast<size_t>(place));
    const double rest = place - static_cast<double>(below);
    value = static_cast<float>((1 - rest) * shares[below] + rest * shares[below + 1]);
  }
  return logs;
}

}  // namespace acuity::cvvdp
