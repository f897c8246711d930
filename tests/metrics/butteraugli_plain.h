// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli by whole planes, one float at a time, from the same math.h: nothing to get wrong about cells, rings,
// margins and vectors, so what the library gives must be equal to it.
#ifndef ACUITY_TESTS_METRICS_BUTTERAUGLI_PLAIN_H
#define ACUITY_TESTS_METRICS_BUTTERAUGLI_PLAIN_H

#include <vector>

#include "acuity/image.h"

namespace acuity::tests {

/// The map of two opaque sRGB pictures with default options.
std::vector<float> plain_butteraugli(const ImageView& reference, const ImageView& distorted);

}  // namespace acuity::tests

#endif
