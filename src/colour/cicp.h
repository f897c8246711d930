// SPDX-License-Identifier: BSD-2-Clause-Patent
// Coding-independent code points: the numbers of ITU-T H.273 with which PNG, AVIF and video name a colour space.
#ifndef ACUITY_COLOUR_CICP_H
#define ACUITY_COLOUR_CICP_H

#include <string_view>

#include "acuity/image.h"
#include "acuity/status.h"

namespace acuity {

/// The code point that says nothing: for the primaries and the transfer sRGB's are taken, and the caller records that.
inline constexpr int kCicpUnspecified = 2;

/// What the code points say about samples. An ImageView holds grey or RGB at full range, so `matrix` must be 0 and
/// `full_range` true: a decoder that turned YCbCr into RGB has honoured the file's own matrix and range by then.
/// `name` is the picture's, for messages.
Result<Colour> colour_from_cicp(int primaries, int transfer, int matrix, bool full_range, std::string_view name);

/// Gives a colour these chromaticities: by name where they are those of a named set, otherwise as custom ones.
void set_chromaticities(Colour& colour, const Chromaticities& chromaticities);

}  // namespace acuity

#endif
