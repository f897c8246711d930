// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of drawn frames are those of libvmaf 3.2.0.
#include <cmath>

#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

using Colour = std::array<int, 3>;

// One frame of 4:4:4, with colour(x, y).
template <class Function>
OwnedFrame drawn(int width, int height, int depth, const Function& colour) {
  OwnedFrame made;
  made.format = {.width = width, .height = height, .depth = depth, .subsampling = Subsampling::yuv444};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (size_t plane = 0; plane < 3; ++plane) {
        const int code = colour(x, y)[plane];
        made.planes[plane].push_back(static_cast<uint8_t>(code & 255));
        if (depth > 8) made.planes[plane].push_back(static_cast<uint8_t>(code >> 8));
      }
    }
  }
  return made;
}

SyntheticClip flat(int width, int height, int depth, const Colour& reference, const Colour& distorted) {
  return {{drawn(width, height, depth, [&](int, int) { return reference; })},
          {drawn(width, height, depth, [&](int, int) { return distorted; })}};
}

double score(const SyntheticClip& clip) { return measure_clip("ciede", clip).frames.at("ciede2000").at(0); }

TEST(Ciede2000, EqualsLibvmaf) { expect_golden("ciede", "ciede", {}, 1e-6); }

// Nothing averages out here: each rounding of libvmaf's that were missed would be seen in the fifth decimal, or in the
// first where hues are opposite.
TEST(Ciede2000, RoundsAsLibvmafDoes) {
  EXPECT_NEAR(score(flat(8, 8, 8, {235, 128, 128}, {16, 128, 128})), 1.2582667352486396, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {120, 90, 150}, {121, 90, 150})), 48.43512611720272, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {120, 90, 150}, {120, 92, 149})), 48.64413906364162, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {60, 200, 110}, {62, 199, 108})), 48.0953313578803, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {180, 60, 140}, {179, 63, 141})), 47.22852599385848, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {17, 129, 127}, {19, 127, 128})), 47.24657821760386, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {90, 128, 200}, {91, 127, 202})), 43.16433195138149, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 10, {300, 700, 480}, {303, 695, 484})), 52.27881381290295, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 12, {2000, 1500, 2600}, {2010, 1510, 2590})), 52.850363910817165, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 16, {30000, 40000, 25000}, {30100, 39900, 25100})), 56.6710297119735, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {255, 0, 255}, {0, 255, 0})), 5.559086660171303, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {174, 220, 95}, {174, 220, 96})), 70.3881501199224, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {252, 5, 130}, {252, 4, 130})), 69.40327885746673, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {22, 128, 128}, {21, 128, 128})), 55.88929985762984, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {8, 126, 126}, {8, 130, 130})), 40.70571525523935, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {13, 127, 127}, {15, 129, 129})), 44.680984238680125, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 8, {41, 243, 102}, {77, 13, 153})), 17.891124497196724, 1e-12);
  EXPECT_NEAR(score(flat(8, 8, 16, {30000, 40000, 25000}, {30000, 40000, 25001})), 112.11882254371089, 1e-12);
}

TEST(Ciede2000, OfIdenticalFramesIsTheMost) {
  EXPECT_EQ(score(flat(5, 3, 8, {100, 90, 170}, {100, 90, 170})), 245);
  // Greys have no hue, and colours outside of sRGB are colours too.
  EXPECT_EQ(score(flat(5, 3, 8, {16, 128, 128}, {16, 128, 128})), 245);
  EXPECT_EQ(score(flat(5, 3, 8, {0, 255, 0}, {0, 255, 0})), 245);
}

// Colours near `least`, in steps of `step`, of which some hundred pairs meet.
SyntheticClip textured(int width, int height, int depth, const Colour& least, int step) {
  const auto colour = [&](int x, int y, int period) {
    const auto code = [&](size_t p) {
      return least[p] + (x * (period - 4) + y * 13 + 5 * static_cast<int>(p)) % period * step;
    };
    return Colour{code(0), code(1), code(2)};
  };
  return {{drawn(width, height, depth, [&](int x, int y) { return colour(x, y, 11); })},
          {drawn(width, height, depth, [&](int x, int y) { return colour(x, y, 13); })}};
}

TEST(Ciede2000, ManyColoursAverageOut) {
  EXPECT_NEAR(score(textured(64, 48, 8, {14, 123, 123}, 1)), 36.36383941821576, 1e-6);
  EXPECT_NEAR(score(textured(64, 48, 8, {120, 60, 180}, 1)), 35.84675390876933, 1e-6);
  EXPECT_NEAR(score(textured(64, 48, 10, {700, 300, 520}, 2)), 43.35592061667735, 1e-6);
  EXPECT_NEAR(score(textured(64, 48, 16, {50000, 30000, 36000}, 1)), 81.44096655656134, 1e-6);
}

// Few colours are measured in another way than many, so that one pixel after the other says what all are together.
TEST(Ciede2000, CountsEachPixelOnce) {
  const auto pixel = [](const OwnedFrame& frame, int x) {
    return drawn(1, 1, 8, [&](int, int) {
      const auto at = static_cast<size_t>(x);
      return Colour{frame.planes[0][at], frame.planes[1][at], frame.planes[2][at]};
    });
  };
  for (const int width : {1, 2, 15, 16, 17, 255, 256, 257, 300, 513}) {
    const SyntheticClip clip = textured(width, 1, 8, {90, 110, 140}, 3);
    double sum = 0;
    for (int x = 0; x < width; ++x) {
      sum += std::pow(10, (45 - score({{pixel(clip.reference[0], x)}, {pixel(clip.distorted[0], x)}})) / 20);
    }
    EXPECT_NEAR(score(clip), 45 - 20 * std::log10(sum / width), 1e-6) << width;
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
