// SPDX-License-Identifier: BSD-2-Clause-Patent
// From sums over the pixels of each scale to the score. Host code, the same for all devices.
#ifndef ACUITY_METRICS_DSSIM_POOLING_H
#define ACUITY_METRICS_DSSIM_POOLING_H

#include <cstddef>
#include <span>
#include <vector>

#include "acuity/score.h"

namespace acuity::dssim {

inline constexpr size_t kScales = 5;

struct Size {
  int width = 0;
  int height = 0;

  double pixels() const { return static_cast<double>(width) * static_cast<double>(height); }
};

/// The sizes of the scales of a picture: halved, rounding down, while both sides have at least 8 pixels.
std::vector<Size> scale_sizes(int width, int height);

/// The sums of a scale's tiles, in raster order.
double add_tiles(std::span<const float> tiles);

/// What the errors of a scale's pixels are compared with, from their sum over the picture: 1 - m^(1/2^scale), where m
/// is the mean SSIM or zero if that is negative.
float expected_error(double error_sum, Size size, size_t scale);

/// The similarity of a scale, from the sum of its deviations.
double scale_similarity(double deviation_sum, Size size);

/// The weight of a scale among `count`; they add up to 1.
double weight(size_t scale, size_t count);

/// The score of a picture with these similarities, one a scale.
double score_of(std::span<const double> similarities);

/// The difference map of the whole: the errors of all scales, each pixel's own, by the scales' weights.
DifferenceMap combined_map(std::span<const DifferenceMap> scales);

}  // namespace acuity::dssim

#endif
