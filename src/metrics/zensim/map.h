// SPDX-License-Identifier: BSD-2-Clause-Patent
// zensim's difference map: what each pixel of each scale adds to it, and how the scales become one.
#ifndef ACUITY_METRICS_ZENSIM_MAP_H
#define ACUITY_METRICS_ZENSIM_MAP_H

#include <array>
#include <span>
#include <vector>

#include "acuity/score.h"
#include "metrics/zensim/pooling.h"

namespace acuity::zensim {

/// The weights of map_value in math.h, by channel.
inline constexpr size_t kMapTerms = 5;
using ScaleMapWeights = std::array<std::array<float, kMapTerms>, kChannels>;

struct MapOptions {
  bool balanced = false;   // fixed weights instead of those of the profile
  bool all_terms = false;  // energy, error and detail besides structure
  double masking = 0;      // how much busy places of the reference count less
  bool square_root = false;
};

struct MapWeights {
  std::array<ScaleMapWeights, kScales> scales{};
  std::array<float, kScales> blend{};  // of the scales
};

MapWeights map_weights(Profile profile, const MapOptions& options);

/// The map of the picture, from those of the scales, which have the sizes of `layout`; `luma` is the reference's Y
/// plane in the size of the first, if there is masking.
DifferenceMap blended_map(const Layout& layout, const MapWeights& weights, const MapOptions& options,
                          const std::array<std::vector<float>, kScales>& scales, std::span<const float> luma);

}  // namespace acuity::zensim

#endif
