// SPDX-License-Identifier: BSD-2-Clause-Patent
// The sums of scaling, with the vectors of the CPU. A pixel is four floats. Every product and sum is rounded by itself,
// and the sums go from the first sample to the last.
#ifndef ACUITY_MEDIA_SCALE_ROWS_H
#define ACUITY_MEDIA_SCALE_ROWS_H

#include "media/scale.h"

namespace acuity {

/// A row of as many pixels as there are weights for.
void scale_across(const float* row, const ScaleWeights& weights, float* to);

/// Adds a row of `count` floats, times its weight, to a sum; the first row of a sum replaces what stands there.
void add_row(const float* row, float weight, bool is_first, size_t count, float* sum);

}  // namespace acuity

#endif
