// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cmath>

#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

TEST(PsnrHvs, EqualsLibvmaf) { expect_golden("psnr_hvs", "psnr_hvs", {}, 0); }

// libvmaf leaves out the last column and row of the colour planes of such frames.
TEST(PsnrHvs, TakesOddSizes) {
  expect_values("psnr_hvs", "synth_321x181_2f_12bit_420", {}, "psnr_hvs_cb", {36.374245878086484, 35.771724688448153},
                0);
  expect_values("psnr_hvs", "synth_97x50_2f_8bit_422", {}, "psnr_hvs", {32.926209788922407, 33.027399655209173}, 0);
}

// A difference of 128 codes everywhere is one of 1024 in the first coefficient, which nothing hides; give or take one,
// for the transform rounds.
TEST(PsnrHvs, OfFlatFramesIsThatOfTheirMeans) {
  SyntheticClip clip = synthetic_clip("synth_64x64_1f_8bit_444");
  for (size_t p = 0; p < 3; ++p) {
    std::fill(clip.reference[0].planes[p].begin(), clip.reference[0].planes[p].end(), uint8_t{50});
    std::fill(clip.distorted[0].planes[p].begin(), clip.distorted[0].planes[p].end(), uint8_t{178});
  }
  const FeatureValues values = measure_clip("psnr_hvs", clip);
  EXPECT_NEAR(values.frames.at("psnr_hvs_y")[0], 20 * std::log10(255 / 128.0 / 1.6193873005), 0.009);
  EXPECT_NEAR(values.frames.at("psnr_hvs_cb")[0], 20 * std::log10(255 / 128.0 / 1.91113096927), 0.009);
  EXPECT_NEAR(values.frames.at("psnr_hvs_cr")[0], 20 * std::log10(255 / 128.0 / 2.03871978502), 0.009);
}

TEST(PsnrHvs, OfIdenticalFramesIsTheLargestThereIs) {
  SyntheticClip clip = synthetic_clip("synth_64x64_1f_10bit_420");
  clip.distorted = clip.reference;
  for (const auto& [name, frames] : measure_clip("psnr_hvs", clip).frames) EXPECT_EQ(frames[0], 200) << name;
}

// Rows of blocks that fill vectors, that do not, and a single block.
TEST(PsnrHvs, IsTheSameOnAllTargets) {
  for (const std::string clip : {"synth_322x182_2f_8bit_420", "synth_230x51_2f_10bit_422", "synth_9x8_2f_12bit_444"}) {
    expect_same_on_all_targets("psnr_hvs", clip);
  }
}

TEST(PsnrHvs, RefusesWhatItCannotRead) {
  expect_refused("psnr_hvs", {.width = 64, .height = 64, .depth = 16}, "8, 9, 10, 11, 12 bits");
  expect_refused("psnr_hvs", {.width = 64, .height = 64, .subsampling = Subsampling::grey}, "grey");
  expect_refused("psnr_hvs", {.width = 15, .height = 64}, "at least 16 x 16");
  expect_refused("psnr_hvs", {.width = 64, .height = 7, .subsampling = Subsampling::yuv444}, "at least 8 x 8");
}

}  // namespace
}  // namespace acuity::tests
