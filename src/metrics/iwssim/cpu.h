// SPDX-License-Identifier: BSD-2-Clause-Patent
// The stages of IW-SSIM and MS-SSIM on the CPU. Each works on a part of its picture that the caller names, so that
// threads can share it; no result depends on how it was cut.
#ifndef ACUITY_METRICS_IWSSIM_CPU_H
#define ACUITY_METRICS_IWSSIM_CPU_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "metrics/iwssim/information.h"
#include "metrics/iwssim/scales.h"

namespace acuity::iwssim {

/// One level of a pyramid. Before and behind each row there is room that vectors may touch and reflections are put in;
/// it always holds finite numbers.
struct Plane {
  static constexpr size_t kBefore = 16;
  static constexpr size_t kBehind = 64;

  float* first = nullptr;  // sample (0, 0)
  size_t stride = 0;
  Size size;

  static size_t stride_of(Size size) { return kBefore + round_up(static_cast<size_t>(size.width), kBefore) + kBehind; }
  static size_t cost(Size size) { return Arena::cost<float>(stride_of(size) * static_cast<size_t>(size.height)); }
  static Plane take(Arena& arena, Size size);

  float* row(int y) const { return first + static_cast<size_t>(y) * stride; }
};

/// Where the rows that pyramid stages work in begin; it has this many floats.
size_t pyramid_scratch_floats(int width);

/// Rows y_begin .. y_end - 1 of the next level of the Laplacian pyramid's Gaussian one.
void reduce_rows(const Plane& level, int y_begin, int y_end, const Plane& next, float* scratch);
/// Turns rows y_begin .. y_end - 1 of a level into the subband: what the next level does not hold of it.
void subtract_expanded(const Plane& level, int y_begin, int y_end, const Plane& next, float* scratch);
/// Rows y_begin .. y_end - 1 of the next level of the classic pyramid: means of 2 x 2.
void halve_rows(const Plane& level, int y_begin, int y_end, const Plane& next);
/// What reduce_rows expects to find beside a row of its input.
void reflect_ends(float* row, int width);

/// The next subband, seen from the places of this one.
struct Parent {
  const Plane* plane = nullptr;  // null: there is none
  std::span<const ParentPlace> rows;
  const int32_t* column_firsts = nullptr;  // for each column, and kBehind more that may be read
  const float* column_fractions = nullptr;
};

/// The products of one row of tiles of a subband of the reference.
void sum_products(const Plane& subband, const Parent& parent, int tile_row, TileProducts* tiles);

/// A scale to be compared.
struct Comparison {
  const Plane* reference = nullptr;
  const Plane* distorted = nullptr;
  bool subband = false;                      // a subband of the Laplacian pyramid, whose samples lie about zero
  bool with_luminance = false;               // the last scale's loss includes that of luminance ...
  float middle = 0;                          // ... where this is what zero stands for
  const Information* information = nullptr;  // null: losses are not weighted
  Parent parent;                             // only for weights
  TileSums* tiles = nullptr;                 // of the whole scale
  float* map = nullptr;                      // the loss of each place, times its weight; null: not wanted
};

/// Columns of losses that one call works on, and how many calls a row of them takes.
inline constexpr int kCellColumns = 4 * kTileWidth;
inline int cell_count(Size scale) { return (loss_size(scale).width + kCellColumns - 1) / kCellColumns; }

size_t comparison_scratch_floats();

/// The losses of rows of tiles tile_row_begin .. tile_row_end - 1, in one cell of columns.
void compare_cell(const Comparison& comparison, int cell, int tile_row_begin, int tile_row_end, float* scratch);

}  // namespace acuity::iwssim

#endif
