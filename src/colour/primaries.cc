// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/primaries.h"

#include <cmath>

namespace acuity {
namespace {

constexpr Chromaticities kBt709{};
constexpr Chromaticities kDisplayP3{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, {0.3127, 0.3290}};
constexpr Chromaticities kBt2020{{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, {0.3127, 0.3290}};

constexpr Matrix3 kBradford{{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}};
constexpr Vector3 kIccWhite{0.9642, 1.0, 0.8249};  // the D50 of ICC.1

Vector3 xyz_of(const std::array<double, 2>& xy) { return {xy[0] / xy[1], 1, (1 - xy[0] - xy[1]) / xy[1]}; }

Matrix3 diagonal(const Vector3& v) { return {{{v[0], 0, 0}, {0, v[1], 0}, {0, 0, v[2]}}}; }

Matrix3 adaptation_between(const Vector3& from, const Vector3& to) {
  const Vector3 a = kBradford * from, b = kBradford * to;
  return *inverse(kBradford) * (diagonal({b[0] / a[0], b[1] / a[1], b[2] / a[2]}) * kBradford);
}

bool near(const std::array<double, 2>& a, const std::array<double, 2>& b) {
  return std::abs(a[0] - b[0]) <= 5e-5 && std::abs(a[1] - b[1]) <= 5e-5;
}

}  // namespace

Vector3 operator*(const Matrix3& a, const Vector3& b) {
  Vector3 product{};
  for (size_t i = 0; i < 3; ++i) product[i] = a[i][0] * b[0] + a[i][1] * b[1] + a[i][2] * b[2];
  return product;
}

Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
  Matrix3 product{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
  }
  return product;
}

std::optional<Matrix3> inverse(const Matrix3& a) {
  const auto cofactor = [&a](size_t row, size_t column) {
    const size_t r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (column + 1) % 3, c2 = (column + 2) % 3;
    return a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1];
  };
  const double determinant = a[0][0] * cofactor(0, 0) + a[0][1] * cofactor(0, 1) + a[0][2] * cofactor(0, 2);
  if (!(std::abs(determinant) > 1e-9) || !std::isfinite(determinant)) return std::nullopt;
  Matrix3 result{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) result[i][j] = cofactor(j, i) / determinant;
  }
  return result;
}

Chromaticities chromaticities_of(const Colour& colour) {
  switch (colour.primaries) {
    case Primaries::bt709:
      return kBt709;
    case Primaries::display_p3:
      return kDisplayP3;
    case Primaries::bt2020:
      return kBt2020;
    case Primaries::custom:
      break;
  }
  return colour.chromaticities;
}

bool same_primaries(const Chromaticities& a, const Chromaticities& b) {
  return near(a.red, b.red) && near(a.green, b.green) && near(a.blue, b.blue) && near(a.white, b.white);
}

std::optional<Matrix3> rgb_to_xyz(const Chromaticities& of) {
  // Not divided by y here: blue primaries of some spaces have y = 0.
  const auto direction = [](const std::array<double, 2>& xy) { return Vector3{xy[0], xy[1], 1 - xy[0] - xy[1]}; };
  const Vector3 red = direction(of.red), green = direction(of.green), blue = direction(of.blue);
  const Matrix3 columns{{{red[0], green[0], blue[0]}, {red[1], green[1], blue[1]}, {red[2], green[2], blue[2]}}};
  const std::optional<Matrix3> inverted = inverse(columns);
  if (!inverted || !(of.white[1] > 1e-3) || !std::isfinite(of.white[0]) || !std::isfinite(of.white[1])) {
    return std::nullopt;
  }
  const Matrix3 scaled = columns * diagonal(*inverted * xyz_of(of.white));
  if (!inverse(scaled)) return std::nullopt;
  return scaled;
}

Matrix3 adaptation(const std::array<double, 2>& from_white, const std::array<double, 2>& to_white) {
  return adaptation_between(xyz_of(from_white), xyz_of(to_white));
}

std::optional<Matrix3> to_bt709(const Chromaticities& from) {
  const std::optional<Matrix3> xyz = rgb_to_xyz(from);
  if (!xyz) return std::nullopt;
  const Matrix3 from_xyz = *inverse(*rgb_to_xyz(kBt709));
  if (near(from.white, kBt709.white)) return from_xyz * *xyz;
  const Matrix3 adapted = from_xyz * (adaptation(from.white, kBt709.white) * *xyz);
  if (!inverse(adapted)) return std::nullopt;
  return adapted;
}

Matrix3 icc_xyz_to_bt709() {
  return *inverse(*rgb_to_xyz(kBt709)) * adaptation_between(kIccWhite, xyz_of(kBt709.white));
}

}  // namespace acuity
