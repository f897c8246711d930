// SPDX-License-Identifier: BSD-2-Clause-Patent
// Transfer functions, both ways: how encoded samples (0 .. 1) relate to light. In double, for tables and for samples
// that no table can hold. Where a curve has no definition below 0 it is continued as an odd function, unless said
// otherwise.
#ifndef ACUITY_COLOUR_TRANSFER_H
#define ACUITY_COLOUR_TRANSFER_H

#include <string>

#include "acuity/image.h"

namespace acuity {

/// "sRGB", "gamma 2.2", "linear", ...
std::string transfer_name(const Colour& colour);

/// IEC 61966-2-1.
double srgb_to_linear(double encoded);
double linear_to_srgb(double linear);

/// The same with constants that leave no step where its two parts meet, within 5e-6 of it: what zensim computes.
double srgb_to_linear_smooth(double encoded);

/// IEC 61966-2-1 with its constants and each of its steps rounded to float, within 4e-7 of it: what dssim computes.
float srgb_to_linear_single(float encoded);

/// x ^ exponent with the sign of x; gamma curves and BT.1886 (2.4) either way.
double signed_power(double x, double exponent);

/// SMPTE ST 2084: encoded 0 .. 1 and 0 .. 10000 nit. Values outside are brought to the nearest end.
double pq_to_nits(double encoded);
double nits_to_pq(double nits);

/// The HLG curve of BT.2100: encoded and scene light, both 0 .. 1. Negative values count as 0.
double hlg_to_scene(double encoded);
double scene_to_hlg(double scene);

/// The exponent by which a display of that peak turns HLG scene light into its own (BT.2100, note 5f).
double hlg_system_gamma(double peak_nits);

}  // namespace acuity

#endif
