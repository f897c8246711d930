// SPDX-License-Identifier: BSD-2-Clause-Patent
// From sums over tiles to the 108 sub-scores, and from those to the score.
#ifndef ACUITY_METRICS_SSIMULACRA2_POOLING_H
#define ACUITY_METRICS_SSIMULACRA2_POOLING_H

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "acuity/score.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity::ssimulacra2 {

inline constexpr int kScales = 6;
inline constexpr int kMinimumSide = 8;

struct Size {
  int width = 0;
  int height = 0;
};

/// The sizes of the scales of a picture: halved, rounding up, as long as the scale before has at least 8 pixels a side.
std::vector<Size> scale_sizes(int width, int height);

enum Norm { kMean, kFourth, kNorms };
enum Map { kSsim, kRinging, kBlur, kMaps };

/// The sub-scores of one scale.
struct ScaleErrors {
  double value[kChannels][kNorms][kMaps];
};

ScaleErrors pool_tiles(std::span<const TileSums> tiles, Size size);
/// Of all scales, whose tiles lie one behind the other.
std::vector<ScaleErrors> pool_scales(const TileSums* tiles, std::span<const Size> sizes);

/// The weight of a sub-score. The reference numbers the weights over the scales that exist, so in pictures too small
/// for six scales they belong to other sub-scores than in large ones; that is kept.
double weight(int scale_count, int channel, int scale, Norm norm, Map map);

double score_of(std::span<const ScaleErrors> scales);

/// Every sub-score by name, e.g. "y_scale2_norm4_ringing".
std::vector<NamedValue> named_errors(std::span<const ScaleErrors> scales);

/// The share of each pixel of one scale in the weighted sum the score is made from; see docs/metrics/ssimulacra2.md.
MapWeights map_weights(std::span<const ScaleErrors> scales, int scale);

}  // namespace acuity::ssimulacra2

#endif
