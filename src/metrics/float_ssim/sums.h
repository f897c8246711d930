// SPDX-License-Identifier: BSD-2-Clause-Patent
// How SSIM and its factors are added up over all windows, on the CPU and on devices alike. Windows are cut into cells
// of 32 columns and 16 rows, anchored at the first. In a cell each column is added in double: four rows from the top
// down, then these sums of four likewise. The columns are added by halves, as in sums/tiles.h, then the cells of a row
// from left to right, and those rows from the top down.
#ifndef ACUITY_METRICS_FLOAT_SSIM_SUMS_H
#define ACUITY_METRICS_FLOAT_SSIM_SUMS_H

#include <array>
#include <cstddef>

namespace acuity::float_ssim {

inline constexpr int kCellColumns = 32, kCellRows = 16;

inline int cells_along(int windows) { return (windows + kCellColumns - 1) / kCellColumns; }
inline int cells_down(int windows) { return (windows + kCellRows - 1) / kCellRows; }

/// Which sum.
enum { kSsim, kLuminance, kContrast, kStructure, kSums };
using Sums = std::array<double, kSums>;

/// Means over all windows, rounded to float as libvmaf does.
struct Similarity {
  double ssim = 0;
  double luminance = 0;
  double contrast = 0;
  double structure = 0;

  Similarity() = default;
  Similarity(const Sums& sums, double windows) {
    const auto mean = [&](size_t which) { return double{static_cast<float>(sums[which] / windows)}; };
    ssim = mean(kSsim);
    luminance = mean(kLuminance);
    contrast = mean(kContrast);
    structure = mean(kStructure);
  }
};

}  // namespace acuity::float_ssim

#endif
