// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/lists.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "engine/options.h"

namespace acuity::cli {
namespace {

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The whole text as a number, or nothing.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Status unknown_metric(const std::string& name, std::span<const MetricInfo> known) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : known) names.push_back(metric.name);
  return usage(
      fmt::format("there is no metric '{}'{}; there are: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

// NAME, NAME:OPTION=VALUE:... or, where the metric has variants, NAME:VARIANT:...
Result<MetricChoice> parse_metric(std::string_view text, std::span<const MetricInfo> known) {
  const std::vector<std::string_view> parts = split(text, ':');
  MetricChoice choice;
  choice.name = trimmed(parts.front());
  const auto metric = std::find_if(known.begin(), known.end(),
                                   [&](const MetricInfo& info) { return same_name(info.name, choice.name); });
  if (metric == known.end()) return unknown_metric(choice.name, known);
  choice.name = metric->name;
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos && !metric->variant.empty()) {
      choice.options.push_back({metric->variant, std::string(trimmed(part))});
      continue;
    }
    if (equals == std::string_view::npos) {
      return usage(
          fmt::format("{} has no variant '{}'; options are written as in {}:OPTION=VALUE, and 'acuity metrics' "
                      "lists them",
                      choice.name, trimmed(part), choice.name));
    }
    choice.options.push_back(
        {std::string(trimmed(part.substr(0, equals))), std::string(trimmed(part.substr(equals + 1)))});
  }
  const Result<OptionValues> values = OptionValues::parse(*metric, choice.options);
  if (!values.ok()) return values.status();
  choice.label = values->label(*metric);
  return choice;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Result<MetricList> parse_metrics(std::span<const std::string> lists, std::span<const MetricInfo> known) {
  MetricList result;
  for (const std::string& list : lists) {
    for (const std::string_view text : split(list, ',')) {
      if (trimmed(text).empty()) {
        return usage(fmt::format("the list of metrics '{}' has an empty name; separate names by single commas", list));
      }
      Result<MetricChoice> choice = parse_metric(trimmed(text), known);
      if (!choice.ok()) return choice.status();
      const bool repeated = std::any_of(result.metrics.begin(), result.metrics.end(),
                                        [&](const MetricChoice& other) { return other.label == choice->label; });
      if (repeated) {
        result.repeated.push_back(choice->label);
      } else {
        result.metrics.push_back(std::move(*choice));
      }
    }
  }
  return result;
}

std::vector<std::string> files_of_options(std::span<const MetricChoice> metrics) {
  std::vector<std::string> files;
  for (const MetricChoice& metric : metrics) {
    for (const OptionValue& option : metric.options) {
      files.push_back(option.value);
      const size_t hash = option.value.rfind('#');
      if (hash != std::string::npos) files.push_back(option.value.substr(0, hash));
    }
  }
  return files;
}

Result<MemoryMode> parse_memory(std::string_view text) {
  constexpr std::string_view kStrip = "strip:";
  constexpr int kMostRows = 1 << 20;
  if (text == "auto") return MemoryMode::automatic();
  if (text == "full") return MemoryMode::full();
  if (text.starts_with(kStrip)) {
    const Result<int> rows = parse_whole(text.substr(kStrip.size()), "the ROWS of --memory strip:ROWS", 1, kMostRows);
    if (!rows.ok()) return rows.status();
    return MemoryMode::strip(*rows);
  }
  return usage(fmt::format("invalid value '{}' for --memory: expected auto, full or strip:ROWS", text));
}

Result<int> parse_whole(std::string_view text, std::string_view what, int least, int most) {
  int number = 0;
  if (read_number(text, number) && number >= least && number <= most) return number;
  return usage(
      fmt::format("invalid value '{}' for {}: expected a whole number from {} to {}", text, what, least, most));
}

Result<double> parse_time(std::string_view text, std::string_view what) {
  const std::vector<std::string_view> parts = split(text, ':');
  double seconds = 0;
  bool good = parts.size() == 2 || parts.size() == 3;
  for (size_t i = 0; i < parts.size() && good; ++i) {
    const bool last = i + 1 == parts.size();
    double number = 0;
    int whole = 0;
    good = !parts[i].empty() && parts[i].find_first_not_of(last ? "0123456789." : "0123456789") == parts[i].npos &&
           (last ? read_number(parts[i], number) : read_number(parts[i], whole)) && (i == 0 || number + whole < 60);
    seconds = seconds * 60 + number + whole;
  }
  if (good) return seconds;
  return usage(fmt::format("invalid value '{}' for {}: expected a time such as 00:01:30 or 1:30.5", text, what));
}

Result<double> parse_number(std::string_view text, std::string_view what) {
  double number = 0;
  if (read_number(text, number) && std::isfinite(number)) return number;
  return usage(fmt::format("invalid value '{}' for {}: expected a number such as 70 or 0.5", text, what));
}

}  // namespace acuity::cli
