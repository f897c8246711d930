// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 as its formulas say, in double precision and without the recursive filter: plane by plane, nothing fused,
// nothing shared with the library but the weights. It shows how far the rounding of the reference carries its scores.
#ifndef ACUITY_TESTS_METRICS_SSIMULACRA2_EXACT_H
#define ACUITY_TESTS_METRICS_SSIMULACRA2_EXACT_H

#include "acuity/image.h"

namespace acuity::tests {

/// The response of the recursive filter in exact arithmetic, centre outwards; gaussian_test.cc derives it.
inline constexpr double kGaussianTaps[5] = {0.26462110548819866, 0.21292859201042236, 0.10933537277746042,
                                            0.036011114658364318, 0.0094143678096535687};

/// Of two opaque 8-bit sRGB pictures of one size.
double exact_ssimulacra2(const ImageView& reference, const ImageView& distorted);

}  // namespace acuity::tests

#endif
