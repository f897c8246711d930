// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_MSE_CPU_H
#define ACUITY_METRICS_MSE_CPU_H

#include <array>
#include <span>

#include "base/threads.h"
#include "colour/rows.h"

namespace acuity::mse {

/// Of one tile: red, green and blue.
using TileSums = std::array<float, 3>;

/// How many tiles side by side are summed in one go: reading short rows takes longer than reading long ones.
inline constexpr int kTilesTogether = 16;

/// Tiles in raster order, in double: the last step of the reduction, the same for all devices.
std::array<double, 3> add_tiles(std::span<const TileSums> tiles);

/// The squared differences of red, green and blue, each summed over the picture. `map`, unless null, receives the mean
/// of the three for every pixel, row by row.
std::array<double, 3> sum_squared_differences(const Rows& reference, const Rows& distorted, const Threads& threads,
                                              float* map);

}  // namespace acuity::mse

#endif
