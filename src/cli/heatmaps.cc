// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/heatmaps.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/names.h"
#include "base/try.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

constexpr std::string_view kOption = "heatmaps_path";

// The folders that options of cambi name, or those of a model's cambi: FEATURE.OPTION=VALUE;...
std::vector<std::string> folders_of(std::span<const OptionValue> options) {
  std::vector<std::string> folders;
  for (const OptionValue& option : options) {
    if (same_name(option.name, kOption)) folders.push_back(option.value);
    if (!same_name(option.name, "features")) continue;
    for (std::string_view rest = option.value; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      const size_t dot = one.find('.'), equals = one.find('=', dot);
      if (equals == std::string_view::npos) continue;
      if (same_name(one.substr(dot + 1, equals - dot - 1), kOption)) folders.emplace_back(one.substr(equals + 1));
    }
  }
  return folders;
}

}  // namespace

Status check_heatmaps(std::span<const OptionValue> options, std::span<const std::string> inputs) {
  for (const std::string& folder : folders_of(options)) {
    std::error_code error;  // the metric makes the folder where there is none
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (!entry.path().filename().string().starts_with("cambi_heatmap_scale_")) continue;
      ACUITY_TRY(OutputFile::check(entry.path().string(), "heatmaps_path", inputs).status());
    }
  }
  return {};
}

Status refuse_heatmaps(std::span<const OptionValue> options) {
  if (folders_of(options).empty()) return {};
  return Status(StatusCode::usage,
                "heatmaps_path is for one video: all would write the same files; give it to 'acuity score' with one "
                "pair of videos");
}

}  // namespace acuity::cli
