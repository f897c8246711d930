// SPDX-License-Identifier: BSD-2-Clause-Patent
// The four scales of ADM: how large they are, which part of each counts, and the order in which their rows are made.
//
// Each scale filters the rows of the one before (scale 0 those of the picture) into an approximation of half the size,
// which the next one works on, and into three subbands of details. A row is made as soon as what it needs is there, so
// that a few rows of each scale are all there ever is in memory.
#ifndef ACUITY_METRICS_ADM_SCALES_H
#define ACUITY_METRICS_ADM_SCALES_H

#include <array>
#include <cstddef>

namespace acuity::adm {

constexpr int kScales = 4;
constexpr int kSubbands = 3;  // horizontal, vertical and diagonal details, always in this order

/// A row of each.
template <typename T>
using Subbands = std::array<T*, kSubbands>;

/// Below this the last scale would have less than two rows or columns.
constexpr int kLeastSide = 17;

/// Columns are made in groups of this many, for all widths of vectors alike.
constexpr int kColumnGroup = 32;

struct ScaleShape {
  int input_width = 0;
  int input_height = 0;
  int width = 0;
  int height = 0;
  // What is summed: a tenth of the picture is left out at each side, except where that is less than a sample.
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;
  // What is made: the above, its neighbours, and what the next scale wants. The first column is that of a group.
  int first_column = 0;
  int end_column = 0;
  int first_row = 0;
  int end_row = 0;

  int first_masked_row() const { return top > 0 ? top - 1 : 0; }
  int end_masked_row() const { return bottom < height ? bottom + 1 : height; }
  int first_masked_column() const { return left > 0 ? (left - 1) / kColumnGroup * kColumnGroup : 0; }
  int end_masked_column() const { return right < width ? right + 1 : width; }
  double area() const { return static_cast<double>((bottom - top) * (right - left)); }

  /// The input rows that make a row: the picture is mirrored at its edges, at the upper one without doubling its row.
  std::array<int, 4> inputs_of(int row) const;
};

using ScaleShapes = std::array<ScaleShape, kScales>;
ScaleShapes scale_shapes(int width, int height);

/// Puts the mirror image of its ends around a row of `width` samples: one before, two behind.
template <typename T>
void mirror_ends(T* row, int width) {
  row[-1] = row[1];
  row[width] = row[width - 1];
  row[width + 1] = row[width - 2];
}

/// Makes the rows of scale `index` for which the first `available` rows of input are enough, and those of the scales
/// after it. A scale offers shape(), and these, each for one row:
///   filter(row, inputs)      makes the subbands, and the input row of the next scale
///   decouple(row)            of the subbands
///   mask(above, row, below)  of rows that are decoupled
template <class Scale>
void make_rows(std::array<Scale, kScales>& scales, std::array<int, kScales>& next_rows, size_t index, int available) {
  Scale& scale = scales[index];
  const ScaleShape& shape = scale.shape();
  while (next_rows[index] < shape.end_row) {
    const int row = next_rows[index];
    const std::array<int, 4> inputs = shape.inputs_of(row);
    if (inputs[2] >= available || inputs[3] >= available) return;
    next_rows[index] = row + 1;
    scale.filter(row, inputs);
    if (scale.has_details() && row >= shape.first_masked_row() && row < shape.end_masked_row()) {
      scale.decouple(row);
      if (row - 1 >= shape.top) scale.mask(row == 1 ? 1 : row - 2, row - 1, row);
      if (row == shape.height - 1 && shape.bottom == shape.height) scale.mask(row - 1, row, row);
    }
    if (index + 1 < kScales) make_rows(scales, next_rows, index + 1, row + 1);
  }
}

template <class Scale>
void make_all_rows(std::array<Scale, kScales>& scales) {
  std::array<int, kScales> next_rows{};
  for (size_t s = 0; s < kScales; ++s) next_rows[s] = scales[s].shape().first_row;
  make_rows(scales, next_rows, 0, scales[0].shape().input_height);
}

}  // namespace acuity::adm

#endif
