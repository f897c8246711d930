// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_COLOUR_SRGB_CODES_H
#define ACUITY_COLOUR_SRGB_CODES_H

namespace acuity {

/// Light to sRGB codes, 0 .. 255, in place. For pictures whose channels were mixed, which no table can hold.
void encode_srgb_codes(float* samples, int count);

}  // namespace acuity

#endif
