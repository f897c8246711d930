// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/pooling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/powers.h"

namespace acuity::butteraugli {
namespace {

// e for 2^e <= x < 2^(e+1): what tile_scale() took away.
int exponent_of(float x) {
  constexpr uint32_t kLeastNormal = 0x00800000;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return bits >= kLeastNormal ? static_cast<int>(bits >> 23) - 127 : x > 0 ? std::ilogb(x) : 0;
}

// What tiles whose scale is so many powers of two below the largest one's are multiplied by, for each norm.
struct Factors {
  bool known = false;
  std::array<double, 3> of_norm{};
};

// The norms p, 2p and 4p of all pixels, together: this is done while the device waits. Tiles are brought to the scale
// of the largest one, where neither overflow nor a loss that shows is possible.
std::array<double, 3> norms_of(std::span<const TileNorms> tiles, const std::array<float, 3> TileNorms::* sums,
                               double pixels, int exponent, double p) {
  std::array<Factors, 300> factors{};
  std::array<double, 3> totals{};
  for (const TileNorms& tile : tiles) {
    // Maxima may pass over NaN; sums keep it.
    const bool empty = !(tile.largest > 0);
    Factors& own = factors[static_cast<size_t>(empty ? 0 : exponent - exponent_of(tile.largest))];
    if (!own.known) {
      const double below = static_cast<double>(&own - factors.data());
      for (size_t i = 0; i < 3; ++i) own.of_norm[i] = exact_exp2(-p * static_cast<double>(1 << i) * below);
      own.known = true;
    }
    for (size_t i = 0; i < 3; ++i) {
      const double sum = (tile.*sums)[i];
      totals[i] += std::isfinite(sum) ? (empty ? 0 : sum * own.of_norm[i]) : std::numeric_limits<double>::quiet_NaN();
    }
  }
  std::array<double, 3> norms{};
  for (size_t i = 0; i < 3; ++i) {
    const double power = p * static_cast<double>(1 << i);
    norms[i] = std::isnan(totals[i]) ? totals[i]
               : totals[i] > 0       ? std::ldexp(exact_power(totals[i] / pixels, 1 / power), exponent)
                                     : 0;
  }
  return norms;
}

}  // namespace

Norms pool_tiles(std::span<const TileNorms> tiles, Size size, double p) {
  Norms result;
  float largest = 0;
  for (const TileNorms& tile : tiles) largest = std::max(largest, tile.largest);
  result.largest = largest;
  if (!std::isfinite(largest)) return result;
  const double pixels = static_cast<double>(size.width) * size.height;
  const int exponent = exponent_of(largest);
  result.norms = norms_of(tiles, &TileNorms::sums, pixels, exponent, 3);
  if (p > 0) result.power_norms = norms_of(tiles, &TileNorms::power_sums, pixels, exponent, p);
  return result;
}

}  // namespace acuity::butteraugli
