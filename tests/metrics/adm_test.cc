// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values are those of libvmaf 3.2.0 with the same options, by its AVX2 code (--cpumask 16).
#include <gtest/gtest.h>

#include "support/luma_frames.h"

namespace acuity::tests {
namespace {

// adm2, aim, adm3 and the four scales.
void expect_scores(const std::vector<OptionValue>& options, const std::string& first_output,
                   const std::vector<double>& expected) {
  expect_first_outputs("adm", options, first_output, expected, 0);
}

TEST(Adm, EqualsLibvmaf) { expect_golden("adm", "adm", {}, 0); }

TEST(Adm, GainLimits) {
  expect_scores({{"adm_enhn_gain_limit", "1"}}, "integer_adm2_egl_1",
                {0.9335728584554261, 0.053607908940088184, 0.939982474757669, 0.9647601550005855, 0.8900242445389627,
                 0.923769363766356, 0.9470483028849151});
  // Products are rounded in most columns of scale 0, and their fraction is cut off elsewhere.
  expect_scores({{"egl", "1.2"}}, "integer_adm2_egl_1.2",
                {0.9380010085013045, 0.053559722253077646, 0.9422206431241134, 0.9657788920621263, 0.8988806954111845,
                 0.9285502165837992, 0.9506023503312845});
}

TEST(Adm, Sensitivities) {
  expect_scores({{"adm_csf_mode", "1"}, {"adm_csf_scale", "0.001"}, {"adm_csf_diag_scale", "0.0007"}},
                "integer_adm2_scfd_0.0007_csf_1_scf_0.001",
                {0.9625561579934228, 0.015455011133709461, 0.9735505734298566, 0.9965967141533115, 0.9658460951849008,
                 0.9455491309523328, 0.9534374955770042});
  expect_scores({{"adm_csf_mode", "2"}, {"adm_norm_view_dist", "5"}}, "integer_adm2_csf_2_nvd_5",
                {0.9511588666546604, 0.02586993638298254, 0.962644465135839, 0.9905224162376239, 0.933637065829654,
                 0.9365844943362441, 0.9510040959211876});
  expect_scores({{"adm_csf_mode", "2"}, {"adm_ref_display_height", "2160"}, {"adm_norm_view_dist", "5"}},
                "integer_adm2_csf_2_nvd_5_rdh_2160",
                {0.9658053678246818, 0.011046978981177343, 0.9773791944217523, 0.9997541277870373, 0.9757959802193147,
                 0.9519038687445456, 0.9535681391138102});
  expect_scores({{"adm_csf_mode", "3"}, {"adm_ref_display_height", "2160"}, {"adm_norm_view_dist", "1.5"}},
                "integer_adm2_csf_3_nvd_1.5_rdh_2160",
                {0.9438339835675451, 0.04133470787763975, 0.9512496378449526, 0.9760424260096224, 0.9134782406064096,
                 0.930843397050111, 0.9508622139066717});
  expect_scores({{"adm_csf_mode", "3"}, {"adm_ref_display_height", "2160"}}, "integer_adm2_csf_3_rdh_2160",
                {0.9561111021411896, 0.02172376156502219, 0.9671936702880837, 0.995027438656289, 0.9450697542225908,
                 0.9415725133602832, 0.952191452261129});
  expect_scores({{"adm_csf_mode", "3"}, {"adm_ref_display_height", "720"}, {"adm_norm_view_dist", "5"}},
                "integer_adm2_csf_3_nvd_5_rdh_720",
                {0.9455629868429916, 0.03829466723193515, 0.9536341598055282, 0.9790674665325838, 0.9180145151784013,
                 0.9321600448220857, 0.950978018080072});
  expect_scores({{"adm_norm_view_dist", "4.7"}, {"adm_noise_weight", "7"}}, "integer_adm2_nw_7_nvd_4.7",
                {0.9838292640984861, 0.012409312707142194, 0.985709975695672, 0.9969144276623566, 0.9825592338237189,
                 0.9758299468356586, 0.9711361205006488});
}

TEST(Adm, OptionsOfTheFirstModelsOfVersion1) {
  expect_scores({{"adm_csf_mode", "2"},
                 {"adm_enhn_gain_limit", "1"},
                 {"adm_noise_weight", "0.02"},
                 {"adm_dlm_weight", "0.7"},
                 {"adm_min_val", "0.5"}},
                "integer_adm2_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02",
                {0.9355804731740118, 0.041326362321474026, 0.942508422525366, 0.9704623374263674, 0.8938232328327413,
                 0.9219781070388398, 0.9457386581407495});
}

TEST(Adm, PartsThatAreLeftOut) {
  expect_scores({{"adm_skip_aim", "true"}}, "integer_adm2",
                {0.9384433791878167, 0.0, 0.9692216895939083, 0.9663537284779332, 0.899611891856121, 0.9290031185087018,
                 0.9508622585101879});
  expect_scores({{"adm_skip_scale0", "true"}, {"adm_dlm_weight", "0"}}, "integer_adm2_dlmw_0_ssz",
                {0.9333716735122156, 0.03733611609993459, 0.9626638839000654, 0.0, 0.899611891856121,
                 0.9290031185087018, 0.9508622585101879});
  expect_scores({{"adm_min_val", "0.99"}}, "integer_adm2_min_0.99",
                {0.9384433791878167, 0.05339274763220155, 0.99, 0.9663537284779332, 0.899611891856121,
                 0.9290031185087018, 0.9508622585101879});
}

// The goldens have one such width, 322, where rows run on in scales 1 to 3.
TEST(Adm, RowsThatRunOnIntoOthers) {
  struct Case {
    const char* clip;
    double adm2, aim, den_scale2, den_scale3;
  };
  for (const Case& expected : {
           // In scales 2 and 3; behind the rows is what an even width has left.
           Case{"synth_328x90_1f_8bit_420", 0.9094807070099541, 0.04845712555696326, 46.756507873535156,
                59.25914001464844},
           // In scales 0, 1 and 2, where the last column counts.
           Case{"synth_162x120_1f_10bit_420", 0.9122629727756287, 0.05222098841458272, 28.81060028076172,
                52.31629943847656},
           // In scales 0, 1 and 2, where it does not.
           Case{"synth_290x66_1f_10bit_420", 0.9323599607021884, 0.04200576895758004, 33.52214050292969,
                66.12351989746094},
           // What is left behind is of rows that are not made otherwise.
           Case{"synth_163x500_1f_8bit_420", 0.9149166917130629, 0.0621761029366534, 47.16409683227539,
                72.17570495605469},
       }) {
    const FeatureValues values = measure_clip("adm", synthetic_clip(expected.clip));
    EXPECT_EQ(values.frames.at("integer_adm2")[0], expected.adm2) << expected.clip;
    EXPECT_EQ(values.frames.at("integer_aim")[0], expected.aim) << expected.clip;
    EXPECT_EQ(values.frames.at("integer_adm_den_scale2")[0], expected.den_scale2) << expected.clip;
    EXPECT_EQ(values.frames.at("integer_adm_den_scale3")[0], expected.den_scale3) << expected.clip;
  }
}

// Nothing may be taken for granted here about how quotients are rounded and what 16 bits hold.
TEST(Adm, StrongestDetails) {
  for (const int depth : {8, 16}) {
    const FeatureValues values = measure_clip("adm", black_and_white_noise(depth));
    const bool is_8 = depth == 8;
    EXPECT_EQ(values.frames.at("integer_adm2")[0], is_8 ? 0.7529182854353195 : 0.7528458713103877);
    EXPECT_EQ(values.frames.at("integer_aim")[0], is_8 ? 0.2275587603192103 : 0.22770610703609825);
    EXPECT_EQ(values.frames.at("integer_adm_num")[0], is_8 ? 236.6954002380371 : 237.5073699951172);
    EXPECT_EQ(values.frames.at("integer_adm_den")[0], is_8 ? 314.3706359863281 : 315.47940826416016);
  }
}

TEST(Adm, FlatFramesLoseNothing) {
  for (const int depth : {8, 10, 12, 16}) {
    for (const int code : {0, 1 << (depth - 1), (1 << depth) - 1}) {
      const FeatureValues values = measure_clip("adm", flat_luma(depth, code), {{"adm_noise_weight", "0"}});
      for (const auto& [name, frames] : values.frames) {
        const bool is_sum = name.find("num") != std::string::npos || name.find("den") != std::string::npos;
        EXPECT_EQ(frames[0], is_sum || name.starts_with("integer_aim") ? 0 : 1) << name;
      }
    }
  }
}

TEST(Adm, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("adm", "synth_323x183_2f_8bit_420");
  expect_same_on_all_targets("adm", "synth_1001x77_1f_10bit_422", {{"egl", "1"}, {"csf", "2"}});
  expect_same_on_all_targets("adm", "synth_67x301_1f_16bit_444", {{"egl", "3.7"}, {"ssz", "true"}});
  expect_same_on_all_targets("adm", "synth_17x17_1f_12bit_444", {{"adm_skip_aim", "true"}});
  expect_same_on_all_targets("adm", "synth_162x120_1f_10bit_420");
  expect_same_on_all_targets("adm", black_and_white_noise(8), {{"egl", "1.2"}});
}

TEST(Adm, RefusesWhatItCannotHold) {
  expect_refused("adm", {.width = 16, .height = 64}, "at least 17 x 17");
  expect_refused("adm", {.width = 64, .height = 16}, "at least 17 x 17");
  const FrameShape format{.width = 64, .height = 64};
  expect_refused("adm", format, "float_adm", {{"adm_norm_view_dist", "2.9"}});
  expect_refused("adm", format, "1080 rows seen from 3 or 5", {{"adm_csf_mode", "2"}, {"adm_norm_view_dist", "4"}});
  expect_refused("adm", format, "adm_csf_scale", {{"adm_csf_mode", "1"}});
  expect_refused("adm", format, "from 0 to 3", {{"adm_csf_mode", "4"}});
}

}  // namespace
}  // namespace acuity::tests
