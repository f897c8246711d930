// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/scales.h"

#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "base/powers.h"

namespace acuity::cvvdp {

std::vector<Scale> scales_of(Size picture, double pixels_per_degree, int most) {
  constexpr double kLowest = 0.2, kOfBase = 0.1, kOfSecond = 0.3228;
  const int side = std::min(picture.width, picture.height);
  const int last = std::bit_width(static_cast<unsigned>(side)) - 2;
  std::vector<Scale> scales;
  double frequency = pixels_per_degree / 2;
  for (int i = 0;; ++i) {
    const bool base = i >= last || i + 1 == most || (i > 0 && scales.back().frequency <= kLowest);
    scales.push_back({picture, base ? kOfBase : frequency});
    if (base) return scales;
    frequency *= i == 0 ? kOfSecond : 0.5;
    picture = {(picture.width + 1) / 2, (picture.height + 1) / 2};
  }
}

double offset_power(double x, double power) {
  return exact_power(x + kPowerOffset, power) - exact_power(kPowerOffset, power);
}

double heat_weight(size_t channel, int channels) {
  return kChannelWeights[channel] * (channels == kStillChannels ? kStillFactor : 1);
}

double distogram_weight(size_t channel, bool base, int channels) {
  return kChannelWeights[channel] * (base ? kBaseWeights[channel] : 1) * channels;
}

double difference_of(double sum, double pixels) { return offset_power(sum / pixels, 0.5); }

double pooled(const Differences& differences, int channel) {
  const size_t c = static_cast<size_t>(channel);
  double sum = 0;
  for (size_t b = 0; b < differences.subbands.size(); ++b) {
    const bool base = b + 1 == differences.subbands.size();
    const double weight = kChannelWeights[c] * (base ? kBaseWeights[c] : 1);
    sum += offset_power(weight * differences.subbands[b][c], 4);
  }
  return offset_power(sum, 0.25);
}

double pooled(const Differences& differences) {
  double sum = 0;
  for (int c = 0; c < differences.channels; ++c) sum += offset_power(pooled(differences, c), 4);
  return offset_power(sum, 0.25);
}

double jod_of(double difference) {
  constexpr double kLinearBelow = 0.1;
  if (difference > kLinearBelow) return 10 - kJodScale * exact_power(difference, kJodPower);
  return 10 - kJodScale * exact_power(kLinearBelow, kJodPower - 1) * difference;
}

std::vector<NamedValue> named_values(const Differences& differences) {
  std::vector<NamedValue> named;
  for (int c = 0; c < differences.channels; ++c) {
    const char* channel = kChannelNames[static_cast<size_t>(c)];
    for (size_t b = 0; b < differences.subbands.size(); ++b) {
      const bool base = b + 1 == differences.subbands.size();
      named.push_back({base ? fmt::format("{}_base", channel) : fmt::format("{}_subband{}", channel, b + 1),
                       differences.subbands[b][static_cast<size_t>(c)]});
    }
  }
  for (int c = 0; c < differences.channels; ++c) {
    named.push_back({kChannelNames[static_cast<size_t>(c)], pooled(differences, c)});
  }
  return named;
}

}  // namespace acuity::cvvdp
