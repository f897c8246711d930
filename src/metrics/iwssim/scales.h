// SPDX-License-Identifier: BSD-2-Clause-Patent
// What every device shares: the five scales, what is summed over each of them, and how those sums become the values of
// the scales and the score.
#ifndef ACUITY_METRICS_IWSSIM_SCALES_H
#define ACUITY_METRICS_IWSSIM_SCALES_H

#include <array>
#include <span>
#include <vector>

#include "acuity/score.h"
#include "sums/tiles.h"

namespace acuity::iwssim {

inline constexpr int kScales = 5;
inline constexpr int kMinimumSide = 176;  // 11 << 4: the window still fits in the last scale
inline constexpr int kWindow = 11;
inline constexpr int kBorder = kWindow / 2;  // samples at each edge that have no loss of their own

/// Which metric: they differ in their pyramid and in what the losses of a scale are weighted by.
enum class Kind {
  information,  ///< IW-SSIM
  laplacian,    ///< its pyramid, without weights
  classic,      ///< MS-SSIM as published in 2003
};

struct Size {
  int width = 0;
  int height = 0;
};

/// The sizes of the scales: halved, rounding up.
std::array<Size, kScales> scale_sizes(int width, int height);

/// Where losses exist: the window must lie in the picture.
inline Size loss_size(Size scale) { return {scale.width - 2 * kBorder, scale.height - 2 * kBorder}; }

/// Sums of one tile of losses.
struct TileSums {
  float loss = 0;
  float weighted_loss = 0;  // weighted scales only
  float weight = 0;
};

/// The sums over one scale, the tiles row by row.
struct ScaleSums {
  double loss = 0;
  double weighted_loss = 0;
  double weight = 0;
};
ScaleSums add_tiles(std::span<const TileSums> tiles);

/// 1 minus the mean loss, weighted where there are weights. Where all weights are zero nothing is to be seen in either
/// picture, and the plain mean counts.
double scale_value(const ScaleSums& sums, Size scale);

/// What zero stands for in the last scale: luma is counted from 128, and the Laplacian pyramid has a gain of 2 a level.
inline float middle_of(Kind kind) { return kind == Kind::classic ? 128.0f : 2048.0f; }

/// The exponents of the scales, as 32-bit floats hold them.
double exponent(int scale);
/// The product of the values to their exponents. Negative values, of pictures whose structure is inverted, count by
/// their size in the first two kinds, as in the reference, and as zero in the classic one.
double score_of(Kind kind, const std::array<double, kScales>& values);

std::vector<NamedValue> named_values(const std::array<double, kScales>& values);

}  // namespace acuity::iwssim

#endif
