// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values of options are those of libvmaf 3.2.0 with the same options.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "acuity/plan.h"
#include "lang/targets.h"
#include "metrics/cambi/counts.h"
#include "metrics/cambi/pool.h"
#include "support/features.h"

namespace acuity::tests {
namespace {

const std::string kClip = "synth_320x240_4f_8bit_422";

std::string refusal(int width, int height, const std::string& options) {
  return create_feature("cambi", {.width = width, .height = height}, options_of(options)).status().message();
}

TEST(Cambi, EqualsLibvmaf) { expect_golden("cambi", "cambi", {}, 0); }

TEST(Cambi, EqualsLibvmafAsTheModelsOfVersion1UseIt) {
  expect_golden("cambi_v1", "cambi", options_of("hrs=1080:cmxv=17:vlt=0.06"), 0);
}

TEST(Cambi, OptionsOnBytes) {
  expect_last_values(
      "cambi", kClip,
      {
          {"full_ref=true", "cambi", 0.8564341000519914},
          {"full_ref=true", "cambi_source", 0.8971717990681428},
          {"full_ref=true", "cambi_full_reference", 0},
          {"enc_width=280:enc_height=220:full_ref=true", "cambi_ench_220_encw_280", 0.08290919978484446},
          {"enc_width=280:enc_height=220:full_ref=true", "cambi_source", 0.8971717990681428},
          {"enc_width=280:enc_height=220:full_ref=true", "cambi_full_reference", 0},
          {"enc_width=250:enc_height=216:src_width=330:src_height=270:full_ref=true",
           "cambi_ench_216_encw_250_srch_270_srcw_330", 0.02476663462200953},
          {"enc_width=250:enc_height=216:src_width=330:src_height=270:full_ref=true", "cambi_source",
           0.6610322662809466},
          {"enc_width=250:enc_height=216:src_width=330:src_height=270:full_ref=true", "cambi_full_reference", 0},
          {"enc_bitdepth=10", "cambi_encbd_10", 2.549641113851617},
          {"enc_bitdepth=8", "cambi_encbd_8", 0.8564341000519914},
          {"window_size=127", "cambi_ws_127", 0.555004305532758},
          {"window_size=90", "cambi_ws_90", 0.6868412102732312},
          {"topk=0.05", "cambi_topk_0.05", 10.269740784573717},
          {"cambi_topk=0.02", "cambi_ctpk_0.02", 13.390345914023262},
          {"topk=0.3:cambi_topk=0.1", "cambi_ctpk_0.1_topk_0.3", 1.7128682001039828},
          {"tvi_threshold=0.0001", "cambi_tvit_0.0001", 0.8566703056566031},
          {"tvi_threshold=0.04", "cambi_tvit_0.04", 0.23002799740927019},
          {"cambi_vis_lum_threshold=12", "cambi_vlt_12", 0.711757176320434},
          {"max_log_contrast=0", "cambi_mlc_0", 0},
          {"max_log_contrast=1", "cambi_mlc_1", 0.001103012706417075},
          {"max_log_contrast=3", "cambi_mlc_3", 1.048499409401633},
          {"max_log_contrast=4", "cambi_mlc_4", 1.1112583054335208},
          {"max_log_contrast=5", "cambi_mlc_5", 1.1211834557371343},
          {"eotf=pq", "cambi_eotf_pq", 0.8566703056566031},
          {"cambi_eotf=pq:max_log_contrast=5:tvi_threshold=0.02", "cambi_ceot_pq_mlc_5_tvit_0.02", 1.1211834557371343},
          {"cambi_max_val=0.2", "cambi_cmxv_0.2", 0.2},
          {"cambi_high_res_speedup=1080", "cambi_hrs_1080", 0.8564341000519914},
      });
}

TEST(Cambi, OptionsOnWords) {
  expect_last_values(
      "cambi", "synth_352x288_4f_12bit_420",
      {
          {"full_ref=true", "cambi", 2.7513652299493834},
          {"full_ref=true", "cambi_source", 0},
          {"full_ref=true", "cambi_full_reference", 2.7513652299493834},
          {"enc_width=280:enc_height=220:full_ref=true", "cambi_ench_220_encw_280", 2.8172171211010983},
          {"enc_width=280:enc_height=220:full_ref=true", "cambi_source", 0},
          {"enc_width=280:enc_height=220:full_ref=true", "cambi_full_reference", 2.8172171211010983},
          {"enc_width=250:enc_height=216:src_width=330:src_height=270:full_ref=true",
           "cambi_ench_216_encw_250_srch_270_srcw_330", 2.709982511581172},
          {"enc_width=250:enc_height=216:src_width=330:src_height=270:full_ref=true", "cambi_source",
           0.00019545416953311995},
          {"enc_width=250:enc_height=216:src_width=330:src_height=270:full_ref=true", "cambi_full_reference",
           2.709787057411639},
          {"enc_bitdepth=10", "cambi_encbd_10", 2.7513652299493834},
          {"enc_bitdepth=8", "cambi_encbd_8", 1.4846333628181745},
          {"window_size=127", "cambi_ws_127", 1.619073920743165},
          {"window_size=90", "cambi_ws_90", 2.309026093395186},
          {"topk=0.05", "cambi_topk_0.05", 19.983175024131814},
          {"cambi_topk=0.02", "cambi_ctpk_0.02", 21.4688369484809},
          {"topk=0.3:cambi_topk=0.1", "cambi_ctpk_0.1_topk_0.3", 5.502995441568332},
          {"tvi_threshold=0.0001", "cambi_tvit_0.0001", 2.7513652299493834},
          {"tvi_threshold=0.04", "cambi_tvit_0.04", 0.8526759973014097},
          {"cambi_vis_lum_threshold=12", "cambi_vlt_12", 2.1787251883942225},
          {"max_log_contrast=0", "cambi_mlc_0", 0},
          {"max_log_contrast=1", "cambi_mlc_1", 0},
          {"max_log_contrast=3", "cambi_mlc_3", 3.0877324542004456},
          {"max_log_contrast=4", "cambi_mlc_4", 3.194467188987949},
          {"max_log_contrast=5", "cambi_mlc_5", 3.2297496204833003},
          {"eotf=pq", "cambi_eotf_pq", 2.7513652299493834},
          {"cambi_eotf=pq:max_log_contrast=5:tvi_threshold=0.02", "cambi_ceot_pq_mlc_5_tvit_0.02", 3.2297496204833003},
          {"cambi_max_val=0.2", "cambi_cmxv_0.2", 0.2},
          {"cambi_high_res_speedup=1080", "cambi_hrs_1080", 2.7513652299493834},
      });
}

TEST(Cambi, EveryTargetGivesTheSame) {
  const SyntheticClip clip = synthetic_clip("synth_322x182_5f_8bit_420");
  for (const char* options : {"full_ref=true", "mlc=5:topk=0.01", "mlc=3:encw=250:ench=170:encbd=10"}) {
    std::optional<std::map<std::string, std::vector<double>>> first;
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      const auto found = measure_clip("cambi", clip, options_of(options)).frames;
      if (!first) first = found;
      EXPECT_EQ(found, *first) << target << " " << options;
    }
    ASSERT_TRUE(limit_cpu("").ok());
  }
}

TEST(Cambi, LooksAtLumaOnly) {
  SyntheticClip clip = synthetic_clip("synth_320x240_4f_8bit_444");
  const std::vector<double> colour = measure_clip("cambi", clip).frames.at("cambi");
  for (auto* frames : {&clip.reference, &clip.distorted}) {
    for (OwnedFrame& frame : *frames) frame.format.subsampling = Subsampling::grey;
  }
  EXPECT_EQ(measure_clip("cambi", clip).frames.at("cambi"), colour);
}

// Windows larger than the picture of the last scale must not read outside of it.
TEST(Cambi, NarrowPictures) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{216, 1}, {1, 216}, {3000, 16}, {17, 2500}}) {
    const SyntheticVideo video(width, height, 8, Subsampling::grey);
    const SyntheticClip clip{{video.reference(0)}, {video.distorted(0)}};
    const double value = measure_clip("cambi", clip, options_of("ws=127")).frames.at("cambi_ws_127").front();
    EXPECT_TRUE(value >= 0 && value < 30) << width << "x" << height << " " << value;
  }
}

