// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/pattern.h"

namespace acuity::zensim {

const std::array<float, kPattern>& pattern() {
  static const std::array<float, kPattern> greys = [] {
    std::array<float, kPattern> table{};
    for (uint32_t i = 0; i < kPattern; ++i) {
      uint32_t hash = i * 2654435761u;
      hash ^= hash >> 16;
      hash *= 0x45d9f3bu;
      hash ^= hash >> 16;
      table[i] = 0.2f + static_cast<float>(hash & 65535u) * (0.6f / 65535.0f);
    }
    return table;
  }();
  return greys;
}

}  // namespace acuity::zensim
