// SPDX-License-Identifier: BSD-2-Clause-Patent
// The part of the information weights that is the same for a whole subband: from sums of products over the reference to
// the figures that IMPROBABILITY and INFORMATION of math.h ask for. In double, and one code for all devices.
#ifndef ACUITY_METRICS_IWSSIM_INFORMATION_H
#define ACUITY_METRICS_IWSSIM_INFORMATION_H

#include <array>
#include <span>
#include <vector>

#include "metrics/iwssim/scales.h"

namespace acuity::iwssim {

inline constexpr int kPatterns = 9;     // PATTERNS of math.h
inline constexpr int kValues = 10;      // VALUES
inline constexpr int kValuePairs = 55;  // VALUE_PAIRS

/// The last scale has no weights, and the one before it no parent: its next subband is no subband.
inline constexpr int kWeightedScales = kScales - 1;
inline constexpr bool has_parent(int scale) { return scale + 1 < kWeightedScales; }
inline constexpr int value_count(int scale) { return has_parent(scale) ? kValues : kPatterns; }
inline constexpr int pair_count(int scale) { return has_parent(scale) ? kValuePairs : kPatterns * (kPatterns + 1) / 2; }

/// Sums of one tile, numbered by PAIR; the tiles cover what has a whole neighbourhood, so all but a border of 1.
using TileProducts = std::array<float, kValuePairs>;
inline Size neighbourhood_size(Size scale) { return {scale.width - 2, scale.height - 2}; }

struct Information {
  std::array<float, kValues> eigenvalues{};    // EIGENVALUE(i)
  std::array<float, kValuePairs> whitening{};  // COEFFICIENT(i)
};

/// From the products over all of a scale, the tiles row by row.
Information information_of(std::span<const TileProducts> tiles, int scale, Size size);

/// Where in the next subband the parent of each sample of one side lies: between samples `first` and first + 1. Where
/// the fraction is 0 there may be no second one.
struct ParentPlace {
  int first = 0;
  float fraction = 0;
};
std::vector<ParentPlace> parent_places(int side, int parent_side);

}  // namespace acuity::iwssim

#endif
