// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_BASE_LIBRARY_POWER_H
#define ACUITY_BASE_LIBRARY_POWER_H

namespace acuity {

/// x^y in float as the C library of GNU/Linux computes it on processors with fused multiply-add: one result in some
/// 1700 is not the float nearest to the exact value, and published scores of libvmaf contain such results. For x >= 0
/// and y > 0, both finite.
float library_power(float x, float y);

}  // namespace acuity

#endif
