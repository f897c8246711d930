// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ciede2000/few_colours.h"

namespace acuity::ciede2000 {

FewColours::Pair* FewColours::Pairs::find(const Codes& reference, const Codes& distorted) {
  for (size_t i = 0; i < count; ++i) {
    if (all[i].is(reference, distorted)) return &all[i];
  }
  return nullptr;
}

std::optional<FewColours::Pairs> FewColours::find(const PixelRow& reference, const PixelRow& distorted, int begin,
                                                  int count) {
  Pairs found;
  Pair* last = nullptr;
  for (int x = begin; x < begin + count; ++x) {
    const Codes r = {reference[0][x], reference[1][x], reference[2][x]};
    const Codes d = {distorted[0][x], distorted[1][x], distorted[2][x]};
    if (r == d) continue;
    if (last == nullptr || !last->is(r, d)) {
      last = found.find(r, d);
      if (last == nullptr) {
        if (found.count == found.all.size()) return std::nullopt;
        last = &found.all[found.count++];
        *last = {r, d, 0, 0};
      }
    }
    ++last->pixels;
  }
  return found;
}

double FewColours::sum_of(Pairs& found) {
  double sum = 0;
  for (size_t i = 0; i < found.count; ++i) {
    Pair& pair = found.all[i];
    const Pair* known = known_.find(pair.reference, pair.distorted);
    pair.difference = known != nullptr ? known->difference
                                       : static_cast<double>(exact_difference(pair.reference, pair.distorted, depth_));
    sum += pair.pixels * pair.difference;
  }
  known_ = found;
  return sum;
}

}  // namespace acuity::ciede2000
