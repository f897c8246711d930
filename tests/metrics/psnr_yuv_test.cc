// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options are those of libvmaf 3.2.0 with the same options.
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

// A clip whose distorted frames are its reference frames.
SyntheticClip identical_clip(const std::string& name) {
  SyntheticClip clip = synthetic_clip(name);
  clip.distorted = clip.reference;
  return clip;
}

TEST(PsnrYuv, EqualsLibvmaf) { expect_golden("psnr", "psnr", {{"enable_mse", "true"}, {"enable_apsnr", "true"}}, 0); }

TEST(PsnrYuv, ReducesThePeak) {
  expect_values("psnr", "synth_352x288_4f_12bit_420", {{"reduced_hbd_peak", "true"}, {"min_sse", "0.5"}}, "psnr_y",
                {33.93193681033064, 33.974514076702363, 33.91441104630151, 33.893947461711022}, 0);
}

TEST(PsnrYuv, IsLimitedByTheLeastError) {
  expect_values("psnr", "synth_192x192_4f_8bit_420", {{"min_sse", "1e7"}}, "psnr_y", {24, 24, 24, 24}, 0);
  expect_values("psnr", "synth_192x192_4f_8bit_420", {{"min_sse", "1e7"}}, "psnr_cb", {18, 18, 18, 18}, 0);
}

// libvmaf leaves out the last column and row of the colour planes then.
TEST(PsnrYuv, TakesOddSizes) {
  const std::string clip = "synth_321x181_3f_10bit_420";
  expect_values("psnr", clip, {{"enable_mse", "true"}}, "mse_cb",
                {161.07597222222222, 170.23930555555555, 163.91055555555556}, 0);
  expect_values("psnr", clip, {}, "psnr_y", {34.332038173747954, 34.163088804018614, 34.229251810038519}, 0);
}

TEST(PsnrYuv, LeavesOutWhatIsNotAskedFor) {
  const SyntheticClip clip = synthetic_clip("synth_64x64_2f_8bit_420");
  EXPECT_EQ(measure_clip("psnr", clip).frames.size(), 3u);
  EXPECT_TRUE(measure_clip("psnr", clip).aggregates.empty());
  const FeatureValues luma = measure_clip("psnr", clip, {{"enable_chroma", "false"}, {"enable_apsnr", "true"}});
  EXPECT_EQ(luma.frames.size(), 1u);
  EXPECT_EQ(luma.aggregates.size(), 1u);
}

TEST(PsnrYuv, OfIdenticalFramesIsTheLargestThereIs) {
  const FeatureValues values =
      measure_clip("psnr", identical_clip("synth_64x64_2f_10bit_444"), {{"enable_apsnr", "true"}});
  for (const auto& [name, frames] : values.frames) EXPECT_EQ(frames, (std::vector<double>{72, 72})) << name;
  // 10 log10(1023^2 * 8192 * 2), rounded up.
  for (const auto& [name, value] : values.aggregates) EXPECT_EQ(value, 103) << name;
}

// All samples differ by all there is, which is what could run over.
TEST(PsnrYuv, CountsTheLargestErrors) {
  for (const int depth : {8, 16}) {
    SyntheticClip clip = synthetic_clip("synth_20000x2_1f_" + std::to_string(depth) + "bit_444");
    for (size_t p = 0; p < 3; ++p) {
      std::fill(clip.reference[0].planes[p].begin(), clip.reference[0].planes[p].end(), uint8_t{0});
      std::fill(clip.distorted[0].planes[p].begin(), clip.distorted[0].planes[p].end(), uint8_t{255});
    }
    const FeatureValues values = measure_clip("psnr", clip, {{"enable_mse", "true"}});
    const double top = (1 << depth) - 1;
    EXPECT_EQ(values.frames.at("mse_cr")[0], top * top);
    EXPECT_EQ(values.frames.at("psnr_cr")[0], 0);
  }
}

TEST(PsnrYuv, IsTheSameOnAllTargets) {
  for (const std::string clip : {"synth_321x37_2f_8bit_420", "synth_321x37_2f_16bit_422"}) {
    expect_same_on_all_targets("psnr", clip, {{"enable_mse", "true"}, {"enable_apsnr", "true"}});
    expect_same_on_all_targets("float_psnr", clip);
    expect_same_on_all_targets("float_ansnr", clip);
    expect_same_on_all_targets("float_moment", clip);
  }
}

TEST(PsnrYuv, RefusesWhatItCannotRead) {
  expect_refused("psnr", {.width = 64, .height = 64, .depth = 9}, "8, 10, 12, 16 bits");
  expect_refused("psnr", {.width = 1, .height = 64}, "at least 2 x 2");
  expect_refused("float_psnr", {.width = 64, .height = 64, .depth = 14}, "8, 10, 12, 16 bits");
  expect_refused("float_ansnr", {.width = 64, .height = 2}, "at least 3 x 3");
}

TEST(FloatPsnr, EqualsLibvmaf) { expect_golden("float_psnr", "float_psnr", {}, 0); }
TEST(FloatAnsnr, EqualsLibvmaf) { expect_golden("float_ansnr", "float_ansnr", {}, 0); }
TEST(FloatMoment, EqualsLibvmaf) { expect_golden("float_moment", "float_moment", {}, 0); }

TEST(FloatPsnr, OfIdenticalFramesIsTheLargestThereIs) {
  const SyntheticClip clip = identical_clip("synth_64x64_2f_12bit_420");
  EXPECT_EQ(measure_clip("float_psnr", clip).frames.at("float_psnr"), (std::vector<double>{84, 84}));
}

// Smoothed less and more, even identical frames differ, but not where they are flat; a flat reference of middle grey
// has no signal either.
TEST(FloatAnsnr, StaysFinite) {
  SyntheticClip clip = identical_clip("synth_64x64_1f_8bit_420");
  std::fill(clip.reference[0].planes[0].begin(), clip.reference[0].planes[0].end(), uint8_t{128});
  const FeatureValues values = measure_clip("float_ansnr", clip);
  EXPECT_EQ(values.frames.at("float_ansnr")[0], -100);
  EXPECT_GT(values.frames.at("float_anpsnr")[0], 0);
  clip.distorted = clip.reference;
  const FeatureValues flat = measure_clip("float_ansnr", clip);
  EXPECT_EQ(flat.frames.at("float_ansnr")[0], 60);
  EXPECT_EQ(flat.frames.at("float_anpsnr")[0], 60);
}

}  // namespace
}  // namespace acuity::tests
