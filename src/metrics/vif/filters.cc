// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/filters.h"

namespace acuity::vif {

const PackedWeights kPackedWeights = [] {
  PackedWeights weights{};
  for (int scale = 0; scale < kScales; ++scale) {
    for (int pair = 0; pair < kPairs[scale]; ++pair) {
      for (int result = 0; result < 2; ++result) {
        for (int part = 0; part < 2; ++part) {
          weights.of[scale][pair][result][part] = pair_weights(scale, pair, result, part).packed();
        }
      }
    }
  }
  return weights;
}();

}  // namespace acuity::vif
