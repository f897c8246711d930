// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values are those of libvmaf 3.2.0 with the same options.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/powers.h"
#include "lang/host.h"
#include "lang/targets.h"
#include "metrics/vif/cpu.h"
#include "support/luma_frames.h"

namespace acuity::tests {
namespace dialect {

using namespace kernel_dialect;
#include "metrics/vif/math.h"

}  // namespace dialect

namespace {

TEST(Vif, EqualsLibvmaf) { expect_golden("vif", "vif", {}, 0); }

TEST(Vif, Options) {
  expect_last_values("vif", "synth_320x180_1f_8bit_420",
                     {{"vif_enhn_gain_limit=1", "integer_vif_scale0_egl_1", 0.3618919551372528},
                      {"vif_enhn_gain_limit=1", "integer_vif_scale3_egl_1", 0.9360448718070984},
                      {"vif_enhn_gain_limit=1", "integer_vif_egl_1", 0.4636518200514323},
                      {"egl=1.2", "integer_vif_scale0_egl_1.2", 0.3627108335494995},
                      {"egl=1.2", "integer_vif_scale3_egl_1.2", 0.9379258751869202},
                      {"egl=1.2", "integer_vif_egl_1.2", 0.46481163867251807},
                      {"vif_skip_scale0=true", "integer_vif_scale0_ssclz", 0.0},
                      {"vif_skip_scale0=true", "integer_vif_scale1_ssclz", 0.8095417618751526},
                      {"vif_skip_scale0=true", "integer_vif_ssclz", 0.8346818184654621},
                      {"vif_skip_scale0=true", "integer_vif_num_scale0_ssclz", 0.0},
                      {"vif_skip_scale0=true", "integer_vif_den_scale0_ssclz", -1.0}});
}

TEST(Vif, OddSizesAndDepths) {
  struct Expected {
    std::string clip;
    double ratio, numerator, denominator;
  };
  for (const Expected& expected :
       std::vector<Expected>{{"synth_131x67_1f_8bit_444", 0.4746162297381902, 27642.345153808594, 58241.46630859375},
                             {"synth_131x67_1f_10bit_444", 0.4762933064326836, 27724.662658691406, 58209.2216796875},
                             {"synth_131x67_1f_12bit_444", 0.47683367768205087, 27756.117248535156, 58209.2216796875},
                             {"synth_131x67_1f_16bit_444", 0.4769319979200836, 27761.840393066406, 58209.2216796875},
                             {"synth_16x16_1f_8bit_444", 0.5591073043191462, 1309.47216796875, 2342.07666015625},
                             {"synth_49x16_1f_10bit_444", 0.5324977639995666, 3680.93603515625, 6912.5849609375}}) {
    expect_last_values("vif", expected.clip,
                       {{"", "integer_vif", expected.ratio},
                        {"", "integer_vif_num", expected.numerator},
                        {"", "integer_vif_den", expected.denominator}});
  }
}

// Every filter's sums are as large as they become.
TEST(Vif, StrongestContrast) {
  for (const int depth : {8, 16}) {
    const FeatureValues values = measure_clip("vif", black_and_white_noise(depth));
    EXPECT_EQ(values.frames.at("integer_vif_num")[0], depth == 8 ? 14356.82861328125 : 14357.556640625);
    EXPECT_EQ(values.frames.at("integer_vif_den")[0], depth == 8 ? 102824.8876953125 : 102925.14501953125);
  }
}

TEST(Vif, FlatFramesLoseNothing) {
  for (const int depth : {8, 10, 12, 16}) {
    for (const int code : {0, 1 << (depth - 1), (1 << depth) - 1}) {
      const FeatureValues values = measure_clip("vif", flat_luma(depth, code));
      EXPECT_EQ(values.frames.at("integer_vif")[0], 1);
      EXPECT_EQ(values.frames.at("integer_vif_den_scale0")[0], 64 * 48);
    }
  }
}

TEST(Vif, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("vif", "synth_323x183_2f_8bit_420");
  expect_same_on_all_targets("vif", "synth_1001x77_1f_10bit_422", {{"egl", "1"}});
  expect_same_on_all_targets("vif", "synth_67x301_1f_16bit_444", {{"ssclz", "true"}});
  expect_same_on_all_targets("vif", "synth_17x19_1f_12bit_444");
}

// Rows may lie further apart than they are long, and the last one may come first.
TEST(Vif, RowsMayLieAnywhere) {
  const SyntheticClip clip = synthetic_clip("synth_131x67_1f_8bit_444");
  const Result<std::unique_ptr<Feature>> feature = create_feature("vif", clip.reference[0].format, {});
  ASSERT_TRUE(feature.ok());
  const Result<std::unique_ptr<FeatureWorker>> worker = (*feature)->create_worker();
  ASSERT_TRUE(worker.ok());
  const FrameView reference = clip.reference[0].view(), distorted = clip.distorted[0].view();
  std::vector<std::byte> memory(200 * 67, std::byte{99});
  for (int y = 0; y < 67; ++y) {
    std::copy_n(reference.planes[0] + y * 131, 131, memory.begin() + 200 * (66 - y));
  }
  FrameView moved = reference;
  moved.planes[0] = memory.data() + 200 * 66;
  moved.row_strides[0] = -200;
  std::vector<double> values(15);
  FeatureWindows windows(**feature, **worker, {moved}, {distorted});
  ASSERT_TRUE(windows.measure(0, values).ok());
  EXPECT_EQ(values[4], 0.4746162297381902);
}

// libvmaf's table is of 2048 log2f(i), which is a float: that moves some entries.
TEST(Vif, LogarithmsAreThoseOfTheTable) {
  std::vector<int32_t> values, expected;
  for (int shift = 2; shift <= 15; ++shift) {
    for (int i = 32768; i < 65536; ++i) {
      const int32_t ignored = (i * 7919) & ((1 << shift) - 1);  // any bits below the 16 upper ones
      values.push_back((i << shift) | (i % 3 == 0 ? (1 << shift) - 1 : ignored));
      const auto log = static_cast<float>(exact_log2(i));
      expected.push_back(static_cast<int32_t>(std::lround(log * 2048)) + 2048 * shift);
    }
  }
  ASSERT_EQ(values.back(), INT32_MAX);
  for (const std::string& target : cpu_targets()) {
    SCOPED_TRACE(target);
    ASSERT_TRUE(limit_cpu(target).ok());
    std::vector<int32_t> logs(values.size());
    vif::scaled_logs(values.data(), values.size(), logs.data());
    EXPECT_TRUE(logs == expected);
  }
  ASSERT_TRUE(limit_cpu("").ok());
}

// Both forms of the logarithm, for all upper bits and with any below.
TEST(Vif, LogarithmsOfGpusAreThoseOfTheCpu) {
  std::vector<int32_t> values, logs;
  for (int64_t v = 1 << 17; v < int64_t{1} << 31; v += std::max<int64_t>(v >> 16, 1)) {
    values.push_back(static_cast<int32_t>(v));
    values.push_back(static_cast<int32_t>(v | (v >> 16)));
  }
  values.resize(values.size() / 16 * 16);
  logs.resize(values.size());
  vif::scaled_logs(values.data(), values.size(), logs.data());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(dialect::scaled_log(values[i]) - 2048 * 127, logs[i]) << values[i];
}

TEST(Vif, RefusesWhatItCannotHold) {
  expect_refused("vif", {.width = 15, .height = 64}, "at least 16 x 16");
  expect_refused("vif", {.width = 64, .height = 15}, "at least 16 x 16");
  expect_refused("vif", {.width = 64, .height = 64}, "from 1 to 100", {{"vif_enhn_gain_limit", "0.9"}});
}

}  // namespace
}  // namespace acuity::tests
