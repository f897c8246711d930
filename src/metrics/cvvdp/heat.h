// SPDX-License-Identifier: BSD-2-Clause-Patent
// Difference maps: what is seen in each subband, and how that becomes one map.
#ifndef ACUITY_METRICS_CVVDP_HEAT_H
#define ACUITY_METRICS_CVVDP_HEAT_H

#include <vector>

#include "acuity/score.h"
#include "metrics/cvvdp/cpu.h"

namespace acuity::cvvdp {

class Heat {
 public:
  static Result<Heat> create(const std::vector<Scale>& scales);
  size_t bytes() const { return memory_.size(); }
  /// For a Subband or the Base of that scale.
  const Plane& operator[](size_t scale) const { return planes_[scale]; }
  /// Once all of them are filled in; they are used up.
  DifferenceMap map() const;

 private:
  Arena memory_;
  std::vector<Plane> planes_;
};

}  // namespace acuity::cvvdp

#endif
