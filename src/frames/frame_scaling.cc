// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "frames/frame_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "frames/frame_rows.h"

namespace acuity {
namespace {

float cubic(float distance) {
  constexpr float kA = -0.75f;
  const float t = std::abs(distance);
  if (t < 1) return ((kA + 2) * t - (kA + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * kA : 0;
}

// sin(pi x) by its series; arguments are small.
double sine_of_half_turns(double x) {
  const double nearest = std::floor(x + 0.5);
  const double z = (x - nearest) * std::numbers::pi, z2 = z * z;
  double series = 1;
  for (int k = 24; k >= 2; k -= 2) series = 1 - series * z2 / (k * (k + 1));
  return std::fmod(nearest, 2) == 0 ? z * series : -z * series;
}

float lanczos(float distance) {
  constexpr double kPi = std::numbers::pi;
  if (distance == 0) return 1;
  if (std::abs(distance) >= 4) return 0;
  const auto x = static_cast<double>(distance);
  return static_cast<float>(4 * sine_of_half_turns(x) * sine_of_half_turns(x / 4) / (kPi * kPi * x * x));
}

}  // namespace

// Where the taps of each place of a scaled side are. Past the ends the side is mirrored.
ScalingTaps scaling_taps(const std::string& method, int from, int to) {
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  ScalingTaps taps;
  const auto add = [&](int place, float weight) {
    taps.places.push_back(std::clamp(mirrored(place, from), 0, from - 1));
    taps.weights.push_back(weight);
  };
  for (int i = 0; i < to; ++i) {
    if (method == "nearest") {
      add(static_cast<int>(static_cast<float>(i) * ratio), 1);
      continue;
    }
    const auto at = static_cast<float>((i + 0.5) * static_cast<double>(ratio) - 0.5);
    const int before = static_cast<int>(std::floor(at));
    if (method == "bilinear") {
      // Counted from where the first tap is after mirroring: at the near end the weights lie outside of 0 .. 1.
      const float part = at - static_cast<float>(std::clamp(mirrored(before, from), 0, from - 1));
      add(before, 1 - part);
      add(static_cast<int>(std::ceil(at)), part);
      taps.count = 2;
      continue;
    }
    const float part = at - static_cast<float>(before);
    const bool is_cubic = method == "bicubic";
    for (int t = is_cubic ? -1 : -4; t <= (is_cubic ? 2 : 4); ++t) {
      const float distance = static_cast<float>(t) - part;
      add(before + t, is_cubic ? cubic(distance) : lanczos(distance));
    }
    taps.count = is_cubic ? 4 : kMostScalingTaps;
  }
  return taps;
}

void scale_row(const float* const* rows, const ScalingTaps& lines, int y, const ScalingTaps& columns,
               std::span<const int> needed, float* out) {
  const float* row_weights = lines.weights.data() + y * lines.count;
  const auto scale = [&](auto taps, auto normalised) {
    constexpr int kTaps = taps;
    float down[kTaps];
    std::copy_n(row_weights, kTaps, down);
    for (const int x : needed) {
      const int* places = columns.places.data() + x * kTaps;
      const float* across = columns.weights.data() + x * kTaps;
      float value = 0, sum = 0;
      for (int j = 0; j < kTaps; ++j) {
        for (int i = 0; i < kTaps; ++i) {
          const float weight = down[j] * across[i];
          value += rows[j][places[i]] * weight;
          if (normalised) sum += weight;
        }
      }
      out[x] = normalised ? value / sum : value;
    }
  };
  switch (columns.count) {
    case 1:
      scale(std::integral_constant<int, 1>(), std::false_type());
      break;
    case 2:
      scale(std::integral_constant<int, 2>(), std::false_type());
      break;
    case 4:
      scale(std::integral_constant<int, 4>(), std::false_type());
      break;
    default:
      scale(std::integral_constant<int, kMostScalingTaps>(), std::true_type());
      break;
  }
}

}  // namespace acuity
