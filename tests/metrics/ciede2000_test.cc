// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of drawn frames are those of libvmaf 3.2.0.
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

using Colour = std::array<int, 3>;

// One frame of 4:4:4 of each.
SyntheticClip flat(int width, int height, int depth, const Colour& reference, const Colour& distorted) {
  const auto frame = [&](const Colour& colour) {
    OwnedFrame made;
    made.format = {.width = width, .height = height, .depth = depth, .subsampling = Subsampling::yuv444};
    for (size_t plane = 0; plane < 3; ++plane) {
      for (int i = 0; i < width * height; ++i) {
        made.planes[plane].push_back(static_cast<uint8_t>(colour[plane] & 255));
        if (depth > 8) made.planes[plane].push_back(static_cast<uint8_t>(colour[plane] >> 8));
      }
    }
    return made;
  };
  return {{frame(reference)}, {frame(distorted)}};
}

double score(const SyntheticClip& clip) { return measure_clip("ciede", clip).frames.at("ciede2000").at(0); }

TEST(Ciede2000, EqualsLibvmaf) { expect_golden("ciede", "ciede", {}, 1e-6); }

// Nothing averages out here: each rounding of libvmaf's that were missed would be seen in the fifth decimal.
TEST(Ciede2000, RoundsAsLibvmafDoes) {
  EXPECT_NEAR(score(flat(8, 8, 8, {235, 128, 128}, {16, 128, 128})), 1.2582667352486396, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {120, 90, 150}, {121, 90, 150})), 48.43512611720272, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {120, 90, 150}, {120, 92, 149})), 48.64413906364162, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {60, 200, 110}, {62, 199, 108})), 48.0953313578803, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {180, 60, 140}, {179, 63, 141})), 47.22852599385848, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {17, 129, 127}, {19, 127, 128})), 47.24657821760386, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {90, 128, 200}, {91, 127, 202})), 43.16433195138149, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 10, {300, 700, 480}, {303, 695, 484})), 52.27881381290295, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 12, {2000, 1500, 2600}, {2010, 1510, 2590})), 52.850363910817165, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 16, {30000, 40000, 25000}, {30100, 39900, 25100})), 56.6710297119735, 2e-6);
  EXPECT_NEAR(score(flat(8, 8, 8, {255, 0, 255}, {0, 255, 0})), 5.559086660171303, 2e-6);
}

TEST(Ciede2000, OfIdenticalFramesIsTheMost) {
  EXPECT_EQ(score(flat(5, 3, 8, {100, 90, 170}, {100, 90, 170})), 245);
  // Greys have no hue, and colours outside of sRGB are colours too.
  EXPECT_EQ(score(flat(5, 3, 8, {16, 128, 128}, {16, 128, 128})), 245);
  EXPECT_EQ(score(flat(5, 3, 8, {0, 255, 0}, {0, 255, 0})), 245);
}

TEST(Ciede2000, CountsEachPixelOnce) {
  const double one = score(flat(1, 1, 10, {400, 500, 600}, {410, 505, 590}));
  for (const int width : {2, 15, 16, 17, 255, 256, 257, 300}) {
    EXPECT_NEAR(score(flat(width, 3, 10, {400, 500, 600}, {410, 505, 590})), one, 1e-12) << width;
  }
}

TEST(Ciede2000, IsTheSameOnAllTargets) {
  for (const char* clip : {"synth_1x1_1f_8bit_420", "synth_45x27_2f_8bit_420", "synth_322x182_1f_10bit_422",
                           "synth_70x31_2f_12bit_444", "synth_33x34_1f_16bit_420"}) {
    expect_same_on_all_targets("ciede", clip);
  }
}

TEST(Ciede2000, RefusesGreyAndOtherDepths) {
  expect_refused("ciede", {.width = 64, .height = 64, .subsampling = Subsampling::grey}, "grey");
  expect_refused("ciede", {.width = 64, .height = 64, .depth = 9}, "8, 10, 12, 16");
}

}  // namespace
}  // namespace acuity::tests
