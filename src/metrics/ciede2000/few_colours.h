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

  static constexpr size_t kMost = 8;

  /// So many pixels of these two colours.
  struct Pair {
    Codes reference, distorted;
    int pixels;
    double difference;  // filled in by sum_of()
    bool is(const Codes& r, const Codes& d) const { return reference == r && distorted == d; }
  };
  /// Different ones, in the order in which they come first. Pixels that are alike in both frames are left out.
  struct Pairs {
    std::array<Pair, kMost> all;
    size_t count = 0;
    Pair* find(const Codes& reference, const Codes& distorted);
  };

  /// Those of `count` pixels from `begin`, if there are not too many.
  static std::optional<Pairs> find(const PixelRow& reference, const PixelRow& distorted, int begin, int count);

  /// The sum of the differences of all these pixels.
  double sum_of(Pairs& found);

 private:
  int depth_;
  Pairs known_;  // those of the last sum
};

}  // namespace acuity::ciede2000

#endif
