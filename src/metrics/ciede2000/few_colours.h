// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pixels that are all alike. What the vectors of math.h do not round as libvmaf does averages out over many different
// pixels, but not where the same two colours meet again and again: there, the exact difference is taken.
#ifndef ACUITY_METRICS_CIEDE2000_FEW_COLOURS_H
#define ACUITY_METRICS_CIEDE2000_FEW_COLOURS_H

#include <array>
#include <cstddef>
#include <optional>

#include "metrics/ciede2000/exact.h"
#include "metrics/ciede2000/rows.h"

namespace acuity::ciede2000 {

class FewColours {
 public:
  explicit FewColours(int depth) : depth_(depth) {}

  /// The sum of the differences of `count` pixels from `begin`, if they have at most eight different ones.
  std::optional<double> sum(const PixelRow& reference, const PixelRow& distorted, int begin, int count);

 private:
  struct Pair {
    Codes reference, distorted;
    int pixels;
    double difference;
    bool is(const Codes& r, const Codes& d) const { return reference == r && distorted == d; }
  };
  struct Pairs {
    std::array<Pair, 8> all;
    size_t count = 0;
    Pair* find(const Codes& reference, const Codes& distorted);
  };

  int depth_;
  Pairs known_;  // those of the last sum
};

}  // namespace acuity::ciede2000

#endif
