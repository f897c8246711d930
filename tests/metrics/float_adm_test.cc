// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options are those of libvmaf 3.2.0 with the same options.
#include <cmath>

#include <gtest/gtest.h>

#include "support/luma_frames.h"

namespace acuity::tests {
namespace {

// adm2, aim, adm3 and the four scales.
void expect_scores(const std::vector<OptionValue>& options, const std::string& first_output,
                   const std::vector<double>& expected) {
  expect_first_outputs("float_adm", options, first_output, expected, 0);
}

TEST(FloatAdm, EqualsLibvmaf) {
  std::map<std::string, FeatureValues> measured;
  for (const GoldenValue& golden : read_video_golden("float_adm")) {
    if (!measured.contains(golden.clip)) {
      measured[golden.clip] = measure_clip("float_adm", synthetic_clip(golden.clip));
    }
    const double found = measured[golden.clip].frames.at(golden.output).at(std::stoul(golden.frame));
    EXPECT_EQ(found, golden.value) << golden.clip << " " << golden.frame << " " << golden.output;
  }
}

TEST(FloatAdm, Sensitivities) {
  expect_scores({{"adm_csf_mode", "1"}, {"adm_csf_scale", "0.01"}, {"adm_csf_diag_scale", "0.007"}},
                "adm2_scfd_0.007_csf_1_scf_0.01",
                {0.9355046121028261, 0.026619415658282266, 0.954442598222272, 0.9715855984600035, 0.874246997639854,
                 0.9141316663886109, 0.9472799124071853});
  expect_scores({{"adm_csf_mode", "2"}}, "adm2_csf_2",
                {0.933891541510751, 0.022769553015992185, 0.9555609942473795, 0.9893090374151888, 0.8556926081470847,
                 0.9129053617729875, 0.9463793173809589});
  // Closer than whole numbers allow, and a mode that is another name of the usual one.
  expect_scores({{"adm_csf_mode", "7"},
                 {"adm_norm_view_dist", "1.5"},
                 {"adm_ref_display_height", "480"},
                 {"adm_noise_weight", "0.5"}},
                "adm2_csf_7_nw_0.5_nvd_1.5_rdf_480",
                {0.9163068875500789, 0.10541407124082046, 0.9054464081546292, 0.9237875409065798, 0.8639124540504591,
                 0.9178041182156988, 0.950280168870395});
  expect_scores({{"adm_f1s0", "0.02"},
                 {"adm_f1s1", "0.03"},
                 {"adm_f1s2", "0"},
                 {"adm_f1s3", "0.5"},
                 {"adm_f2s0", "0.01"},
                 {"adm_f2s1", "0.02"},
                 {"adm_f2s2", "0.03"},
                 {"adm_f2s3", "0.04"},
                 {"adm_min_val", "0.97"}},
                "adm2_f1s0_0.02_f1s1_0.03_f1s2_0_f1s3_0.5_f2s0_0.01_f2s1_0.02_f2s2_0.03_f2s3_0.04_min_0.97",
                {0.9461887736745918, 0.013654255849529768, 0.97, 0.96049539669164, 0.8963131633724414,
                 0.9271047646383467, 0.948517253931801});
}

TEST(FloatAdm, GainExponentAndMasking) {
  expect_scores({{"adm_enhn_gain_limit", "1.2"}}, "adm2_egl_1.2",
                {0.938005251938983, 0.053562222074952745, 0.9422215149320151, 0.9657710206995627, 0.8988863419276459,
                 0.9285579010657892, 0.9506090519348274});
  expect_scores({{"adm_p_norm", "2.5"}, {"adm_dlm_weight", "0.2"}}, "adm2_dlmw_0.2_apn_2.5",
                {0.9234664109751833, 0.05865685369382402, 0.9377677992399776, 0.9624532094689576, 0.8666102984591809,
                 0.9083461760746107, 0.9446656113779365});
  expect_scores({{"adm_bypass_cm", "1"}, {"adm_skip_scale0", "true"}}, "adm2_bcm_1_ssz",
                {0.9496802068648847, 0.10239790555799216, 0.9236411506534463, 0.0, 0.9292558780262782,
                 0.9484690650822777, 0.9593586487956587});
}

TEST(FloatAdm, HarmonicMeanWithoutOneScale) {
  expect_scores({{"adm_adm3_apply_hm", "true"}, {"adm_skip_aim_scale", "1"}}, "adm2_aah_sasc_1",
                {0.9384409678774415, 0.040549791405965284, 0.0777404385759403, 0.9663019728054992, 0.8996219373118319,
                 0.9290111777048885, 0.95086701724276});
}

TEST(FloatAdm, StrongestDetails) {
  for (const int depth : {8, 16}) {
    const FeatureValues values = measure_clip("float_adm", black_and_white_noise(depth));
    const bool is_8 = depth == 8;
    EXPECT_EQ(values.frames.at("adm2")[0], is_8 ? 0.7568286713602453 : 0.7567544103643263);
    EXPECT_EQ(values.frames.at("aim")[0], is_8 ? 0.22731301973875442 : 0.22738243620578638);
    EXPECT_EQ(values.frames.at("adm_den")[0], is_8 ? 312.60459899902344 : 313.7299041748047);
  }
}

TEST(FloatAdm, FlatFramesLoseNothing) {
  for (const int code : {0, 128, 255}) {
    const FeatureValues values = measure_clip("float_adm", flat_luma(8, code), {{"adm_noise_weight", "0"}});
    for (const auto& [name, frames] : values.frames) EXPECT_TRUE(std::isfinite(frames[0])) << name;
    EXPECT_EQ(measure_clip("float_adm", flat_luma(8, code)).frames.at("adm2")[0], 1);
  }
}

TEST(FloatAdm, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("float_adm", "synth_323x183_2f_8bit_420");
  expect_same_on_all_targets("float_adm", "synth_1001x77_1f_10bit_422", {{"egl", "1"}, {"apn", "2.2"}});
  expect_same_on_all_targets("float_adm", "synth_67x301_1f_16bit_444", {{"egl", "3.7"}, {"ssz", "true"}});
  expect_same_on_all_targets("float_adm", "synth_17x17_1f_12bit_444", {{"bcm", "1"}});
}

TEST(FloatAdm, RefusesTinyFramesAndBadOptions) {
  expect_refused("float_adm", {.width = 16, .height = 64}, "at least 17 x 17");
  expect_refused("float_adm", {.width = 64, .height = 64}, "from 1 to 20", {{"adm_p_norm", "0.5"}});
  expect_refused("float_adm", {.width = 64, .height = 64}, "from -1 to 3", {{"adm_skip_aim_scale", "4"}});
}

}  // namespace
}  // namespace acuity::tests
