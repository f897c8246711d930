// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fmt/format.h>

#include "acuity/scorer.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/gpu_metrics.h"
#include "cli/request.h"
#include "cli/text.h"
#include "engine/frame_metric.h"
#include "engine/options.h"
#include "metrics/zensim/pooling.h"

namespace acuity::cli {
namespace {

std::string described(const MetricInfo& metric, const Console& console) {
  std::string text = fmt::format("{}  {}\n", console.bold(metric.name), metric.title);
  text += fmt::format("  version       {}\n", metric.version);
  text += fmt::format("  better        {}; identical pictures give {}\n", name_of(metric.better),
                      metric.identical ? short_number(*metric.identical) : metric.identical_says);
  if (metric.minimum_says.empty()) {
    const OptionValues defaults = *OptionValues::parse(metric, {});
    text += fmt::format("  pictures      from {0} x {0} pixels\n", least_side(metric, defaults));
  } else {
    text += fmt::format("  pictures      {}\n", metric.minimum_says);
  }
  if (!metric.is_frame_metric) {
    text += fmt::format("  map           {}\n", metric.has_map ? "yes, with --map" : "no");
    text += fmt::format("  transparency  {}\n", metric.alpha_rule);
  } else if (find_frame_metric(metric.name)->reads_rgb) {
    text += "  works on      the samples of videos, Y'CbCr or RGB; pictures stay RGB\n";
  } else {
    text += "  works on      the Y'CbCr samples of videos; pictures are converted (BT.709, limited range, 4:4:4)\n";
  }
  if (metric.is_frame_metric && metric.has_map) text += "  map           yes, of one frame: --map with --frame\n";
  const std::string needs = needs_in_words(gpu_needs(metric));
  text += fmt::format("  runs on       {}{}\n", has_gpu_version(metric) ? "the CPU and GPUs" : "the CPU",
                      needs.empty() ? "" : " with " + needs);
  for (const MetricOption& option : metric.options) {
    text += fmt::format("  option        {}: {}; {} (default: {})\n", option.name, option.help, allowed_values(option),
                        option.default_value);
  }
  return text;
}

// The features of zensim, which are too many for the list of all metrics.
std::string listed_features() {
  std::string text = "  features      index and name; docs/metrics/zensim.md describes each\n";
  const std::vector<std::string>& names = zensim::feature_names();
  for (size_t i = 0; i < names.size(); ++i) text += fmt::format("    {:3}  {}\n", i, names[i]);
  return text;
}

}  // namespace

int run_metrics(const Request& request, Console& console) {
  std::string text;
  const auto add = [&](const MetricInfo& metric) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", described(metric, console));
  };
  for (const std::string& name : request.arguments()) {
    add(*find_metric(name));
    if (name == "zensim") text += listed_features();
  }
  if (request.arguments().empty()) {
    for (const MetricInfo& metric : metrics()) add(metric);
  }
  console.print(text);
  return kExitOk;
}

}  // namespace acuity::cli
