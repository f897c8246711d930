// SPDX-License-Identifier: BSD-2-Clause-Patent
// MS-SSIM evaluated in double precision, formula by formula, for 8-bit RGB: what the float arithmetic of the library is
// held against. Slow.
#ifndef ACUITY_TESTS_METRICS_MSSSIM_EXACT_H
#define ACUITY_TESTS_METRICS_MSSSIM_EXACT_H

#include <array>

#include "acuity/image.h"

namespace acuity::tests {

struct ExactMsssim {
  double value = 0;
  std::array<double, 5> scales{};
};

/// Both sides at least 176.
ExactMsssim exact_msssim(const ImageView& reference, const ImageView& distorted);

}  // namespace acuity::tests

#endif
