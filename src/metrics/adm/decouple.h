// SPDX-License-Identifier: BSD-2-Clause-Patent
// The details of one row taken apart: those of the distorted picture into what is left of the reference's ("restored")
// and what came to it ("added"), and what either adds to the thresholds that mask the other.
//
// Scale 0 has details of 16 bit, the others of 32. Rows may be read and written up to a group of columns past their
// end.
#ifndef ACUITY_METRICS_ADM_DECOUPLE_H
#define ACUITY_METRICS_ADM_DECOUPLE_H

#include <array>
#include <cstdint>

#include "metrics/adm/scales.h"

namespace acuity::adm {

/// What details add to the thresholds around them, and how much more to that at their own place.
struct Influence {
  int32_t* around = nullptr;
  int32_t* centre = nullptr;
};

/// How the parts are weighed, and how far details that only changed in strength count as restored.
struct DecoupleRule {
  std::array<uint32_t, kSubbands> factors{};  // 16 bit of each at scale 0
  double gain = 1;
  // At scale 0, libvmaf's AVX2 code computes most columns in groups, the last ones one by one, and these with
  // differences: the fraction is cut off their gains (as at all other scales) which are rounded before; weighed details
  // and their influence around overflow instead of being cut off; and so does the influence on their own place, which
  // has more than 16 bit before. How many columns come before, for each of the three:
  int rounded_columns = 0;
  int saturated_columns = 0;
  int wide_columns = 0;
};

/// For columns from begin, which is the first of a group, to end. What the restored part masks is not wanted where
/// by_restored is null.
void decouple_short(const Subbands<int16_t>& reference, const Subbands<int16_t>& distorted, int begin, int end,
                    const DecoupleRule& rule, const Subbands<int16_t>& restored, const Subbands<int16_t>& added,
                    Influence by_restored, Influence by_added);
/// ... both parts already weighed and without their signs.
void decouple_long(const Subbands<int32_t>& reference, const Subbands<int32_t>& distorted, int begin, int end,
                   const DecoupleRule& rule, const Subbands<uint32_t>& restored, const Subbands<uint32_t>& added,
                   Influence by_restored, Influence by_added);

}  // namespace acuity::adm

#endif
