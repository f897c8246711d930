// SPDX-License-Identifier: BSD-2-Clause-Patent
// The curves in float against those in double.
#include "colour/steps.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "colour/transfer.h"

namespace acuity {
namespace {

float decode(const SampleConversion& steps, float encoded) {
  decode_samples(steps, nullptr, &encoded, 1);
  return encoded;
}

// The largest error relative to the true value, over samples from `first` to `last`.
double worst_error(const SampleConversion& steps, const std::function<double(double)>& truth, float first, float last) {
  constexpr int kCount = 100003;
  std::vector<float> encoded(kCount);
  for (int i = 0; i < kCount; ++i) {
    encoded[static_cast<size_t>(i)] = first + (last - first) * static_cast<float>(i) / (kCount - 1);
  }
  std::vector<float> light = encoded;
  decode_samples(steps, nullptr, light.data(), kCount);
  double worst = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const double expected = truth(encoded[i]);
    if (expected == 0) {
      EXPECT_EQ(light[i], 0.0f) << encoded[i];
    } else {
      worst = std::max(worst, std::abs(light[i] - expected) / std::abs(expected));
    }
  }
  return worst;
}

TEST(Steps, CurvesAreWithinTheirBounds) {
  EXPECT_LT(worst_error({.curve = CURVE_SRGB}, srgb_to_linear, -1.0f, 4.0f), 5e-7);
  EXPECT_LT(worst_error({.curve = CURVE_SRGB_SMOOTH}, srgb_to_linear_smooth, -1.0f, 4.0f), 5e-7);
  EXPECT_LT(worst_error({.curve = CURVE_POWER, .a = 2.5f}, [](double x) { return signed_power(x, 2.5); }, -2, 2), 1e-7);
  EXPECT_LT(worst_error({.curve = CURVE_PQ, .a = 10000}, pq_to_nits, 0.001f, 1.0f), 2e-6);
  EXPECT_LT(worst_error({.curve = CURVE_HLG}, hlg_to_scene, -0.5f, 1.5f), 1e-6);
  const auto codes = [](double x) { return 255 * linear_to_srgb(x); };
  EXPECT_LT(worst_error({.curve = CURVE_SCALE, .to_codes = true}, codes, -1.0f, 4.0f), 3e-7);
}

TEST(Steps, CurvesAtTheEnds) {
  EXPECT_EQ(decode({.curve = CURVE_SRGB}, 0.0f), 0.0f);
  EXPECT_EQ(decode({.curve = CURVE_SRGB}, 1.0f), 1.0f);
  EXPECT_EQ(decode({.curve = CURVE_PQ, .a = 2}, 0.0f), 0.0f);
  EXPECT_EQ(decode({.curve = CURVE_PQ, .a = 2}, -0.1f), 0.0f);
  EXPECT_EQ(decode({.curve = CURVE_PQ, .a = 2}, 1e-7f), 0.0f);  // its straight beginning lies below zero
  EXPECT_EQ(decode({.curve = CURVE_PQ, .a = 2}, 1.0f), 2.0f);
  EXPECT_EQ(decode({.curve = CURVE_PQ, .a = 2}, 1.5f), 2.0f);
  EXPECT_EQ(decode({.curve = CURVE_HLG}, 0.0f), 0.0f);
  EXPECT_EQ(decode({.curve = CURVE_HLG}, -0.2f), 0.0f);
}

TEST(Steps, CurvesWithoutALowerEndAreOdd) {
  for (const SampleConversion& steps :
       {SampleConversion{.curve = CURVE_SRGB}, SampleConversion{.curve = CURVE_SRGB_LIBJXL},
        SampleConversion{.curve = CURVE_POWER, .a = 2.2f},
        SampleConversion{.curve = CURVE_SCALE, .a = 1, .to_codes = true}}) {
    for (const float x : {0.0f, 0.001f, 0.01f, 0.3f, 1.0f, 2.5f}) EXPECT_EQ(decode(steps, -x), -decode(steps, x));
  }
}

TEST(Steps, LibjxlApproximationStaysWithinItsBound) {
  for (int i = 0; i <= 100000; ++i) {
    const auto x = static_cast<float>(i) / 100000;
    ASSERT_NEAR(decode({.curve = CURVE_SRGB_LIBJXL}, x), srgb_to_linear(x), 3e-7) << x;
  }
}

TEST(Steps, LibjxlApproximationHoldsToTheLastBit) {
  // Computed with exact rational arithmetic, rounded to float after each step.
  const float scale = 1.0f / 255.0f;
  const auto light = [](float encoded) { return decode({.curve = CURVE_SRGB_LIBJXL}, encoded); };
  EXPECT_EQ(light(0.04045f), 0.04045f * (1.0f / 12.92f));
  EXPECT_EQ(light(11 * scale), 0x1.b6a352p-9f);
  EXPECT_EQ(light(64 * scale), 0x1.a3ffdcp-5f);
  EXPECT_EQ(light(128 * scale), 0x1.ba1512p-3f);
  EXPECT_EQ(light(200 * scale), 0x1.27b8a4p-1f);
  EXPECT_EQ(light(255 * scale), 1.0f);
}

}  // namespace
}  // namespace acuity
