// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/primaries.h"

#include <gtest/gtest.h>

namespace acuity {
namespace {

void expect_near(const Matrix3& a, const Matrix3& b, double tolerance) {
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(a[i][j], b[i][j], tolerance) << i << "," << j;
  }
}

constexpr Chromaticities kP3{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, {0.3127, 0.3290}};
constexpr Chromaticities kBt2020{{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, {0.3127, 0.3290}};
constexpr Chromaticities kProPhoto{{0.734699, 0.265301}, {0.159597, 0.840403}, {0.036598, 0.000105}, {0.3457, 0.3585}};

TEST(Primaries, PublishedMatrices) {
  // IEC 61966-2-1 for sRGB, ITU-R BT.2087 for BT.2020, Apple's and the W3C's figures for P3.
  expect_near(*rgb_to_xyz({}), {{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}}, 6e-5);
  expect_near(*rgb_to_xyz(kBt2020), {{{0.6370, 0.1446, 0.1689}, {0.2627, 0.6780, 0.0593}, {0.0000, 0.0281, 1.0610}}},
              6e-5);
  expect_near(*to_bt709(kBt2020),
              {{{1.6605, -0.5876, -0.0728}, {-0.1246, 1.1329, -0.0083}, {-0.0182, -0.1006, 1.1187}}}, 6e-5);
  expect_near(*to_bt709(kP3), {{{1.22494, -0.22494, 0}, {-0.04206, 1.04206, 0}, {-0.01964, -0.07864, 1.09827}}}, 1e-5);
}

TEST(Primaries, WhiteStaysWhite) {
  for (const Chromaticities& from : {Chromaticities{}, kP3, kBt2020, kProPhoto}) {
    const Vector3 white = *to_bt709(from) * Vector3{1, 1, 1};
    for (double value : white) EXPECT_NEAR(value, 1, 1e-12);
  }
  const Vector3 from_icc = icc_xyz_to_bt709() * Vector3{0.9642, 1.0, 0.8249};
  for (double value : from_icc) EXPECT_NEAR(value, 1, 1e-12);
}

TEST(Primaries, BradfordMatchesLindbloom) {
  // D65 to D50 as published at brucelindbloom.com, whites 0.95047 1 1.08883 and 0.96422 1 0.82521.
  const std::array<double, 2> d65{0.95047 / 3.03930, 1 / 3.03930}, d50{0.96422 / 2.78943, 1 / 2.78943};
  expect_near(
      adaptation(d65, d50),
      {{{1.0478112, 0.0228866, -0.0501270}, {0.0295424, 0.9904844, -0.0170491}, {-0.0092345, 0.0150436, 0.7521316}}},
      2e-6);
}

TEST(Primaries, DegenerateCoordinatesAreRefused) {
  EXPECT_FALSE(rgb_to_xyz({{0.3, 0.3}, {0.3, 0.3}, {0.15, 0.06}, {0.3127, 0.3290}}));
  EXPECT_FALSE(to_bt709({{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}, {0.3127, 0}}));
  EXPECT_FALSE(to_bt709({{0, 0}, {0, 0}, {0, 0}, {0, 0}}));
}

TEST(Primaries, RoundingOfPublishedFiguresIsNoDifference) {
  Chromaticities near;
  near.white = {0.31270, 0.32902};
  EXPECT_TRUE(same_primaries(near, {}));
  EXPECT_FALSE(same_primaries(kP3, {}));
}

}  // namespace
}  // namespace acuity
