// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_CIEDE2000_EXACT_H
#define ACUITY_METRICS_CIEDE2000_EXACT_H

#include <array>

namespace acuity::ciede2000 {

/// Y', Cb and Cr.
using Codes = std::array<float, 3>;

/// CIEDE2000 of two colours with samples of `depth` bits, rounded to float wherever libvmaf does. It equals libvmaf's
/// but for one result in millions, and takes microseconds: see math.h for what pictures are measured with.
float exact_difference(const Codes& reference, const Codes& distorted, int depth);

}  // namespace acuity::ciede2000

#endif
