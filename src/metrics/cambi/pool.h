// SPDX-License-Identifier: BSD-2-Clause-Patent
// The mean of the largest contrasts of a picture.
#ifndef ACUITY_METRICS_CAMBI_POOL_H
#define ACUITY_METRICS_CAMBI_POOL_H

#include <cstdint>
#include <span>

namespace acuity::cambi {

/// The mean of the `most` largest, where those not given are zero. Their order is changed. All are zero, or at least
/// 0.5 and below 2^14.
double mean_of_largest(std::span<float> values, int64_t most);

}  // namespace acuity::cambi

#endif
