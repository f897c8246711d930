// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values are those of libvmaf 3.2.0 with the same options. It is asked for within 1e-6, and met to the last bit.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/luma_frames.h"

namespace acuity::tests {
namespace {

TEST(FloatVif, EqualsLibvmaf) { expect_golden("float_vif", "float_vif", {}, 0); }

TEST(FloatVif, Options) {
  const std::string floors = "vif_scale1_min_val=0.9:vif_scale2_min_val=0.91:vif_scale3_min_val=0.2";
  const std::string suffix = "_s1miv_0.9_s2miv_0.91_s3miv_0.2";
  expect_last_values("float_vif", "synth_320x180_1f_8bit_420",
                     {{"vif_enhn_gain_limit=1", "vif_egl_1", 0.46364595944796844},
                      {"vif_kernelscale=0.5", "vif_ks_0.5", 0.39962220592088277},
                      {"vif_kernelscale=1.5", "vif_ks_1.5", 0.5382800988769131},
                      {"vif_kernelscale=3.7113", "vif_ks_3.7113", 0.6217411800594097},
                      {"ks=0.711111", "vif_ks_0.711111", 0.43206545748509545},
                      {"vif_sigma_nsq=0", "vif_snsq_0", 0.0333852268661914},
                      {"vif_sigma_nsq=1.3", "vif_snsq_1.3", 0.4365965485834314},
                      {"vif_sigma_nsq=5", "vif_snsq_5", 0.5352671555900114},
                      {"vif_skip_scale0=true", "vif_scale0_ssclz", 0.0},
                      {"vif_skip_scale0=true", "vif_scale1_ssclz", 0.8094012879239653},
                      {"vif_skip_scale0=true", "vif_ssclz", 0.8345402764175343},
                      {"vif_skip_scale0=true", "vif_num_scale0_ssclz", 0.0},
                      {"vif_skip_scale0=true", "vif_den_scale0_ssclz", -1.0},
                      {floors, "vif_scale0" + suffix, 0.3627330739139245},
                      {floors, "vif_scale1" + suffix, 0.9},
                      {floors, "vif_scale2" + suffix, 0.91},
                      {floors, "vif_scale3" + suffix, 0.9380749656030395},
                      {floors, "vif" + suffix, 0.46480030930359306}});
}

TEST(FloatVif, ScaledFrames) {
  expect_last_values("float_vif", "synth_320x180_1f_8bit_420",
                     {{"vif_prescale=0.5", "vif_ps_0.5", 0.562681911648},
                      {"vif_prescale=1.3:vif_prescale_method=bilinear", "vif_ps_1.3_pm_bilinear", 0.5004509868084506},
                      {"vif_prescale=1.3:vif_prescale_method=bicubic", "vif_ps_1.3_pm_bicubic", 0.45137020932939087},
                      {"vif_prescale=0.7:vif_prescale_method=lanczos4", "vif_ps_0.7_pm_lanczos4", 0.5359964518310684}});
}

TEST(FloatVif, OddSizesAndDepths) {
  struct Expected {
    std::string clip;
    double ratio, numerator, denominator;
  };
  for (const Expected& expected :
       std::vector<Expected>{{"synth_131x67_1f_8bit_444", 0.47455986914546006, 27640.16717529297, 58243.79382324219},
                             {"synth_131x67_1f_16bit_444", 0.4769115587460405, 27761.68212890625, 58211.384521484375},
                             {"synth_16x16_1f_8bit_444", 0.5590492768064078, 1309.2758560180664, 2341.9686069488525},
                             {"synth_49x16_1f_10bit_444", 0.5324562506712878, 3680.5792922973633, 6912.453910827637}}) {
    expect_last_values(
        "float_vif", expected.clip,
        {{"", "vif", expected.ratio}, {"", "vif_num", expected.numerator}, {"", "vif_den", expected.denominator}});
  }
}

TEST(FloatVif, StrongestContrast) {
  for (const int depth : {8, 16}) {
    const FeatureValues values = measure_clip("float_vif", black_and_white_noise(depth));
    EXPECT_EQ(values.frames.at("vif_num")[0], depth == 8 ? 14356.774032592773 : 14357.37841796875);
    EXPECT_EQ(values.frames.at("vif_den")[0], depth == 8 ? 102825.32647705078 : 102925.31530761719);
  }
}

TEST(FloatVif, FlatFramesLoseNothing) {
  for (const int depth : {8, 10, 12, 16}) {
    for (const int code : {0, 1 << (depth - 1), (1 << depth) - 1}) {
      const FeatureValues values = measure_clip("float_vif", flat_luma(depth, code));
      EXPECT_NEAR(values.frames.at("vif")[0], 1, 1e-6);  // means of floats are not quite exact
      EXPECT_EQ(values.frames.at("vif_den_scale0")[0], 64 * 48);
    }
  }
}

TEST(FloatVif, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("float_vif", "synth_323x183_2f_8bit_420");
  expect_same_on_all_targets("float_vif", "synth_1001x77_1f_10bit_422", {{"egl", "1"}, {"snsq", "1.7"}});
  expect_same_on_all_targets("float_vif", "synth_67x301_1f_16bit_444", {{"ssclz", "true"}, {"ks", "2"}});
  expect_same_on_all_targets("float_vif", "synth_17x19_1f_12bit_444");
  expect_same_on_all_targets("float_vif", "synth_61x45_1f_8bit_444", {{"ps", "1.6"}, {"pm", "bicubic"}});
}

// The window of the first scale reaches 32 samples to each side; that is a whole chunk of columns.
TEST(FloatVif, WidestWindow) {
  expect_same_on_all_targets("float_vif", "synth_57x60_1f_8bit_444", {{"ks", "3.7113"}});
  expect_same_on_all_targets("float_vif", "synth_64x65_1f_8bit_444", {{"ks", "3.7113"}});
}

TEST(FloatVif, RefusesWhatItCannotHold) {
  expect_refused("float_vif", {.width = 15, .height = 64}, "at least 16 x 16");
  expect_refused("float_vif", {.width = 64, .height = 15}, "at least 16 x 16");
  const FrameShape format{.width = 64, .height = 64};
  expect_refused("float_vif", format, "13 x 13", {{"vif_prescale", "0.2"}});
  expect_refused("float_vif", {.width = 32, .height = 64}, "at least 56 x 56", {{"vif_kernelscale", "3.7113"}});
  expect_refused("float_vif", format, "use one of 0.4444, 0.5", {{"vif_kernelscale", "0.9"}});
  expect_refused("float_vif", format, "from 0.1 to 4", {{"vif_prescale", "5"}});
  expect_refused("float_vif", format, "nearest or bilinear", {{"vif_prescale_method", "area"}});
  expect_refused("float_vif", {.width = 1921, .height = 64}, "stops at 7680",
                 {{"vif_prescale", "4"}, {"vif_prescale_method", "bilinear"}});
}

}  // namespace
}  // namespace acuity::tests
