// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/iwssim/scales.h"

#include <cmath>

#include <fmt/format.h>

#include "base/powers.h"

namespace acuity::iwssim {

std::array<Size, kScales> scale_sizes(int width, int height) {
  std::array<Size, kScales> sizes;
  for (Size& size : sizes) {
    size = {width, height};
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  return sizes;
}

ScaleSums add_tiles(std::span<const TileSums> tiles) {
  ScaleSums sums;
  for (const TileSums& tile : tiles) {
    sums.loss += static_cast<double>(tile.loss);
    sums.weighted_loss += static_cast<double>(tile.weighted_loss);
    sums.weight += static_cast<double>(tile.weight);
  }
  return sums;
}

double scale_value(const ScaleSums& sums, Size scale) {
  if (sums.weight > 0) return 1 - sums.weighted_loss / sums.weight;
  const Size losses = loss_size(scale);
  return 1 - sums.loss / (static_cast<double>(losses.width) * losses.height);
}

double exponent(int scale) {
  constexpr float kExponents[kScales] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};
  return static_cast<double>(kExponents[scale]);
}

double score_of(Kind kind, const std::array<double, kScales>& values) {
  double score = 1;
  for (int s = 0; s < kScales; ++s) {
    const double value = values[static_cast<size_t>(s)];
    const double base = kind == Kind::classic ? std::fmax(value, 0) : std::fabs(value);
    score *= exact_power(base, exponent(s));
  }
  return score;
}

std::vector<NamedValue> named_values(const std::array<double, kScales>& values) {
  std::vector<NamedValue> named;
  for (int s = 0; s < kScales; ++s) named.push_back({fmt::format("scale{}", s + 1), values[static_cast<size_t>(s)]});
  return named;
}

}  // namespace acuity::iwssim
