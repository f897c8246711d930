// SPDX-License-Identifier: BSD-2-Clause-Patent
// Ink to light: CMYK samples as 16-bit sRGB.
#ifndef ACUITY_MEDIA_CMYK_H
#define ACUITY_MEDIA_CMYK_H

#include <functional>

#include "media/decoder.h"

namespace acuity {

/// `count` pixels of 8-bit CMYK to 16-bit sRGB.
using CmykConversion = std::function<void(const uint8_t* cmyk, uint16_t* rgb, size_t count)>;

/// Through the profile, or by the plain formula when it is empty. `inverted` says that 255 stands for no ink. What was
/// done is recorded in the picture.
Result<CmykConversion> cmyk_to_srgb(const EncodedFile& encoded, Picture& picture, Bytes profile, bool inverted);

}  // namespace acuity

#endif
