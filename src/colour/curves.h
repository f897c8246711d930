// SPDX-License-Identifier: BSD-2-Clause-Patent
// Names for what can happen to a sample, as the kernel dialect and C++ both read them: macros alone. colour/math.h has
// the functions.
#ifndef ACUITY_COLOUR_CURVES_H
#define ACUITY_COLOUR_CURVES_H

// How an encoded sample becomes light. Some have a parameter, a.
#define CURVE_SCALE 0        // times a
#define CURVE_SRGB 1         // IEC 61966-2-1
#define CURVE_SRGB_LIBJXL 2  // libjxl's approximation of it
#define CURVE_SRGB_SINGLE 3  // the curve itself in single precision; differs from it in tables only
#define CURVE_POWER 4        // to the power a
#define CURVE_PQ 5           // SMPTE ST 2084, times a, which is what 10000 nit are
#define CURVE_HLG 6          // BT.2100, scene light
#define CURVE_SRGB_SMOOTH 7  // sRGB with constants that leave no step between its two parts
#define CURVE_OF_PROFILE 8   // of an ICC profile; has no function in the dialect

// What may be done to a pixel then, in this order; each is one bit.
#define STEP_SHOW_HLG 1  // the display's part of HLG, by the brightness of the pixel
#define STEP_MATRIX 2    // to BT.709 primaries
#define STEP_CODES 4     // light to sRGB codes

#endif
