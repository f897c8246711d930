// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "metrics/vmaf/metric.h"

namespace acuity::cli {

int run_models(const Request&, Console& console) {
  std::string text;
  for (const vmaf::ModelSet& set : vmaf::built_in_models()) {
    std::string names;
    for (const vmaf::ShortName& known : vmaf::short_names()) {
      if (known.stands_for == set.name) names += fmt::format(", or vmaf:{}", known.name);
    }
    text += fmt::format("{}{}{}\n", text.empty() ? "" : "\n", console.bold("vmaf:" + set.name), names);
    text += fmt::format("  for       {}\n", set.seen);
    std::string features;
    for (const vmaf::Input& input : set.whole.inputs) {
      const FeatureEntry* feature = vmaf::feature_with_output(input.output);
      const std::string name = feature == nullptr ? input.output : feature->info.name;
      if (!features.ends_with(name)) features += (features.empty() ? "" : ", ") + name;
    }
    text += fmt::format("  made of   {}\n", features);
    if (set.whole.clip) text += fmt::format("  scores    {} to {}\n", set.whole.clip->first, set.whole.clip->second);
    if (set.bits != 0)
      text += fmt::format("  samples   8-bit video is measured as {}-bit (precision=auto)\n", set.bits);
  }
  console.print(text);
  return kExitOk;
}

}  // namespace acuity::cli
