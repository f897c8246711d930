// SPDX-License-Identifier: BSD-2-Clause-Patent
// One scale of DSSIM on the CPU: what goes in, what comes out, and the memory it works in.
//
// The picture is cut into cells: some columns wide, some rows of tiles high. A cell is walked from its top down.
// Each row of pixels becomes Lab, is blurred along the row, then down the columns, and so on to the errors, from rings
// of a few rows; so the only planes of picture size are the errors, which pooling looks at twice, and the next scale's
// light. What a cell needs of its neighbours, four rows and columns all round, it works out for itself.
#ifndef ACUITY_METRICS_DSSIM_SCALE_H
#define ACUITY_METRICS_DSSIM_SCALE_H

#include <array>
#include <cstddef>

#include "acuity/image.h"
#include "acuity/input.h"
#include "colour/rows.h"
#include "metrics/dssim/pooling.h"
#include "sums/tiles.h"

namespace acuity::dssim {

inline constexpr int kCellColumns = 16 * kTileWidth;
inline constexpr int kMargin = 4;  // pixels beyond its edges that a cell looks at: two blurs of two

/// Floats before and after each row of a plane that may be read, and after it overwritten, whatever they hold.
inline constexpr size_t kRowMargin = 16;

/// Planes of floats that share a stride (in floats): red, green, blue and perhaps alpha, or lightness, a, b.
struct Planes {
  std::array<float*, 4> channel{};
  size_t stride = 0;

  float* row(size_t c, int y) const { return channel[c] + static_cast<size_t>(y) * stride; }
};

/// A picture as it comes in. Alpha, where there is any, is kept apart from the colour.
struct Picture {
  const Rows* rows = nullptr;
  const ImageView* alpha = nullptr;  // the view to read it from; null: opaque
  const Input* input = nullptr;      // that both are of
};

/// Where the pixels of one picture come from at one scale: exactly one of the three.
struct ScaleReader {
  const Picture* picture = nullptr;  // the picture itself
  const Planes* light = nullptr;     // a smaller scale: linear light, premultiplied where there is alpha
  const Planes* prepared = nullptr;  // lightness, a, b, the latter two blurred: made by prepare_cell
  bool has_alpha = false;
};

/// A part of a scale. x_begin and y_begin are multiples of a tile's sides.
struct Cell {
  int x_begin, x_end, y_begin, y_end;
};

struct Scale {
  Size size;
  std::array<ScaleReader, 2> readers;   // reference, distorted
  std::array<const Planes*, 2> next{};  // where the next scale's light goes; null: nowhere
  float* errors = nullptr;              // 1 - SSIM of every pixel
  size_t errors_stride = 0;
  float* tiles = nullptr;  // a sum for each tile, row by row
};

/// Bytes of scratch a worker needs.
size_t scratch_bytes();

/// The errors of a cell, and their sums by tiles.
void score_cell(const Scale& scale, const Cell& cell, std::byte* scratch);

/// Sums, by tiles, of how far the errors of a cell are from `expected`.
void sum_deviations(const Scale& scale, const Cell& cell, float expected);

/// What a scale needs of the reference alone. `prepared` receives it, `next` the next scale's light, unless null.
void prepare_cell(const ScaleReader& reader, Size size, const Cell& cell, const Planes& prepared, const Planes* next,
                  std::byte* scratch);

}  // namespace acuity::dssim

#endif
