// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/transfer.h"

#include <cmath>

#include <gtest/gtest.h>

namespace acuity {
namespace {

TEST(Transfer, SrgbWithoutAStep) {
  // The two parts meet, and the curve stays close to the standard's.
  const double meet = 12.92 * 0.003041282560127521;
  EXPECT_NEAR(srgb_to_linear_smooth(meet), srgb_to_linear_smooth(std::nextafter(meet, 1.0)), 1e-16);
  EXPECT_EQ(srgb_to_linear_smooth(1), 1);
  EXPECT_EQ(srgb_to_linear_smooth(-0.02), -0.02 / 12.92);
  double worst = 0;
  for (int code = 0; code < 256; ++code) {
    worst = std::max(worst, std::abs(srgb_to_linear_smooth(code / 255.0) - srgb_to_linear(code / 255.0)));
  }
  EXPECT_LT(worst, 5e-6);
  EXPECT_GT(worst, 4e-6);
}

TEST(Transfer, SrgbKnownValues) {
  EXPECT_EQ(srgb_to_linear(0), 0);
  EXPECT_DOUBLE_EQ(srgb_to_linear(1), 1);
  EXPECT_NEAR(srgb_to_linear(128 / 255.0), 0.2158605, 1e-7);
  EXPECT_NEAR(srgb_to_linear(10 / 255.0), 0.0030352698, 1e-10);  // on the straight part
  EXPECT_NEAR(linear_to_srgb(0.18), 0.4613561, 1e-7);
}

TEST(Transfer, SrgbIsOdd) {
  for (double x : {0.01, 0.3, 1.0, 2.5}) {
    EXPECT_EQ(srgb_to_linear(-x), -srgb_to_linear(x));
    EXPECT_EQ(linear_to_srgb(-x), -linear_to_srgb(x));
  }
}

TEST(Transfer, SrgbInSinglePrecisionHoldsToTheLastBit) {
  // What dssim-core gives for codes of 8 bit.
  EXPECT_EQ(srgb_to_linear_single(10 / 255.0f), 0x1.8dd6c2p-9f);
  EXPECT_EQ(srgb_to_linear_single(11 / 255.0f), 0x1.b6a31ap-9f);
  EXPECT_EQ(srgb_to_linear_single(128 / 255.0f), 0x1.ba1516p-3f);
  EXPECT_EQ(srgb_to_linear_single(200 / 255.0f), 0x1.27b8a2p-1f);
  EXPECT_EQ(srgb_to_linear_single(-1.0f), -1.0f);
  for (int i = 0; i <= 100000; ++i) {
    const auto x = static_cast<float>(i) / 100000;
    ASSERT_NEAR(srgb_to_linear_single(x), srgb_to_linear(x), 4e-7) << x;
  }
}

TEST(Transfer, PqKnownValues) {
  // BT.2408, table of reference levels.
  EXPECT_NEAR(pq_to_nits(0.5081), 100, 0.03);
  EXPECT_NEAR(pq_to_nits(0.5807), 203, 0.1);
  EXPECT_NEAR(pq_to_nits(0.7518), 1000, 0.4);
  EXPECT_EQ(pq_to_nits(0), 0);
  EXPECT_NEAR(pq_to_nits(1), 10000, 1e-8);
  EXPECT_EQ(pq_to_nits(-0.1), 0);
  EXPECT_EQ(pq_to_nits(1.5), pq_to_nits(1));
}

TEST(Transfer, HlgKnownValues) {
  EXPECT_EQ(hlg_to_scene(0), 0);
  EXPECT_DOUBLE_EQ(hlg_to_scene(0.5), 1.0 / 12);
  EXPECT_NEAR(hlg_to_scene(0.75), 0.2649626, 1e-7);  // BT.2408: the reference white is 75 %
  EXPECT_NEAR(hlg_to_scene(1), 1, 1e-7);
  EXPECT_EQ(hlg_to_scene(-0.2), 0);
  EXPECT_DOUBLE_EQ(hlg_system_gamma(1000), 1.2);
  // BT.2408: 75 % on a display of 1000 nit is 203 nit.
  EXPECT_NEAR(1000 * std::pow(hlg_to_scene(0.75), hlg_system_gamma(1000)), 203, 0.5);
}

TEST(Transfer, RoundTrips) {
  for (int i = 0; i <= 1000; ++i) {
    const double x = i / 1000.0;
    EXPECT_NEAR(linear_to_srgb(srgb_to_linear(x)), x, 2e-8);  // IEC's two thresholds do not quite meet
    EXPECT_NEAR(nits_to_pq(pq_to_nits(x)), x, x < 1e-6 ? 1e-6 : 1e-9);
    EXPECT_NEAR(scene_to_hlg(hlg_to_scene(x)), x, 1e-7);
    EXPECT_NEAR(signed_power(signed_power(-x, 2.4), 1 / 2.4), -x, 1e-12);
  }
}

}  // namespace
}  // namespace acuity