uint64_t hash_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t hash = 0xcbf29ce484222325;
  for (auto byte = std::istreambuf_iterator<char>(file); byte != std::istreambuf_iterator<char>(); ++byte) {
    hash = (hash ^ static_cast<uint8_t>(*byte)) * 0x100000001b3;
  }
  return hash;
}

// FNV-1a of the files that libvmaf writes with the same options.
TEST(Cambi, HeatmapsEqualThoseOfLibvmaf) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "cambi_heatmaps" / "made";
  std::filesystem::remove_all(folder);
  measure_clip("cambi", synthetic_clip("synth_322x182_5f_8bit_420"),
               {{"heatmaps_path", folder.string()}, {"max_log_contrast", "3"}});
  EXPECT_EQ(hash_of_file(folder / "cambi_heatmap_scale_0_322x182_16b.gray"), 0xf32a673a0904cff0u);
  EXPECT_EQ(hash_of_file(folder / "cambi_heatmap_scale_1_161x91_16b.gray"), 0x64250f98916c7da5u);
  EXPECT_EQ(hash_of_file(folder / "cambi_heatmap_scale_2_81x46_16b.gray"), 0x4beedb8117a23d28u);
  EXPECT_EQ(hash_of_file(folder / "cambi_heatmap_scale_3_41x23_16b.gray"), 0x8f07f39e0b143a90u);
  EXPECT_EQ(hash_of_file(folder / "cambi_heatmap_scale_4_21x12_16b.gray"), 0xcb64fdd88ea942b5u);
  std::filesystem::remove_all(folder.parent_path());
}

