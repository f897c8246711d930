// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/temporal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/powers.h"

namespace acuity::cvvdp {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr std::array<double, kChannels> kWidths = {5.79336, 14.1255, 6.63661, 0.12314};  // sigma_tf
constexpr std::array<double, kChannels> kPowers = {1.3314, 1.1196, 0.947901, 0.1898};    // beta_tf
constexpr double kTransientPeak = 5;                                                     // Hz
constexpr size_t kTransient = 3;

// The C library's differs between processors in the last bit. For angles from 0 to pi.
double cosine(double angle) {
  if (angle > kPi / 2) return -cosine(kPi - angle);
  double sum = 1;
  for (int i = 24; i >= 2; i -= 2) sum = 1 - angle * angle / (i * (i - 1)) * sum;
  return sum;
}

double response(size_t channel, double frequency) {
  const double raised = frequency == 0 ? 0 : exact_power(frequency, kPowers[channel]);
  if (channel != kTransient) return exact_exp(-raised / kWidths[channel]);
  const double distance = raised - exact_power(kTransientPeak, kPowers[channel]);
  return exact_exp(-distance * distance / kWidths[channel]);
}

}  // namespace

int temporal_length(double frames_per_second) {
  constexpr double kSeconds = 0.25;
  return 2 * static_cast<int>(std::ceil(kSeconds * frames_per_second / 2)) + 1;
}

std::array<std::vector<float>, kChannels> temporal_filters(double frames_per_second) {
  const int length = temporal_length(frames_per_second), half = length / 2;
  std::array<std::vector<float>, kChannels> filters;
  for (size_t c = 0; c < kChannels; ++c) {
    for (int j = 0; j < length; ++j) {
      // The reference spreads its frequencies evenly up to half the frame rate, where an odd length has none; kept.
      double sum = response(c, 0);
      for (int k = 1; k <= half; ++k) {
        const int turn = k * std::abs(j - half) % length;
        const double angle = 2 * kPi * std::min(turn, length - turn) / length;
        sum += 2 * response(c, frames_per_second / 2 * k / half) * cosine(angle);
      }
      filters[c].push_back(static_cast<float>(sum / length));
    }
  }
  return filters;
}

}  // namespace acuity::cvvdp
