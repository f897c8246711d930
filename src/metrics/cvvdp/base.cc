// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/base.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace acuity::cvvdp {
namespace {

// Calls visit(y, rows of both) for each row.
template <typename Visit>
void each_row(const Base& base, const Visit& visit) {
  const Size size = base.scale.size;
  std::vector<float> room(2 * kStillChannels * row_floats(size.width) + kAlignment / sizeof(float));
  void* first = room.data();
  size_t bytes = room.size() * sizeof(float);
  float* aligned = static_cast<float*>(std::align(kAlignment, sizeof(float), first, bytes));
  for (int y = 0; y < size.height; ++y) {
    visit(y, std::array<ChannelRows, 2>{base.pictures[0]->read(y, aligned),
                                        base.pictures[1]->read(y, aligned + kStillChannels * row_floats(size.width))});
  }
}

}  // namespace

std::array<double, kChannels> Base::differences() const {
  const Size size = scale.size;
  const auto count = static_cast<size_t>(channels);
  std::array<double, 2> backgrounds{};
  each_row(*this, [&](int, const std::array<ChannelRows, 2>& rows) {
    for (size_t side = 0; side < 2; ++side) {
      for (int x = 0; x < size.width; ++x) {
        backgrounds[side] += std::max(static_cast<double>(rows[side][0][x]), kLeastBackground);
      }
    }
  });
  for (double& background : backgrounds) background /= size.pixels();
  std::array<double, kChannels> sums{}, sensitivity{}, weights{};
  for (size_t c = 0; c < count; ++c) {
    sensitivity[c] = sensitivity_at(static_cast<int>(c), scale.frequency, backgrounds[0]);
    weights[c] = heat_weight(c, channels) * kBaseWeights[c];
  }
  std::vector<double> fourths(static_cast<size_t>(size.width));
  each_row(*this, [&](int y, const std::array<ChannelRows, 2>& rows) {
    std::fill(fourths.begin(), fourths.end(), 0.0);
    for (size_t c = 0; c < count; ++c) {
      for (int x = 0; x < size.width; ++x) {
        const auto contrast = [&](size_t side) {
          return std::min(static_cast<double>(rows[side][c][x]) / backgrounds[side], kLargestContrast);
        };
        const double difference = std::fabs(contrast(1) - contrast(0)) * sensitivity[c];
        sums[c] += difference * (difference + 2 * kPowerOffset);
        if (heat != nullptr) fourths[static_cast<size_t>(x)] += offset_power(difference * weights[c], 4);
      }
    }
    for (int x = 0; x < size.width && heat != nullptr; ++x) {
      heat->row(y)[x] = static_cast<float>(offset_power(fourths[static_cast<size_t>(x)], 0.25));
    }
  });
  for (double& sum : sums) sum = difference_of(sum, size.pixels());
  return sums;
}

}  // namespace acuity::cvvdp
