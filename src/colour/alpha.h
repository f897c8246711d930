// SPDX-License-Identifier: BSD-2-Clause-Patent
// For metrics that composite pictures themselves: colour and transparency apart.
#ifndef ACUITY_COLOUR_ALPHA_H
#define ACUITY_COLOUR_ALPHA_H

#include "acuity/image.h"

namespace acuity {

/// The same pixels, all of them opaque.
ImageView without_alpha(const ImageView& view);

/// The alpha, 0 .. 1, of pixels x_begin .. x_end - 1 of row y of a view that has it.
void read_alpha(const ImageView& view, int y, int x_begin, int x_end, float* alpha);

}  // namespace acuity

#endif
