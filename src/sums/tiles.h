// SPDX-License-Identifier: BSD-2-Clause-Patent
// The reduction contract: how every metric adds up a value over the picture, so that all devices, thread counts and
// strip heights come to the same bits. The picture is cut into tiles anchored at its origin. In a tile each column is
// summed in float from the top down, the columns are added by a fixed tree, and the tiles are added in double, row of
// tiles by row.
#ifndef ACUITY_SUMS_TILES_H
#define ACUITY_SUMS_TILES_H

#include <algorithm>
#include <cstddef>

namespace acuity {

inline constexpr int kTileWidth = 32;
inline constexpr int kTileHeight = 64;

inline size_t tile_count(int width, int height) {
  const int across = (width + kTileWidth - 1) / kTileWidth;
  const int down = (height + kTileHeight - 1) / kTileHeight;
  return static_cast<size_t>(across) * static_cast<size_t>(down);
}

/// Adds up the columns of a tile by halves: i with i + 16, then i + 8, and so on. Columns outside the picture hold
/// zero.
inline float sum_tile_columns(const float* column_sums) {
  float sums[kTileWidth];
  std::copy(column_sums, column_sums + kTileWidth, sums);
  for (int half = kTileWidth / 2; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

}  // namespace acuity

#endif
