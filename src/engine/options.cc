// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"

namespace acuity {
namespace {

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

// The whole text as a finite number, whatever the locale.
std::optional<double> to_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool takes_numbers(const MetricOption& option) { return option.minimum <= option.maximum; }

Result<std::string> normal_form(const MetricInfo& metric, const MetricOption& option, const std::string& value) {
  if (option.any_text) return value;
  for (const std::string& word : option.words) {
    if (same_name(word, value)) return word;
  }
  const std::optional<double> number = takes_numbers(option) ? to_number(value) : std::nullopt;
  const bool fits = number && *number >= option.minimum && *number <= option.maximum;
  if (fits && (!option.whole || *number == std::floor(*number))) return fmt::format("{}", *number);
  return usage(fmt::format("invalid value '{}' for option {} of {}: expected {}", value, option.name, metric.name,
                           allowed_values(option)));
}

Status unknown_option(const MetricInfo& metric, const std::string& name) {
  if (metric.options.empty()) return usage(fmt::format("{} has no options, but '{}' is given", metric.name, name));
  std::vector<std::string> names;
  for (const MetricOption& option : metric.options) names.push_back(option.name);
  return usage(fmt::format("{} has no option '{}'{}; it has: {}", metric.name, name, did_you_mean(name, names),
                           fmt::join(names, ", ")));
}

}  // namespace

int least_side(const MetricInfo& metric, const OptionValues& options) {
  const auto refused = [](const OptionValue& option) { return option.name != "small" || option.value == "reject"; };
  return std::all_of(options.all().begin(), options.all().end(), refused) ? metric.minimum_side : 1;
}

std::string allowed_values(const MetricOption& option) {
  if (option.any_text) return "any text";
  const std::string words = fmt::format("{}", fmt::join(option.words, " or "));
  if (!takes_numbers(option)) return words;
  const std::string numbers =
      fmt::format("a {}number from {} to {}", option.whole ? "whole " : "", option.minimum, option.maximum);
  return words.empty() ? numbers : fmt::format("{}, or {}", numbers, words);
}

Result<OptionValues> OptionValues::parse(const MetricInfo& metric, std::span<const OptionValue> given) {
  OptionValues values;
  std::vector<bool> seen(metric.options.size());
  for (const MetricOption& option : metric.options) values.all_.push_back({option.name, option.default_value});
  for (const OptionValue& setting : given) {
    const auto found = std::find_if(metric.options.begin(), metric.options.end(), [&](const MetricOption& option) {
      return same_name(option.name, setting.name) || (!option.alias.empty() && same_name(option.alias, setting.name));
    });
    if (found == metric.options.end()) return unknown_option(metric, setting.name);
    const size_t place = static_cast<size_t>(found - metric.options.begin());
    if (seen[place]) return usage(fmt::format("option {} of {} is given twice", setting.name, metric.name));
    seen[place] = true;
    Result<std::string> value = normal_form(metric, *found, setting.value);
    if (!value.ok()) return value.status();
    values.all_[place].value = std::move(*value);
  }
  return values;
}

const std::string& OptionValues::text(std::string_view name) const {
  return std::find_if(all_.begin(), all_.end(), [&](const OptionValue& value) { return value.name == name; })->value;
}

std::optional<double> OptionValues::number(std::string_view name) const { return to_number(text(name)); }

std::string OptionValues::label(const MetricInfo& metric) const {
  std::string label = metric.name;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].value == metric.options[i].default_value) continue;
    label += all_[i].name == metric.variant ? ":" + all_[i].value : fmt::format(":{}={}", all_[i].name, all_[i].value);
  }
  return label;
}

}  // namespace acuity
