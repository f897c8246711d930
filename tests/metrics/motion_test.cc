// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options are those of libvmaf 3.2.0 with the same options.
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

const std::string kClip = "synth_192x192_4f_8bit_420";

// Frames of one value each, where every sum can be made by hand.
SyntheticClip flat_clip(const std::vector<int>& levels, int width, int height, int depth) {
  SyntheticClip clip;
  for (const int level : levels) {
    OwnedFrame frame;
    frame.format.width = width;
    frame.format.height = height;
    frame.format.depth = depth;
    frame.format.subsampling = Subsampling::grey;
    for (int i = 0; i < width * height; ++i) {
      frame.planes[0].push_back(static_cast<uint8_t>(level & 255));
      if (depth > 8) frame.planes[0].push_back(static_cast<uint8_t>(level >> 8));
    }
    clip.reference.push_back(frame);
    clip.distorted.push_back(frame);
  }
  return clip;
}

TEST(Motion, EqualsLibvmaf) { expect_golden("motion", "motion", {}, 0); }

TEST(Motion, BlendsAndWeighs) {
  const std::vector<OptionValue> options{{"motion_blend_factor", "0.3"}, {"mbo", "2"}, {"motion_fps_weight", "0.7"}};
  expect_values("motion", kClip, options, "VMAF_integer_feature_motion_sad_score_mbf_0.3_mbo_2_mfw_0.7",
                {0, 4.1695251888699003, 4.168564997778998, 4.1380485004848904}, 0);
  expect_values("motion", kClip, options, "integer_motion2_mbf_0.3_mbo_2_mfw_0.7",
                {0, 4.168564997778998, 4.1380485004848904, 4.1380485004848904}, 0);
  expect_values("motion", kClip, options, "integer_motion3_mbf_0.3_mbo_2_mfw_0.7",
                {2.65085755666097, 2.6505694993336992, 2.6414145501454671, 2.6414145501454671}, 0);
}

TEST(Motion, LooksTwoFramesBack) {
  const std::vector<OptionValue> options{{"motion_five_frame_window", "true"}, {"motion_moving_average", "true"}};
  expect_values("motion", kClip, options, "VMAF_integer_feature_motion_sad_score_mffw_mma",
                {0, 0, 9.881338649325901, 9.783355077107748}, 0);
  expect_values("motion", kClip, options, "integer_motion2_mffw_mma", {0, 0, 9.783355077107748, 9.783355077107748}, 0);
  expect_values("motion", kClip, options, "integer_motion3_mffw_mma",
                {9.881338649325901, 9.881338649325901, 9.8323468632168236, 9.783355077107748}, 0);
}

TEST(Motion, IsClippedOrZeroWhereAsked) {
  expect_values("motion", kClip, {{"motion_max_val", "5"}}, "integer_motion3_mmxv_5", {5, 5, 5, 5}, 0);
  expect_values("motion", kClip, {{"motion_force_zero", "true"}}, "integer_motion2_force_0", {0, 0, 0, 0}, 0);
}

// All of the difference is left of it by a blur whose taps add up to 1; the largest ones need all 32 bits of a sum.
TEST(Motion, SurvivesTheLargestDifferences) {
  for (const int depth : {8, 9, 10, 12, 14, 15, 16}) {
    const int top = (1 << depth) - 1;
    const double step = top * 256.0 / (1 << depth);  // what libvmaf's shift by the depth leaves of it
    for (const int width : {3, 4, 15, 16, 17, 33, 67}) {
      const FeatureValues values = measure_clip("motion", flat_clip({0, top, 0, 0}, width, 5, depth));
      EXPECT_EQ(values.frames.at("integer_motion"), (std::vector<double>{0, step, step, 0})) << depth << " " << width;
      EXPECT_EQ(values.frames.at("integer_motion2"), (std::vector<double>{0, step, 0, 0}));
      EXPECT_EQ(values.frames.at("integer_motion3"), (std::vector<double>{step, step, 0, 0}));
    }
  }
}

// libvmaf's definition, one pixel at a time.
double plain_motion(const OwnedFrame& before, const OwnedFrame& now) {
  constexpr int kTaps[] = {3571, 16004, 26386, 16004, 3571};
  const int width = now.format.width, height = now.format.height, depth = now.format.depth;
  const auto mirror = [](int i, int size) { return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i; };
  const auto sample = [&](const OwnedFrame& frame, int x, int y) {
    const size_t at = static_cast<size_t>(y * width + x);
    return depth == 8 ? frame.planes[0][at] : frame.planes[0][2 * at] + 256 * frame.planes[0][2 * at + 1];
  };
  int64_t total = 0;
  for (int y = 0; y < height; ++y) {
    std::vector<int64_t> row(static_cast<size_t>(width));
    for (int x = 0; x < width; ++x) {
      int64_t sum = int64_t{1} << (depth - 1);
      for (int k = 0; k < 5; ++k) {
        const int from = mirror(y + k - 2, height);
        sum += kTaps[k] * (int64_t{sample(before, x, from)} - sample(now, x, from));
      }
      row[static_cast<size_t>(x)] = sum >> depth;
    }
    for (int x = 0; x < width; ++x) {
      int64_t sum = 1 << 15;
      for (int k = 0; k < 5; ++k) sum += kTaps[k] * row[static_cast<size_t>(mirror(x + k - 2, width))];
      total += std::abs(sum >> 16);
    }
  }
  return static_cast<double>(total) / 256 / (width * height);
}

