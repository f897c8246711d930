// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options are those of libvmaf 3.2.0 with the same options.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "lang/targets.h"
#include "metrics/speed/algebra.h"
#include "support/features.h"

namespace acuity::tests {
namespace {

std::string refusal(const std::string& feature, int width, int height, const std::string& options,
                    Subsampling subsampling = Subsampling::yuv420) {
  const FrameShape format{.width = width, .height = height, .subsampling = subsampling};
  return create_feature(feature, format, options_of(options)).status().message();
}

TEST(SpeedChroma, EqualsLibvmaf) { expect_golden("speed_chroma", "speed_chroma", {}, 0); }

TEST(SpeedTemporal, EqualsLibvmaf) { expect_golden("speed_temporal", "speed_temporal", {}, 0); }

TEST(SpeedChroma, EqualsLibvmafAsTheModelsOfVersion1UseIt) {
  expect_golden("speed_chroma_v1", "speed_chroma", options_of("mxv=45:nnf=0.1:ps=0.6:psm=bilinear:snn=0.19:wvm=5"), 0);
}

TEST(SpeedChroma, Options) {
  expect_last_values(
      "speed_chroma", "synth_320x240_4f_10bit_444",
      {
          {"speed_kernelscale=0.5", "speed_chroma_uv_ks_0.5", 5.846782684326172},
          {"speed_kernelscale=3.7113", "speed_chroma_uv_ks_3.7113", 2.3454294204711914},
          {"speed_prescale=1.4", "speed_chroma_uv_ps_1.4", 9.277935028076172},
          {"speed_prescale=1.5:speed_prescale_method=bilinear", "speed_chroma_uv_ps_1.5_psm_bilinear",
           8.300657272338867},
          {"speed_prescale=0.7:speed_prescale_method=bicubic", "speed_chroma_uv_ps_0.7_psm_bicubic",
           12.691802978515625},
          {"speed_prescale=1.3:speed_prescale_method=lanczos4", "speed_chroma_uv_ps_1.3_psm_lanczos4",
           9.895004272460938},
          {"speed_prescale=0.9995", "speed_chroma_uv_ps_0.9995", 4.548040390014648},
          {"speed_sigma_nn=1.5:speed_nn_floor=0.7", "speed_chroma_uv_nnf_0.7_snn_1.5", 3.5919251441955566},
          {"speed_weight_var_mode=1", "speed_chroma_uv_wvm_1", 2.5636963844299316},
          {"speed_weight_var_mode=2", "speed_chroma_uv_wvm_2", 2.5141313076019287},
          {"speed_weight_var_mode=3", "speed_chroma_uv_wvm_3", 2.539332389831543},
          {"speed_weight_var_mode=4", "speed_chroma_uv_wvm_4", 3.2852344512939453},
          {"speed_weight_var_mode=5", "speed_chroma_uv_wvm_5", 2.769836187362671},
          {"speed_weight_var_mode=6", "speed_chroma_uv_wvm_6", 3.904250383377075},
          {"speed_max_val=4", "speed_chroma_u_mxv_4", 4},
          {"speed_max_val=4", "speed_chroma_v_mxv_4", 2.961059331893921},
          {"speed_max_val=4", "speed_chroma_uv_mxv_4", 4},
      });
}

// libvmaf takes speed_max_val here too, and does nothing with it.
TEST(SpeedTemporal, Options) {
  expect_last_values(
      "speed_temporal", "synth_352x288_4f_12bit_420",
      {
          {"speed_use_ref_diff=true", "speed_temporal_urd", 6.415370464324951},
          {"speed_kernelscale=2.4", "speed_temporal_ks_2.4", 6.2741241455078125},
          {"speed_prescale=0.8:speed_prescale_method=bilinear:speed_max_val=5:speed_nn_floor=0.1:speed_sigma_nn=0.19",
           "speed_temporal_mxv_5_nnf_0.1_ps_0.8_psm_bilinear_snn_0.19", 10.407135963439941},
          {"speed_prescale=0.9:speed_prescale_method=lanczos4", "speed_temporal_ps_0.9_psm_lanczos4",
           7.558076858520508},
          {"speed_prescale=0.7", "speed_temporal_ps_0.7", 11.908775329589844},
      });
}

TEST(Speed, EveryTargetGivesTheSame) {
  const SyntheticClip clip = synthetic_clip("synth_320x240_4f_8bit_444");
  for (const char* feature : {"speed_chroma", "speed_temporal"}) {
    for (const char* options : {"ks=2.4", "ps=1.7:psm=bicubic"}) {
      std::optional<std::map<std::string, std::vector<double>>> first;
      for (const std::string& target : cpu_targets()) {
        ASSERT_TRUE(limit_cpu(target).ok());
        const auto found = measure_clip(feature, clip, options_of(options)).frames;
        if (!first) first = found;
        EXPECT_EQ(found, *first) << feature << " " << target << " " << options;
      }
      ASSERT_TRUE(limit_cpu("").ok());
    }
  }
}

TEST(Speed, IdenticalVideosAreNoDistanceApart) {
  SyntheticClip clip = synthetic_clip("synth_320x240_4f_8bit_444");
  clip.distorted = clip.reference;
  for (const char* feature : {"speed_chroma", "speed_temporal"}) {
    for (const auto& [name, values] : measure_clip(feature, clip).frames) {
      for (const double value : values) EXPECT_EQ(value, 0) << name;
    }
  }
}

// A flat plane has no covariances: the score of both is that of the other one.
TEST(SpeedChroma, FlatPlanesAreLeftOut) {
  SyntheticClip clip = synthetic_clip("synth_320x240_4f_8bit_444");
  for (auto* frames : {&clip.reference, &clip.distorted}) {
    for (OwnedFrame& frame : *frames) std::fill(frame.planes[1].begin(), frame.planes[1].end(), uint8_t{99});
  }
  const FeatureValues values = measure_clip("speed_chroma", clip);
  EXPECT_EQ(values.frames.at("speed_chroma_u").front(), 0);
  EXPECT_GT(values.frames.at("speed_chroma_v").front(), 0);
  EXPECT_EQ(values.frames.at("speed_chroma_uv"), values.frames.at("speed_chroma_v"));
}

TEST(SpeedTemporal, TakesGreyFrames) {
  SyntheticClip clip = synthetic_clip("synth_320x240_4f_8bit_444");
  const auto colour = measure_clip("speed_temporal", clip).frames;
  for (auto* frames : {&clip.reference, &clip.distorted}) {
    for (OwnedFrame& frame : *frames) frame.format.subsampling = Subsampling::grey;
  }
  EXPECT_EQ(measure_clip("speed_temporal", clip).frames, colour);
}

// The last column and row of colour do not count in odd frames, nor may anything outside of them be read.
TEST(SpeedChroma, OddFrames) {
  const SyntheticVideo video(323, 243, 10, Subsampling::yuv420);
  const SyntheticClip clip{{video.reference(0)}, {video.distorted(0)}};
  for (const char* options : {"", "ps=1.1:psm=lanczos4", "ks=3.7113"}) {
    for (const auto& [name, values] : measure_clip("speed_chroma", clip, options_of(options)).frames) {
      EXPECT_TRUE(std::isfinite(values.front())) << name;
    }
  }
}

TEST(Speed, Refusals) {
  EXPECT_EQ(refusal("speed_chroma", 640, 158, ""),
            "speed_chroma needs planes of at least 80 x 80 samples, and these are 320 x 79; use larger frames");
  EXPECT_EQ(refusal("speed_temporal", 352, 288, "ps=0.25"),
            "speed_temporal needs planes of at least 80 x 80 samples, and these are 352 x 288, 88 x 72 after "
            "speed_prescale; use larger frames");
  EXPECT_EQ(refusal("speed_chroma", 640, 480, "ks=1.2").substr(0, 83),
            "speed_chroma has no filters for speed_kernelscale=1.2; use one of 0.4444, 0.5, 0.66");
  EXPECT_EQ(refusal("speed_chroma", 640, 480, "", Subsampling::grey),
            "speed_chroma looks at the colour planes, and these frames are grey; leave out speed_chroma");
  EXPECT_EQ(refusal("speed_chroma", 640, 480, "psm=cubic"),
            "invalid value 'cubic' for option speed_prescale_method of speed_chroma: expected nearest or bilinear or "
            "bicubic or lanczos4");
}

// B B' + 1 with random B: eigenvalues add up to the trace, and the solution fits.
TEST(SpeedAlgebra, SolvesAndFindsEigenvalues) {
  std::mt19937 random(3);
  const auto number = [&] { return static_cast<float>(random() % 2001) / 1000.0f - 1.0f; };
  speed::Matrix factor, matrix;
  for (auto& row : factor.at) {
    for (int j = 0; j < speed::kSide; ++j) row[j] = number();
  }
  double trace = 0;
  for (int i = 0; i < speed::kSide; ++i) {
    for (int j = 0; j < speed::kSide; ++j) {
      double sum = i == j ? 1 : 0;
      for (int k = 0; k < speed::kSide; ++k) sum += static_cast<double>(factor.at[i][k] * factor.at[j][k]);
      matrix.at[i][j] = static_cast<float>(sum);
    }
  }
  for (int i = 0; i < speed::kSide; ++i) trace += static_cast<double>(matrix.at[i][i]);
  float eigenvalues[speed::kSide];
  speed::find_eigenvalues(matrix, eigenvalues);
  double sum = 0;
  for (const float value : eigenvalues) {
    EXPECT_GT(value, 0.999f);
    sum += static_cast<double>(value);
  }
  EXPECT_NEAR(sum, trace, 1e-3);

  constexpr int kStride = 16;
  alignas(64) float b[speed::kSide * kStride] = {}, x[speed::kSide * kStride] = {};
  for (float& value : b) value = number();
  ASSERT_TRUE(speed::solve(matrix, b, 5, kStride, x));
  for (int i = 0; i < speed::kSide; ++i) {
    for (int c = 0; c < 5; ++c) {
      double product = 0;
      for (int k = 0; k < speed::kSide; ++k) product += static_cast<double>(matrix.at[i][k] * x[k * kStride + c]);
      EXPECT_NEAR(product, static_cast<double>(b[i * kStride + c]), 1e-4);
    }
  }
  EXPECT_FALSE(speed::solve(speed::Matrix(), b, 5, kStride, x));
}

}  // namespace
}  // namespace acuity::tests
