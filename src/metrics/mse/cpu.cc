// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/mse/cpu.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "sums/tiles.h"

// Everything between here and HWY_AFTER_NAMESPACE is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/mse/cpu.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::mse {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/mse/math.h"

// One row of some tiles side by side, or the part of it that lies in the picture; the rest is zero.
struct alignas(64) TilesRow {
  float samples[3][kTilesTogether * kTileWidth] = {};
};

// The squared differences of `count` tiles, the first pixel of which is (x_begin, y_begin): one sum a channel of each.
void SumTiles(const Rows& reference, const Rows& distorted, int x_begin, int y_begin, int count, float* map,
              TileSums* sums) {
  const int x_end = std::min(x_begin + count * kTileWidth, reference.width());
  const int y_end = std::min(y_begin + kTileHeight, reference.height());
  TilesRow a, b, columns, errors;
  for (int y = y_begin; y < y_end; ++y) {
    reference.read(y, x_begin, x_end, a.samples[0], a.samples[1], a.samples[2]);
    distorted.read(y, x_begin, x_end, b.samples[0], b.samples[1], b.samples[2]);
    for (int c = 0; c < 3; ++c) {
      for (int x = 0; x < count * kTileWidth; x += kLanes) {
        const real error = squared_difference(load(a.samples[c] + x), load(b.samples[c] + x));
        store(error, errors.samples[c] + x);
        store(load(columns.samples[c] + x) + error, columns.samples[c] + x);
      }
    }
    if (map == nullptr) continue;
    for (int x = x_begin; x < x_end; ++x) {
      const int i = x - x_begin;
      map[static_cast<ptrdiff_t>(y) * reference.width() + x] =
          (errors.samples[0][i] + errors.samples[1][i] + errors.samples[2][i]) / 3;
    }
  }
  for (int tile = 0; tile < count; ++tile) {
    for (size_t c = 0; c < 3; ++c) sums[tile][c] = sum_tile_columns(columns.samples[c] + tile * kTileWidth);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::mse
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::mse {

HWY_EXPORT(SumTiles);

std::array<double, 3> add_tiles(std::span<const TileSums> tiles) {
  std::array<double, 3> total{};
  for (const TileSums& tile : tiles) {
    for (size_t c = 0; c < 3; ++c) total[c] += static_cast<double>(tile[c]);
  }
  return total;
}

std::array<double, 3> sum_squared_differences(const Rows& reference, const Rows& distorted, const Threads& threads,
                                              float* map) {
  const int across = (reference.width() + kTileWidth - 1) / kTileWidth;
  const int down = (reference.height() + kTileHeight - 1) / kTileHeight;
  std::vector<TileSums> tiles(tile_count(reference.width(), reference.height()));

  // Threads take whichever row of tiles is next; what a tile comes to does not depend on who sums it.
  std::atomic<int> next = 0;
  threads.run([&](int) {
    for (int row = next++; row < down; row = next++) {
      for (int column = 0; column < across; column += kTilesTogether) {
        TileSums* sums = &tiles[static_cast<size_t>(row) * static_cast<size_t>(across) + static_cast<size_t>(column)];
        HWY_DYNAMIC_DISPATCH(SumTiles)
        (reference, distorted, column * kTileWidth, row * kTileHeight, std::min(kTilesTogether, across - column), map,
         sums);
      }
    }
  });

  return add_tiles(tiles);
}

}  // namespace acuity::mse
#endif