// Noise of various strengths: differences below half the range are computed in 16 bits, others in 32, row by row.
TEST(Motion, IsThatOfAPlainLoop) {
  uint32_t random = 1;
  for (const int depth : {8, 10, 14, 16}) {
    for (const int strength : {2, 127, 128, 129, 255}) {
      SyntheticClip clip = flat_clip({0, 0, 0}, 83, 29, depth);
      for (size_t frame = 1; frame < 3; ++frame) {
        std::vector<uint8_t>& plane = clip.reference[frame].planes[0];
        for (size_t i = 0; i < plane.size(); ++i) {
          random = random * 1664525 + 1013904223;
          // The last rows are quiet, so that both kinds meet.
          const size_t row = i / 83 / (depth > 8 ? 2 : 1);
          const int value = static_cast<int>((random >> 16) % 256) * (row < 20 ? strength : 3) / 255;
          const bool high = depth > 8 && i % 2 == 1;
          plane[i] = static_cast<uint8_t>(high ? value >> (16 - depth) : value);
        }
      }
      const std::vector<double> found = measure_clip("motion", clip).frames.at("integer_motion");
      EXPECT_EQ(found[1], plain_motion(clip.reference[0], clip.reference[1])) << depth << " " << strength;
      EXPECT_EQ(found[2], plain_motion(clip.reference[1], clip.reference[2])) << depth << " " << strength;
    }
  }
}

TEST(Motion, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("motion", "synth_322x182_5f_8bit_420");
  expect_same_on_all_targets("motion", "synth_322x182_5f_12bit_422");
  expect_same_on_all_targets("motion", "synth_322x182_5f_16bit_444", {{"mffw", "true"}});
}

TEST(Motion, RefusesTinyFrames) {
  expect_refused("motion", {.width = 2, .height = 64}, "at least 3 x 3");
  expect_refused("float_motion", {.width = 64, .height = 2}, "at least 3 x 3");
}

TEST(Motion, KnowsItsOptionsRanges) {
  expect_refused("motion", {.width = 64, .height = 64}, "from 0 to 1", {{"motion_blend_factor", "1.5"}});
  expect_refused("float_motion", {.width = 64, .height = 64}, "whole", {{"motion_filter_size", "2.5"}});
}

TEST(MotionV2, EqualsTheFork) { expect_golden("motion_v2", "motion_v2", {}, 0); }

TEST(MotionV2, RefusesTheWindowOfFive) {
  expect_refused("motion_v2", {.width = 64, .height = 64}, "use motion", {{"motion_five_frame_window", "true"}});
}

TEST(FloatMotion, EqualsLibvmaf) { expect_golden("float_motion", "float_motion", {}, 0); }

TEST(FloatMotion, FiltersAndAddsChroma) {
  const std::vector<OptionValue> options{{"motion_filter_size", "3"}, {"motion_add_uv", "true"}};
  expect_values("float_motion", kClip, options, "motion_mau_mfs_3",
                {0, 11.001015424728394, 10.979791879653931, 10.922634959220886}, 0);
  expect_values("float_motion", kClip, options, "motion2_mau_mfs_3",
                {0, 10.979791879653931, 10.922634959220886, 10.922634959220886}, 0);
  expect_values("float_motion", kClip, options, "motion3_mau_mfs_3",
                {11.001015424728394, 10.979791879653931, 10.922634959220886, 10.922634959220886}, 0);
}

TEST(FloatMotion, AddsHalfTheSize) {
  expect_values("float_motion", kClip, {{"motion_add_scale1", "true"}, {"motion_filter_size", "1"}}, "motion_mdc_mfs_1",
                {0, 15.2666015625, 15.36366081237793, 15.133571624755859}, 0);
  expect_values("float_motion", "synth_320x240_4f_10bit_444",
                {{"motion_add_scale1", "true"}, {"motion_add_uv", "true"}}, "motion_mdc_mau",
                {0, 17.935520887374878, 17.979809761047363, 17.999083280563354}, 0);
}

TEST(FloatMotion, BlendsWeighsAndClips) {
  const std::vector<OptionValue> options{{"motion_add_scale1", "true"},
                                         {"motion_blend_factor", "0.4"},
                                         {"motion_blend_offset", "3"},
                                         {"motion_fps_weight", "1.5"},
                                         {"motion_max_val", "16"}};
  expect_values("float_motion", kClip, options, "motion_mdc_mbf_0.4_mbo_3_mfw_1.5_mmxv_16", {0, 16, 16, 16}, 0);
  expect_values("float_motion", kClip, options, "motion3_mdc_mbf_0.4_mbo_3_mfw_1.5_mmxv_16",
                {8.8030334472656264, 8.7966064453125004, 8.7457672119140639, 8.7457672119140639}, 0);
}

TEST(FloatMotion, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("float_motion", "synth_322x182_5f_8bit_420");
  expect_same_on_all_targets("float_motion", "synth_321x181_3f_12bit_420",
                             {{"motion_add_uv", "true"}, {"motion_add_scale1", "true"}});
}

TEST(FloatMotion, RefusesWhatItCannotRead) {
  expect_refused("float_motion", {.width = 64, .height = 64, .depth = 9}, "8, 10, 12, 16 bits");
  expect_refused("float_motion", {.width = 64, .height = 64, .subsampling = Subsampling::grey}, "grey",
                 {{"motion_add_uv", "true"}});
}

}  // namespace
}  // namespace acuity::tests
