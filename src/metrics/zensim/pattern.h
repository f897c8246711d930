// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where pictures go beyond their edges, and what lies behind transparent pixels.
#ifndef ACUITY_METRICS_ZENSIM_PATTERN_H
#define ACUITY_METRICS_ZENSIM_PATTERN_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace acuity::zensim {

/// Which of `count` samples stands at place i >= 0 of a row or column that goes on by mirroring; edges are not doubled.
inline int mirrored_place(int i, int count) {
  if (count == 1) return 0;
  const int turn = i % (2 * (count - 1));
  return std::min(turn, 2 * (count - 1) - turn);
}

inline constexpr size_t kPattern = 4096;

/// Greys, in linear light, that transparent pixels lie on.
const std::array<float, kPattern>& pattern();

/// Which of them lies behind a pixel.
inline size_t pattern_place(int x, int y) {
  return (static_cast<uint32_t>(x) ^ (static_cast<uint32_t>(y) * 2654435761u)) & (kPattern - 1);
}

}  // namespace acuity::zensim

#endif
