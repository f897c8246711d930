// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/map_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/text.h"
#include "media/output_file.h"
#include "media/write.h"

namespace acuity::cli {
namespace {

constexpr std::string_view kDistorted = "{distorted}";
constexpr std::string_view kMetric = "{metric}";
constexpr const char* kFitted = "auto";  // of --distogram-max

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

bool ends_in(const std::string& path, std::string_view ending) {
  return path.size() > ending.size() && std::equal(ending.rbegin(), ending.rend(), path.rbegin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

// The name of a file, or of a metric with its options, as a part of the name of another.
std::string part_of_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

Status check_pattern(const std::string& pattern, size_t pictures, size_t metrics) {
  if (!ends_in(pattern, ".png") && !ends_in(pattern, ".pfm")) {
    if (std::error_code error; std::filesystem::is_directory(pattern, error)) {
      const std::filesystem::path name = std::filesystem::path(pattern) / "{distorted}-{metric}.png";
      return usage(fmt::format("--map '{}' is a folder: name the files in it, as in '{}'", pattern, name.string()));
    }
    return usage(
        fmt::format("invalid value '{}' for --map: expected a name that ends in .png (colours) or .pfm "
                    "(floats)",
                    pattern));
  }
  const bool one_for_all = pictures > 1 && pattern.find(kDistorted) == std::string::npos;
  const bool one_for_metrics = metrics > 1 && pattern.find(kMetric) == std::string::npos;
  if (!one_for_all && !one_for_metrics) return {};
  return usage(fmt::format(
      "--map '{}' is one file, but there are {} distorted files and {} metrics: put {} in its "
      "name, as in 'map-{}{}{}.png'",
      pattern, pictures, metrics,
      one_for_all && one_for_metrics ? "{distorted} and {metric}"
      : one_for_all                  ? kDistorted
                                     : kMetric,
      one_for_all ? kDistorted : "", one_for_all && one_for_metrics ? "-" : "", one_for_metrics ? kMetric : ""));
}

Result<std::pair<double, double>> parse_range(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == std::string::npos) {
    return usage(fmt::format("invalid value '{}' for --map-range: expected LOW,HIGH", text));
  }
  std::pair<double, double> range;
  ACUITY_TRY_ASSIGN(range.first, parse_number(text.substr(0, comma), "--map-range"));
  ACUITY_TRY_ASSIGN(range.second, parse_number(text.substr(comma + 1), "--map-range"));
  if (range.first < range.second) return range;
  return usage(fmt::format("invalid value '{}' for --map-range: LOW must be less than HIGH", text));
}

Result<MapColours> read_colours(const Request& request, const std::string& pattern) {
  MapColours colours;
  for (const char* option : {"--map-range", "--map-colours"}) {
    if (!request.has(option)) continue;
    if (pattern.empty()) return usage(fmt::format("{} needs --map", option));
    if (ends_in(pattern, ".pfm")) {
      return usage(
          fmt::format("{} is for maps in colours (.png); '{}' will hold the values themselves", option, pattern));
    }
  }
  if (request.has("--map-range")) {
    ACUITY_TRY_ASSIGN(colours.range, parse_range(request.value("--map-range")));
    colours.own = false;
  }
  if (!request.has("--map-colours")) return colours;
  const std::string choice = request.value("--map-colours");
  colours.above_threshold = choice == "supra-threshold";
  if (choice != "metric" && choice != "common" && choice != "threshold" && !colours.above_threshold) {
    return usage(
        fmt::format("invalid value '{}' for --map-colours: expected metric or common, and for cvvdp also "
                    "threshold or supra-threshold",
                    choice));
  }
  colours.own = choice != "common";
  if (colours.own && colours.range) {
    return usage("--map-range needs the common colours: leave out --map-colours, whose range is fixed");
  }
  return colours;
}

Result<std::string> read_distogram(const Request& request, std::span<const std::string> distorted,
                                   std::span<const MetricChoice> metrics, std::span<const std::string> inputs) {
  if (!request.has("--distogram")) return std::string();
  const std::string path = request.value("--distogram");
  if (!ends_in(path, ".png")) {
    return usage(fmt::format("invalid value '{}' for --distogram: expected a name that ends in .png", path));
  }
  const auto of_cvvdp = std::count_if(metrics.begin(), metrics.end(),
                                      [](const MetricChoice& metric) { return metric.name.starts_with("cvvdp"); });
  if (of_cvvdp != 1 || distorted.size() != 1) {
    return usage("--distogram shows cvvdp of one video: give -m cvvdp once, and one distorted video");
  }
  ACUITY_TRY(OutputFile::check(path, "--distogram", inputs).status());
  return path;
}

Result<double> read_distogram_max(const Request& request) {
  constexpr double kMost = 1000;
  const std::string text = request.value("--distogram-max");
  if (!request.has("--distogram")) return usage("--distogram-max needs --distogram");
  if (text == kFitted) return 0.0;
  double most = 0;
  ACUITY_TRY_ASSIGN(most, parse_number(text, "--distogram-max"));
  if (most > 0 && most <= kMost) return most;
  return usage(fmt::format("invalid value '{}' for --distogram-max: expected a loss in JOD above 0 and up to {}, or {}",
                           text, kMost, kFitted));
}

}  // namespace

const std::vector<Option>& map_options() {
  static const std::vector<Option> table = {
      {.name = "--map",
       .value = "FILE",
       .help =
           "write the difference map; the name must end in .png (colours) or .pfm (floats), contain {distorted} with "
           "several distorted files and {metric} with several metrics; a video needs --frame",
       .suggest = Suggest::files},
      {.name = "--map-range",
       .value = "LOW,HIGH",
       .help =
           "the values of black and of the brightest colour, so that maps can be compared; the default fits them to "
           "each map"},
      {.name = "--map-colours",
       .value = "WHICH",
       .help = "the colours of the metric's own tools, if it has any (butteraugli, cvvdp), or those common to all "
               "metrics; cvvdp has two kinds, threshold (the default) and supra-threshold",
       .default_value = "metric, and common with --map-range",
       .words = {"metric", "common", "threshold", "supra-threshold"},
       .suggest = Suggest::words},
      {.name = "--distogram",
       .value = "FILE",
       .help = "write what cvvdp sees of each subband of a video over time, as a picture; the name must end in .png",
       .suggest = Suggest::files},
      {.name = "--distogram-max",
       .value = "JOD",
       .help =
           "the loss that the brightest colour of the distogram stands for; auto: the largest in the video, rounded "
           "up to a whole number",
       .default_value = "10",
       .words = {kFitted},
       .suggest = Suggest::words},
  };
  return table;
}

Result<MapPlan> plan_maps(const Request& request, std::span<const std::string> distorted,
                          std::span<const MetricChoice> metrics, std::span<const std::string> inputs) {
  MapPlan plan;
  ACUITY_TRY_ASSIGN(plan.distogram, read_distogram(request, distorted, metrics, inputs));
  if (request.has("--distogram-max")) ACUITY_TRY_ASSIGN(plan.distogram_max, read_distogram_max(request));
  if (request.has("--map")) {
    plan.pattern = request.value("--map");
    ACUITY_TRY(check_pattern(plan.pattern, distorted.size(), metrics.size()));
  }
  ACUITY_TRY_ASSIGN(plan.colours, read_colours(request, plan.pattern));
  if (plan.pattern.empty()) return plan;
  plan.over_context = plan.colours.own && ends_in(plan.pattern, ".png");
  const std::string choice = request.has("--map-colours") ? request.value("--map-colours") : "";
  for (const MetricChoice& metric : metrics) {
    if (!choice.ends_with("threshold") || metric.name.starts_with("cvvdp")) continue;
    return usage(fmt::format("--map-colours {} is for cvvdp; {} has no such colours", choice, metric.name));
  }
  for (const MetricChoice& metric : metrics) {
    if (find_metric(metric.name)->has_map) continue;
    return usage(
        fmt::format("{} has no difference map; 'acuity metrics' lists the metrics that have one", metric.name));
  }
  std::set<std::string> taken;
  for (const std::string& file : distorted) {
    for (const MetricChoice& metric : metrics) {
      const std::string path = map_path(plan.pattern, file, metric.label);
      if (!taken.insert(path).second) {
        return usage(fmt::format("two maps would have the name {}: give the distorted files different names", path));
      }
      ACUITY_TRY(OutputFile::check(path, "--map", inputs).status());
      if (!plan.distogram.empty() && same_place(path, plan.distogram)) {
        return usage(fmt::format("--map and --distogram are both {}; name two files", path));
      }
    }
  }
  return plan;
}

std::string map_path(const std::string& pattern, const std::string& distorted, const std::string& metric_label) {
  std::string path = pattern;
  const std::string name = distorted == "-" ? "stdin" : std::filesystem::path(distorted).filename().string();
  // The metric first: a file may have braces in its name.
  replace_all(path, kMetric, part_of_name(metric_label));
  replace_all(path, kDistorted, part_of_name(name));
  return path;
}

Result<std::string> write_map(const std::string& path, const MetricInfo& metric, const DifferenceMap& map,
                              std::span<const float> context, const MapColours& colours) {
  if (map.values.empty()) return Status(StatusCode::internal, fmt::format("{} gave no difference map", metric.name));
  if (ends_in(path, ".pfm")) {
    if (Status written = write_pfm(path, map.width, map.height, map.values); !written.ok()) return written;
    return fmt::format("map: {}, the largest value is {}", path,
                       short_number(*std::max_element(map.values.begin(), map.values.end())));
  }
  const ColouredMap shown = coloured(map, context, metric, colours);
  const std::string description = fmt::format("{} difference map: {}", metric.name, shown.scale);
  ACUITY_TRY(shown.mixed.empty() ? write_png(path, map.width, map.height, shown.pixels, shown.palette, description)
                                 : write_png(path, map.width, map.height, shown.mixed, description));
  return fmt::format("map: {}, {}", path, shown.scale);
}

}  // namespace acuity::cli
