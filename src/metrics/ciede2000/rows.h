// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to rows of samples, compiled for each instruction set.
#ifndef ACUITY_METRICS_CIEDE2000_ROWS_H
#define ACUITY_METRICS_CIEDE2000_ROWS_H

#include <array>

namespace acuity::ciede2000 {

/// Y', Cb and Cr of a row, as many of each: aligned, with finite floats up to a multiple of 16.
using PixelRow = std::array<const float*, 3>;

/// Sums of colour differences in 16 parts, by the column.
struct alignas(64) Sums {
  std::array<double, 16> parts{};
  double total() const;
};

/// How R', G' and B', or rather (c + 0.055) / 1.055 of each, are made of samples.
struct Channels {
  explicit Channels(int depth);
  struct Sample {
    double luma, cb, cr, offset;
  };
  std::array<Sample, 3> of;
};

/// Columns are worked on in pieces of this many.
constexpr int kChunk = 256;

/// Of up to a chunk of columns from `begin`, which is a multiple of 16.
void add_differences(const PixelRow& reference, const PixelRow& distorted, const Channels& channels, int begin,
                     int count, Sums& sums);

}  // namespace acuity::ciede2000

#endif
