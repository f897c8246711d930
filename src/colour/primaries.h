// SPDX-License-Identifier: BSD-2-Clause-Patent
// From one set of primaries to another, in linear light.
#ifndef ACUITY_COLOUR_PRIMARIES_H
#define ACUITY_COLOUR_PRIMARIES_H

#include <array>
#include <optional>

#include "acuity/image.h"

namespace acuity {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;  // rows

Vector3 operator*(const Matrix3& a, const Vector3& b);
Matrix3 operator*(const Matrix3& a, const Matrix3& b);
/// Nothing when the matrix has no inverse that can be trusted.
std::optional<Matrix3> inverse(const Matrix3& a);

/// The coordinates a Colour means, whichever way it names them.
Chromaticities chromaticities_of(const Colour& colour);
/// Equal up to the rounding of published figures to four decimal places.
bool same_primaries(const Chromaticities& a, const Chromaticities& b);

/// RGB to CIE XYZ with white at Y = 1. Nothing when the coordinates do not span a colour space.
std::optional<Matrix3> rgb_to_xyz(const Chromaticities& of);
/// Bradford adaptation of XYZ from one white to another (xy coordinates).
Matrix3 adaptation(const std::array<double, 2>& from_white, const std::array<double, 2>& to_white);
/// RGB to BT.709 RGB; whites are mapped onto each other.
std::optional<Matrix3> to_bt709(const Chromaticities& from);
/// XYZ relative to the D50 white of ICC profiles, to BT.709 RGB.
Matrix3 icc_xyz_to_bt709();

}  // namespace acuity

#endif
