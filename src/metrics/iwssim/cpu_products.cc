// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>

#include "metrics/iwssim/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/iwssim/cpu_products.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::iwssim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/iwssim/math.h"
#include "metrics/iwssim/cpu_parent.h"

static_assert(PATTERNS == kPatterns && VALUES == kValues && VALUE_PAIRS == kValuePairs);

// The values of a column of vectors, one row after the other.
using ColumnValues = float[kTileHeight][VALUES][kLanes];

// Patterns of the rows y .. y + rows + 1 from column x on.
HWY_INLINE void make_patterns(const Plane& subband, int x, int y, int rows, ColumnValues& values) {
  real along[3][3];  // of the last three rows
  const auto read = [&](int r, real(&to)[3]) {
    const float* row = subband.row(y + r) + x;
    patterns_of_three(load_unaligned(row), load_unaligned(row + 1), load_unaligned(row + 2), to[0], to[1], to[2]);
  };
  read(0, along[1]);
  read(1, along[2]);
  for (int r = 0; r < rows; ++r) {
    UNROLL for (int k = 0; k < 3; ++k) {
      along[0][k] = along[1][k];
      along[1][k] = along[2][k];
    }
    read(r + 2, along[2]);
    UNROLL for (int k = 0; k < 3; ++k) {
      real pattern[3];
      patterns_of_three(along[0][k], along[1][k], along[2][k], pattern[0], pattern[1], pattern[2]);
      UNROLL for (int i = 0; i < 3; ++i) store(pattern[i], values[r][3 * k + i]);
    }
  }
}

HWY_INLINE void make_parents(const Parent& parent, int x, int y, int rows, ColumnValues& values) {
  for (int r = 0; r < rows; ++r) {
    const ParentPlace& place = parent.rows[static_cast<size_t>(y + r)];
    const float* upper = parent.plane->row(place.first);
    const float* lower = parent.plane->row(std::min(place.first + 1, parent.plane->size.height - 1));
    store(parent_of(upper, lower, place.fraction, parent, x), values[r][PATTERNS]);
  }
}

// Products of the values q_begin .. q_end - 1 with themselves and those before them. As many at a time as stay in
// registers.
template <int q_begin, int q_end>
HWY_INLINE void add_products(const ColumnValues& values, int rows, float (*sums)[kTileWidth]) {
  constexpr int kCount = PAIR(0, q_end) - PAIR(0, q_begin);
  real sum[kCount];
  UNROLL for (int i = 0; i < kCount; ++i) sum[i] = real(0.0f);
  for (int r = 0; r < rows; ++r) {
    int i = 0;
    UNROLL for (int q = q_begin; q < q_end; ++q) {
      const real value = load(values[r][q]);
      UNROLL for (int p = 0; p <= q; ++p, ++i) sum[i] = fma(load(values[r][p]), value, sum[i]);
    }
  }
  UNROLL for (int i = 0; i < kCount; ++i) store(sum[i], sums[PAIR(0, q_begin) + i]);
}

template <bool with_parent>
void sum_tile(const Plane& subband, const Parent& parent, int x, int y, int inside, int rows, TileProducts& tile) {
  alignas(64) ColumnValues values;
  alignas(64) float sums[VALUE_PAIRS][kTileWidth] = {};
  for (int v = 0; v < inside; v += kLanes) {
    make_patterns(subband, x + v, y, rows, values);
    float(*column_sums)[kTileWidth] = reinterpret_cast<float(*)[kTileWidth]>(&sums[0][v]);
    add_products<0, 4>(values, rows, column_sums);
    add_products<4, 6>(values, rows, column_sums);
    add_products<6, 7>(values, rows, column_sums);
    add_products<7, 8>(values, rows, column_sums);
    add_products<8, 9>(values, rows, column_sums);
    if constexpr (with_parent) {
      make_parents(parent, x + v + 1, y + 1, rows, values);
      add_products<9, 10>(values, rows, column_sums);
    }
  }
  for (int i = 0; i < (with_parent ? VALUE_PAIRS : PAIR(0, PATTERNS)); ++i) {
    std::fill(sums[i] + inside, sums[i] + kTileWidth, 0.0f);
    tile[static_cast<size_t>(i)] = sum_tile_columns(sums[i]);
  }
}

void sum_products(const Plane& subband, const Parent& parent, int tile_row, TileProducts* tiles) {
  const Size places = neighbourhood_size(subband.size);
  const int y = tile_row * kTileHeight;
  const int rows = std::min(kTileHeight, places.height - y);
  for (int x = 0; x < places.width; x += kTileWidth) {
    const int inside = std::min(kTileWidth, places.width - x);
    if (parent.plane != nullptr) {
      sum_tile<true>(subband, parent, x, y, inside, rows, *tiles++);
    } else {
      sum_tile<false>(subband, parent, x, y, inside, rows, *tiles++);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::iwssim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::iwssim {

HWY_EXPORT(sum_products);

void sum_products(const Plane& subband, const Parent& parent, int tile_row, TileProducts* tiles) {
  HWY_DYNAMIC_DISPATCH(sum_products)(subband, parent, tile_row, tiles);
}

}  // namespace acuity::iwssim
#endif