// Whoever makes the feature may only plan, or may be refused because of something else.
TEST(Cambi, HeatmapsStayUntilOthersAreWritten) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "cambi_kept";
  std::filesystem::remove_all(folder);
  const SyntheticClip clip = synthetic_clip("synth_322x182_5f_8bit_420");
  const std::filesystem::path map = folder / "cambi_heatmap_scale_0_322x182_16b.gray";
  const std::vector<OptionValue> options{{"heatmaps_path", folder.string()}};
  measure_clip("cambi", clip, options);
  const uint64_t before = hash_of_file(map);
  ASSERT_EQ(std::filesystem::file_size(map), 5u * 322 * 182 * 2);
  const FrameScorerOptions planned{
      .metrics = {{"cambi", options}}, .format = FrameFormat{clip.reference[0].format}, .device = "cuda"};
  EXPECT_TRUE(plan_device_bytes(planned).ok());
  EXPECT_EQ(hash_of_file(map), before);
  measure_clip("cambi", {{clip.reference[0]}, {clip.distorted[0]}}, options);
  EXPECT_EQ(std::filesystem::file_size(map), 322u * 182 * 2);
  std::filesystem::remove_all(folder);
}

TEST(Cambi, Refusals) {
  EXPECT_EQ(refusal(192, 192, ""),
            "cambi needs 216 samples across or down, but the distorted video is 192x192; use larger frames");
  EXPECT_EQ(refusal(352, 288, "encw=200:ench=180"),
            "cambi needs 216 samples across or down, but the distorted video is 200x180; use larger frames");
  EXPECT_EQ(refusal(352, 288, "srcw=400:srch=200"),
            "the source is 400x200 and the encoded video 352x288, one wider and the other higher; check src_width, "
            "src_height, enc_width and enc_height");
  EXPECT_EQ(refusal(3840, 2160, "ws=70"),
            "frames of this size make window_size=70 a window of 71 samples across, and at most 65 are possible; use a "
            "smaller window_size");
  EXPECT_EQ(refusal(352, 288, "encw=100"),
            "invalid value '100' for option enc_width of cambi: expected a whole number from 180 to 7680, or 0");
  EXPECT_EQ(refusal(352, 288, "heatmaps_path=/dev/null/maps").substr(0, 42),
            "cannot make the folder /dev/null/maps: Not");
}

TEST(Cambi, SamplesAboveTheDepthAreRefused) {
  SyntheticClip clip = synthetic_clip("synth_352x288_6f_10bit_420");
  clip.distorted.resize(1);
  clip.distorted[0].planes[0][2 * (352 * 7 + 351) + 1] = 4;
  for (const char* options : {"", "encw=250:ench=216"}) {
    const auto feature = create_feature("cambi", clip.distorted[0].format, options_of(options));
    ASSERT_TRUE(feature.ok());
    const auto worker = (*feature)->create_worker();
    ASSERT_TRUE(worker.ok());
    const FrameView frame = clip.distorted[0].view();
    FeatureWindows windows(**feature, **worker, {frame}, {frame});
    double value = 0;
    const std::string message = windows.measure(0, {&value, 1}).message();
    EXPECT_EQ(message.substr(0, 35), "row 7 of the frame has a sample of ");
  }
}

// libvmaf's table has nine decimal digits, which for 42 of its entries is not the float next to 1 / i.
TEST(Cambi, ReciprocalsHaveNineDigits) {
  const float* table = cambi::reciprocals();
  EXPECT_EQ(table[1], 1.0f);
  EXPECT_EQ(table[82], 0.012195122f);
  EXPECT_NE(table[82], 1.0f / 82);
  EXPECT_EQ(table[83], 0.0120481928f);
  EXPECT_EQ(table[1000], 0.001f);
  EXPECT_EQ(table[4224], 0.000236742424f);
}

TEST(Cambi, MeanOfTheLargestIsThatOfASortedList) {
  std::mt19937 random(1);
  for (const size_t count : {1u, 5u, 33u, 1000u, 30011u}) {
    for (const uint32_t different : {1u, 3u, 100000u}) {
      std::vector<float> values(count);
      for (float& value : values) {
        const uint32_t pick = random() % (different + 1);
        value = pick == 0 ? 0 : 0.5f + static_cast<float>(pick) * 0.0625f;
      }
      std::vector<float> sorted = values;
      std::sort(sorted.begin(), sorted.end(), std::greater<float>());
      for (const size_t most : {size_t{1}, count / 3 + 1, count, count + 10}) {
        double sum = 0;
        for (size_t i = 0; i < std::min(most, count); ++i) sum += static_cast<double>(sorted[i]);
        std::vector<float> given = values;
        EXPECT_EQ(cambi::mean_of(cambi::sum_of_largest(given, static_cast<int64_t>(most)), static_cast<int64_t>(most)),
                  sum / static_cast<double>(most));
      }
    }
  }
}

}  // namespace
}  // namespace acuity::tests
