// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to rows of samples, compiled for each instruction set. Rows are aligned and have finite floats after
// their end, up to padded_row().
#ifndef ACUITY_METRICS_FLOAT_SSIM_ROWS_H
#define ACUITY_METRICS_FLOAT_SSIM_ROWS_H

#include <array>
#include <cstddef>

#include "base/memory.h"
#include "metrics/float_ssim/sums.h"

namespace acuity::float_ssim {

inline constexpr int kWindow = 11;   // samples along a side of the window
inline constexpr int kMoments = 5;   // means of a, b, a^2, b^2 and ab
inline constexpr int kTogether = 4;  // rows of windows that are finished in one go

/// 1, see sum_by_multiplier().
extern const float kOne;

inline size_t padded_row(int width) { return round_up(static_cast<size_t>(width), 16) + 16; }

/// Sums of columns of windows, of up to kCellRows rows; columns are padded as rows.
using ColumnSums = std::array<double*, kSums>;

/// Adds up a row of cells from the sums of its columns.
Sums sum_cells(const ColumnSums& columns, int windows);

/// Means along the row of a, b, a^2, b^2 and ab, at each place where the window lies in the row. `scratch` has room for
/// three rows.
void mean_along_row(const float* a, const float* b, int width, float* scratch,
                    const std::array<float*, kMoments>& means);

/// `rows` rows of windows (at most kTogether) from rows + 10 rows of means along rows: means[moment][row]. Their sums
/// are added to those of the columns, or begin them.
void compare_windows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means, int rows,
                     int windows, bool begin, const ColumnSums& columns);

/// Splits a row into its even and odd samples, with four samples mirrored at either end; each half begins 16 floats
/// after its pointer.
void split_row(const float* row, int width, float* even, float* odd);
inline size_t split_floats(int width) { return padded_row((width + 1) / 2) + 16; }

/// A row of the picture at half the size while it is being summed.
struct HalvedRow {
  float* high;
  float* low;
};
/// Adds a split row's part to the halved rows that lie 4, 2, 0, -2 and -4 rows below it, or, for odd rows, 3, 1, -1 and
/// -3 rows.
void add_to_halves(const float* even, const float* odd, int count, const std::array<HalvedRow, 5>& rows, bool even_row);
/// Rounds the sums, and sets them to zero.
void finish_half(const HalvedRow& row, int count, float* out);

/// sums += row * weight.
void add_weighted(const float* row, float weight, int width, double* sums);

}  // namespace acuity::float_ssim

#endif
