// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/heatmaps.h"

#include <filesystem>
#include <system_error>

#include "base/try.h"
#include "media/output_file.h"

namespace acuity::cli {

Status check_heatmaps(std::span<const OptionValue> options, std::span<const std::string> inputs) {
  for (const OptionValue& option : options) {
    if (option.name != "heatmaps_path") continue;
    std::error_code error;  // the metric makes the folder where there is none
    for (const auto& entry : std::filesystem::directory_iterator(option.value, error)) {
      if (!entry.path().filename().string().starts_with("cambi_heatmap_scale_")) continue;
      ACUITY_TRY(OutputFile::check(entry.path().string(), "heatmaps_path", inputs).status());
    }
  }
  return {};
}

}  // namespace acuity::cli
