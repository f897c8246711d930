// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to rows of samples, compiled for each instruction set.
#ifndef ACUITY_METRICS_CIEDE2000_ROWS_H
#define ACUITY_METRICS_CIEDE2000_ROWS_H

#include <array>

namespace acuity::ciede2000 {

/// Y', Cb and Cr of a row, as many of each: aligned, with finite floats up to a multiple of 16.
using PixelRow = std::array<const float*, 3>;

/// Columns are worked on in pieces of this many.
constexpr int kChunk = 256;

/// Sums of every 16th difference of a chunk, from left to right.
using Parts = std::array<double, 16>;

/// The sum of the colour differences of up to a chunk of columns from `begin`, which is a multiple of 16: its parts are
/// added by halves. Chunks are added in raster order.
double sum_of_differences(const PixelRow& reference, const PixelRow& distorted, int depth, int begin, int count);

}  // namespace acuity::ciede2000

#endif
