// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to rows of samples, compiled for each instruction set. All sums are whole numbers and exact: in 32 bits
// for samples of 8 bits, in double for deeper ones.
#ifndef ACUITY_METRICS_SSIM_ROWS_H
#define ACUITY_METRICS_SSIM_ROWS_H

#include <array>
#include <cstddef>

#include "base/memory.h"

namespace acuity::ssim {

inline constexpr int kReach = 4;  // samples the window has to either side of its middle
inline constexpr int kMoments = 5;
inline constexpr std::array<int, kReach + 1> kWeights = {68, 55, 28, 9, 2};  // from the middle
inline constexpr size_t kMargin = 16;                                        // elements before and after a row

inline size_t padded_row(int width) { return round_up(static_cast<size_t>(width), kMargin) + 2 * kMargin; }
inline size_t element_bytes(int depth) { return depth == 8 ? 4 : 8; }

/// Sums along the row of a, b, a^2, b^2 and ab under the window, whose part outside the row counts nothing: each a row
/// without margins. `scratch` has room for five padded rows whose margins are zero, and keeps them so.
void sum_along_row(const std::byte* a, const std::byte* b, int depth, int width, void* scratch,
                   const std::array<void*, kMoments>& sums);

/// SSIM of a row of windows, times their weights: from nine rows of sums along rows.
struct WindowRow {
  std::array<std::array<const void*, 2 * kReach + 1>, kMoments> sums;
  const double* weights_along;  // of the part of the window inside the row, for each column
  double weight_down;
  double c1, c2;
};
void compare_row(const WindowRow& row, int depth, int width, double* out);

}  // namespace acuity::ssim

#endif
