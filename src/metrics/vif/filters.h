// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Gaussian windows of the four scales, as whole numbers that sum to 65536, and how they are cut for instructions
// that multiply two neighbouring samples by two weights and add.
#ifndef ACUITY_METRICS_VIF_FILTERS_H
#define ACUITY_METRICS_VIF_FILTERS_H

#include <algorithm>
#include <cstdint>

namespace acuity::vif {

inline constexpr int kScales = 4;

/// How many samples a window reaches to each side.
inline constexpr int kRadius[kScales] = {8, 4, 2, 1};

/// From the middle outwards.
inline constexpr int kWeights[kScales][9] = {
    {7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489},
    {14692, 12590, 7925, 3663, 1244},
    {26386, 16004, 3571},
    {43728, 10904},
};

// Two results next to each other, the first at an even place, are made of the same pairs of samples. The pairs begin at
// even places too, `kReach` before the first result.
inline constexpr int kReach[kScales] = {8, 4, 2, 2};
inline constexpr int kPairs[kScales] = {9, 5, 3, 3};

constexpr int weight(int scale, int offset) {
  const int distance = offset < 0 ? -offset : offset;
  return distance > kRadius[scale] ? 0 : kWeights[scale][distance];
}

/// The weights of the pair of that number for the first or second (0 or 1) of two results. A weight that signed 16 bits
/// cannot hold comes in two parts.
struct PairWeights {
  int first = 0;
  int second = 0;
  constexpr bool none() const { return first == 0 && second == 0; }
  /// As two 16-bit lanes.
  constexpr int32_t packed() const { return static_cast<int32_t>(static_cast<uint32_t>(second) << 16) | first; }
};

constexpr PairWeights pair_weights(int scale, int pair, int result, int part) {
  const auto take = [&](int offset) {
    const int whole = weight(scale, offset), most = std::min(whole, 32767);
    return part == 0 ? most : whole - most;
  };
  const int offset = 2 * pair - kReach[scale] - result;
  return {take(offset), take(offset + 1)};
}

/// pair_weights, packed, by scale, pair, result and part. They are defined elsewhere so that compilers load a weight
/// once and keep it, instead of writing it into every instruction as a vector in memory.
struct PackedWeights {
  int32_t of[kScales][9][2][2];
};
extern const PackedWeights kPackedWeights;

}  // namespace acuity::vif

#endif
