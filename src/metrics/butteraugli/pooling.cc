// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/powers.h"

namespace acuity::butteraugli {
namespace {

// e for 2^e <= x < 2^(e+1): what tile_scale() took away.
int exponent_of(float x) { return x > 0 ? std::ilogb(x) : 0; }

// The norm `p` of all pixels. Tiles are brought to the scale of the largest one, where neither overflow nor a loss that
// shows is possible.
template <typename SumOf>
double norm(std::span<const TileNorms> tiles, double pixels, int exponent, double p, SumOf sum_of) {
  double sum = 0;
  std::array<double, 300> factors{};  // of tiles whose scale is so many powers of two below, 0 where not yet known
  for (const TileNorms& tile : tiles) {
    // Maxima may pass over NaN; sums keep it.
    if (!std::isfinite(sum_of(tile))) return std::numeric_limits<double>::quiet_NaN();
    if (!(tile.largest > 0)) continue;
    const int below = exponent - exponent_of(tile.largest);
    double& factor = factors[static_cast<size_t>(below)];
    if (factor == 0) factor = exact_exp2(-p * below);
    sum += sum_of(tile) * factor;
  }
  return sum > 0 ? std::ldexp(exact_power(sum / pixels, 1 / p), exponent) : 0;
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
  for (size_t i = 0; i < 3; ++i) {
    const double times = static_cast<double>(1 << i);
    result.norms[i] = norm(tiles, pixels, exponent, 3 * times, [&](const TileNorms& t) { return t.sums[i]; });
    if (p > 0) {
      result.power_norms[i] =
          norm(tiles, pixels, exponent, p * times, [&](const TileNorms& t) { return t.power_sums[i]; });
    }
  }
  return result;
}

}  // namespace acuity::butteraugli
