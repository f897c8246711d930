// SPDX-License-Identifier: BSD-2-Clause-Patent
// ICC profiles through lcms2: how the samples of a picture with a profile become linear BT.709 light.
#ifndef ACUITY_COLOUR_ICC_H
#define ACUITY_COLOUR_ICC_H

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "acuity/status.h"
#include "colour/primaries.h"
#include "colour/samples.h"

namespace acuity {

/// A profile as at most three steps, each of which may be called from several threads at once.
struct IccConversion {
  std::string name;               ///< the profile's own description
  bool is_srgb = false;           ///< equal to sRGB as far as 8-bit samples can tell; the steps below need not be taken
  std::array<Curve, 3> curves;    ///< per channel (grey: the first); empty: samples go on unchanged
  std::optional<Matrix3> matrix;  ///< after the curves
  /// For profiles that are more than curves and a matrix: encoded pixels to light, in place.
  std::function<void(float* red, float* green, float* blue, int count)> pixels;
};

/// `grey` says what the samples are. Grey samples may come with an RGB profile, which then sees three equal samples.
Result<IccConversion> read_icc(std::span<const uint8_t> profile, bool grey);

}  // namespace acuity

#endif
