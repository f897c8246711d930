// SPDX-License-Identifier: BSD-2-Clause-Patent
// The mean of the largest contrasts of a picture.
#ifndef ACUITY_METRICS_CAMBI_POOL_H
#define ACUITY_METRICS_CAMBI_POOL_H

#include <cstdint>
#include <span>

namespace acuity::cambi {

/// The sum of the `most` largest, where those not given are zero, in 2^-24, which is exact. Their order is changed. All
/// are zero, or at least 0.5 and below 2^14.
uint64_t sum_of_largest(std::span<float> values, int64_t most);

/// Of such a sum.
double mean_of(uint64_t sum, int64_t count);

}  // namespace acuity::cambi

#endif
