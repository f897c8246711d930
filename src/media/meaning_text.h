// SPDX-License-Identifier: BSD-2-Clause-Patent
// Words for what samples mean.
#ifndef ACUITY_MEDIA_MEANING_TEXT_H
#define ACUITY_MEDIA_MEANING_TEXT_H

#include <string>
#include <vector>

#include "acuity/image.h"

namespace acuity {

/// "sRGB", "a BT.1886 display", "PQ"; not for profiles.
std::string describe_transfer(const Colour& colour);
/// "BT.709 primaries"; not for profiles.
std::string describe_primaries(const Colour& colour);

/// What is said of a picture whose file does not say its transfer function, its primaries or both.
std::vector<std::string> assumed_colour(const Colour& colour, bool says_transfer, bool says_primaries);

}  // namespace acuity

#endif
