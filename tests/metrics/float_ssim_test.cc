// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options and of odd frames are those of libvmaf 3.2.0.
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

const std::string kClip = "synth_192x192_2f_8bit_420";
const std::vector<OptionValue> kFactors{{"enable_lcs", "true"}};

// One grey frame of each.
template <typename Reference, typename Distorted>
SyntheticClip drawn(int width, int height, const Reference& reference, const Distorted& distorted) {
  const auto frame = [&](const auto& draw) {
    OwnedFrame made;
    made.format = {.width = width, .height = height, .subsampling = Subsampling::grey};
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) made.planes[0].push_back(static_cast<uint8_t>(draw(x, y)));
    }
    return made;
  };
  return {{frame(reference)}, {frame(distorted)}};
}

int waves(int x, int y) { return (x * x / 7 + y * y / 5 + x * y / 11) % 256; }

double first(const FeatureValues& values, const std::string& output) { return values.frames.at(output).at(0); }

TEST(FloatSsim, EqualsLibvmaf) { expect_golden("float_ssim", "float_ssim", kFactors, 1e-6); }
TEST(FloatMsSsim, EqualsLibvmaf) { expect_golden("float_ms_ssim", "float_ms_ssim", kFactors, 1e-6); }

TEST(FloatSsim, ShrinksByTheFactorAskedFor) {
  const auto expect = [](const char* scale, const std::vector<double>& values) {
    expect_values("float_ssim", kClip, {{"scale", scale}}, "float_ssim", values, 1e-6);
  };
  expect("0", {0.8533868193626404, 0.8487167358398438});
  expect("1", {0.8533868193626404, 0.8487167358398438});
  expect("2", {0.9418027997016907, 0.9409341216087341});
  expect("3", {0.9694511890411377, 0.9681754112243652});
  expect("10", {0.9984415769577026, 0.9979646801948547});
  expect_values("float_ssim", kClip, {{"scale", "3"}, {"enable_lcs", "true"}}, "float_ssim_s",
                {0.9726661443710327, 0.9719281792640686}, 1e-6);
}

TEST(FloatSsim, IsWrittenInDecibels) {
  expect_values("float_ssim", kClip, {{"enable_db", "true"}}, "float_ssim", {8.338269845328373, 8.202091135162007},
                1e-6);
  expect_values("float_ms_ssim", kClip, {{"enable_db", "true"}}, "float_ms_ssim",
                {14.945491582592172, 14.976686088899779}, 1e-6);
}

TEST(FloatSsim, OfIdenticalFramesIsOne) {
  const SyntheticClip clip = drawn(200, 180, waves, waves);
  for (const char* feature : {"float_ssim", "float_ms_ssim"}) {
    for (const auto& [output, values] : measure_clip(feature, clip, kFactors).frames) {
      EXPECT_NEAR(values.at(0), 1, 1e-7) << output;
    }
    for (const char* clip_db : {"true", "false"}) {
      const FeatureValues decibels = measure_clip(feature, clip, {{"enable_db", "true"}, {"clip_db", clip_db}});
      EXPECT_EQ(first(decibels, feature), 97);  // 10 log10(255^2 * 2 * 200 * 180), rounded up
    }
  }
}

TEST(FloatSsim, OfFlatFramesIsLuminanceAlone) {
  const FeatureValues values =
      measure_clip("float_ssim", drawn(40, 30, [](int, int) { return 100; }, [](int, int) { return 50; }), kFactors);
  EXPECT_EQ(first(values, "float_ssim_c"), 1);
  EXPECT_EQ(first(values, "float_ssim_s"), 1);
  EXPECT_NEAR(first(values, "float_ssim_l"), (2 * 100 * 50 + 6.5025) / (100 * 100 + 50 * 50 + 6.5025), 1e-6);
}

TEST(FloatMsSsim, OfNegativesIsZero) {
  const SyntheticClip clip =
      drawn(176, 176, [](int x, int y) { return waves(x, y); }, [](int x, int y) { return 255 - waves(x, y); });
  EXPECT_LT(first(measure_clip("float_ms_ssim", clip, kFactors), "float_ms_ssim_s_scale0"), 0);
  EXPECT_EQ(first(measure_clip("float_ms_ssim", clip), "float_ms_ssim"), 0);
  EXPECT_EQ(first(measure_clip("float_ms_ssim", clip, {{"enable_db", "true"}}), "float_ms_ssim"), 0);
}

TEST(FloatSsim, NamesFactorsOnlyWhereAsked) {
  EXPECT_EQ(measure_clip("float_ssim", drawn(11, 11, waves, waves)).frames.size(), 1u);
  EXPECT_EQ(measure_clip("float_ms_ssim", drawn(176, 176, waves, waves)).frames.size(), 1u);
  EXPECT_EQ(measure_clip("float_ms_ssim", drawn(176, 176, waves, waves), kFactors).frames.size(), 16u);
}

TEST(FloatSsim, IsTheSameOnAllTargets) {
  for (const char* clip : {"synth_11x12_1f_8bit_420", "synth_45x27_2f_10bit_444", "synth_322x182_2f_12bit_422"}) {
    expect_same_on_all_targets("float_ssim", clip, kFactors);
  }
  expect_same_on_all_targets("float_ssim", "synth_323x181_1f_16bit_420", {{"scale", "7"}});
  expect_same_on_all_targets("float_ms_ssim", "synth_176x177_2f_8bit_420", kFactors);
  expect_same_on_all_targets("float_ms_ssim", "synth_323x191_2f_10bit_420", kFactors);
}

TEST(FloatSsim, RefusesFramesSmallerThanItsWindow) {
  expect_refused("float_ssim", {.width = 10, .height = 64}, "at least 11 x 11");
  expect_refused("float_ssim", {.width = 100, .height = 100}, "to 10 x 10", {{"scale", "10"}});
  expect_refused("float_ms_ssim", {.width = 176, .height = 175}, "at least 176 x 176");
  expect_refused("float_ssim", {.width = 64, .height = 64, .depth = 14}, "8, 10, 12, 16");
  expect_refused("float_ssim", {.width = 64, .height = 64}, "from 0 to 10", {{"scale", "11"}});
}

}  // namespace
}  // namespace acuity::tests
