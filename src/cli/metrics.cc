// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fmt/format.h>

#include "acuity/scorer.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/text.h"
#include "engine/options.h"

namespace acuity::cli {

int run_metrics(const Request&, Console& console) {
  std::string text;
  for (const MetricInfo& metric : metrics()) {
    text += fmt::format("{}{}  {}\n", text.empty() ? "" : "\n", console.bold(metric.name), metric.title);
    text += fmt::format("  version       {}\n", metric.version);
    text += fmt::format("  better        {}; {} for identical pictures\n",
                        metric.better == Better::higher ? "higher" : "lower", short_number(metric.identical));
    text += fmt::format("  pictures      from {0} x {0} pixels\n", metric.minimum_side);
    if (metric.frames) {
      text += "  works on      the Y'CbCr samples of videos; pictures are converted (BT.709, limited range, 4:4:4)\n";
    } else {
      text += fmt::format("  map           {}\n", metric.has_map ? "yes, with --map" : "no");
      text += fmt::format("  transparency  {}\n", metric.alpha_rule);
    }
    for (const MetricOption& option : metric.options) {
      text += fmt::format("  option        {}: {}; {} (default: {})\n", option.name, option.help,
                          allowed_values(option), option.otherwise);
    }
  }
  console.print(text);
  return kExitOk;
}

}  // namespace acuity::cli
