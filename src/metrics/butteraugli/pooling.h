// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the sums of tiles to norms of the map; the last steps, in double, alike for all devices.
#ifndef ACUITY_METRICS_BUTTERAUGLI_POOLING_H
#define ACUITY_METRICS_BUTTERAUGLI_POOLING_H

#include <array>
#include <span>

#include "metrics/butteraugli/parameters.h"

namespace acuity::butteraugli {

/// What a tile of the map comes to. Sums are of the values times tile_scale(largest), by the contract of tiles.h.
struct TileNorms {
  float largest = 0;
  std::array<float, 3> sums{};        // of norm_terms
  std::array<float, 3> power_sums{};  // of power_norm_terms; 0 where no p is asked for
};

struct Norms {
  double largest = 0;
  std::array<double, 3> norms{};        // 3, 6, 12
  std::array<double, 3> power_norms{};  // p, 2p, 4p
};

/// `p` is 0 where none is asked for.
Norms pool_tiles(std::span<const TileNorms> tiles, Size size, double p);

/// libjxl's p-norm: the mean of the norms p, 2p and 4p.
inline double mean_norm(const std::array<double, 3>& norms) { return (norms[0] + norms[1] + norms[2]) / 3; }

}  // namespace acuity::butteraugli

#endif
