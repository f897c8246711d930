// SPDX-License-Identifier: BSD-2-Clause-Patent
// The list of features of video frames, and how their outputs are named. A new one adds its entry here.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/names.h"
#include "engine/feature.h"
#include "metrics/adm/feature.h"
#include "metrics/cambi/feature.h"
#include "metrics/ciede2000/feature.h"
#include "metrics/float_adm/feature.h"
#include "metrics/float_ssim/entries.h"
#include "metrics/float_vif/feature.h"
#include "metrics/motion/feature.h"
#include "metrics/psnr_hvs/feature.h"
#include "metrics/psnr_yuv/feature.h"
#include "metrics/speed/feature.h"
#include "metrics/ssim/feature.h"
#include "metrics/vif/feature.h"

namespace acuity {
namespace {

// libvmaf prints "VMAF_integer_feature_vif_scale0_score" as "integer_vif_scale0"; all its short names are made so,
// except that there is none for motion_sad, nor for motion_v2.
std::string short_name(std::string_view name) {
  struct Shortened {
    std::string_view prefix;
    std::string_view replacement;
  };
  static constexpr Shortened kShortened[] = {{"VMAF_integer_feature_", "integer_"},
                                             {"VMAF_feature_", ""},
                                             {"Cambi_feature_", ""},
                                             {"Speed_chroma_feature_", ""},
                                             {"Speed_temporal_feature_", ""}};
  constexpr std::string_view kSuffix = "_score";
  const bool exempt = name.ends_with("motion_sad_score") || name.find("_v2_") != std::string_view::npos;
  if (!name.ends_with(kSuffix) || exempt) return std::string(name);
  for (const Shortened& one : kShortened) {
    if (!name.starts_with(one.prefix)) continue;
    name.remove_prefix(one.prefix.size());
    name.remove_suffix(kSuffix.size());
    return std::string(one.replacement) + std::string(name);
  }
  return std::string(name);
}

bool is_switch(const MetricOption& option) { return option.words == std::vector<std::string>{"true", "false"}; }

}  // namespace

const std::vector<FeatureEntry>& features() {
  // clang-format off: each on a line of its own, so that changes do not meet
  static constexpr FeatureEntry (*kEntries[])() = {
      adm_entry,
      cambi_entry,
      ciede_entry,
      float_adm_entry,
      float_ansnr_entry,
      float_moment_entry,
      float_motion_entry,
      float_ms_ssim_entry,
      float_psnr_entry,
      float_ssim_entry,
      float_vif_entry,
      motion_entry,
      motion_v2_entry,
      psnr_hvs_entry,
      psnr_yuv_entry,
      speed_chroma_entry,
      speed_temporal_entry,
      ssim_entry,
      vif_entry,
  };
  // clang-format on
  static const std::vector<FeatureEntry> entries = [] {
    std::vector<FeatureEntry> list;
    for (const auto entry : kEntries) list.push_back(entry());
    return list;
  }();
  return entries;
}

const FeatureEntry* find_feature(std::string_view name) {
  for (const FeatureEntry& entry : features()) {
    if (same_name(entry.info.name, name)) return &entry;
  }
  return nullptr;
}

MetricOption switch_option(std::string name, std::string alias, std::string help, bool on) {
  MetricOption option{.name = std::move(name), .help = std::move(help), .default_value = on ? "true" : "false"};
  option.words = {"true", "false"};
  option.alias = std::move(alias);
  return option;
}

bool is_on(const OptionValues& options, std::string_view name) { return options.text(name) == "true"; }

std::string output_name(std::string_view name, const MetricInfo& info, const OptionValues& options) {
  std::vector<const MetricOption*> named;
  for (const MetricOption& option : info.options) {
    if (option.in_names && options.text(option.name) != option.default_value) named.push_back(&option);
  }
  std::sort(named.begin(), named.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  std::string result = short_name(name);
  for (const MetricOption* option : named) {
    result += "_" + (option->alias.empty() ? option->name : option->alias);
    if (is_switch(*option)) continue;
    const std::optional<double> number = options.number(option->name);
    result += number ? fmt::format("_{:g}", *number) : "_" + options.text(option->name);
  }
  return result;
}

}  // namespace acuity
