// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/limits.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/try.h"
#include "cli/lists.h"
#include "cli/pools.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

// The names of all pools, which do not depend on the values.
std::vector<std::string> pool_names() {
  std::vector<std::string> names;
  for (const Pool& pool : pools(std::array{0.0})) names.push_back(pool.name);
  return names;
}

// "NAME" is enough where one metric has it, whatever its options.
Result<size_t> find_choice(const std::string& name, std::span<const MetricChoice> metrics) {
  std::vector<std::string> labels;
  std::vector<size_t> places;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (same_name(metrics[i].label, name)) return i;
    if (same_name(metrics[i].name, name)) places.push_back(i);
    labels.push_back(metrics[i].label);
  }
  if (places.size() == 1) return places.front();
  return usage(fmt::format("--fail-under names '{}', but -m has {}{}", name, fmt::join(labels, ", "),
                           places.empty() ? did_you_mean(name, labels) : "; write one of these in full"));
}

Result<Limit> parse_limit(const std::string& text, std::span<const MetricChoice> metrics) {
  Limit limit;
  const size_t sign = text.find_first_of("<>");
  if (sign == std::string::npos) {
    const Result<double> bound = parse_number(text, "--fail-under");
    if (!bound.ok()) {
      return usage(
          fmt::format("invalid value '{}' for --fail-under: expected a number such as 70 or 0.5, or a condition such "
                      "as 'ssimulacra2>=70' or 'vmaf.p5>=80', in quotes because shells interpret >",
                      text));
    }
    limit.bound = *bound;
    const MetricInfo& metric = *find_metric(metrics.front().name);
    if (metric.better == Better::neither) {
      return usage(fmt::format(
          "--fail-under {0} needs a direction, because neither higher nor lower is better for {1}; write '{1}>={0}' or "
          "'{1}<={0}'",
          text, metric.name));
    }
    limit.at_least = metric.better == Better::higher;
    return limit;
  }
  if (text.substr(sign + 1, 1) != "=") {
    return usage(fmt::format("invalid value '{}' for --fail-under: expected >= or <=", text));
  }
  limit.at_least = text[sign] == '>';
  ACUITY_TRY_ASSIGN(limit.bound, parse_number(trimmed(std::string_view(text).substr(sign + 2)),
                                              fmt::format("the limit in '{}'", text)));
  std::string name(trimmed(std::string_view(text).substr(0, sign)));
  // Options of a metric may hold dots too: what is behind the last one is a pool only if it is called like one.
  const size_t dot = name.rfind('.');
  const std::string last = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (const std::string& pool : pool_names()) {
    if (!same_name(pool, last)) continue;
    limit.pool = pool;
    name.resize(dot);
    break;
  }
  const Result<size_t> place = find_choice(name, metrics);
  if (!place.ok() && limit.pool.empty() && !last.empty() && find_choice(name.substr(0, dot), metrics).ok()) {
    return usage(fmt::format("there is no pool '{}'{}; there are: {}", last, did_you_mean(last, pool_names()),
                             fmt::join(pool_names(), ", ")));
  }
  if (!place.ok()) return place.status();
  limit.metric = *place;
  return limit;
}

std::optional<double> value_of(const Limit& limit, const MetricScore& entry) {
  if (limit.pool.empty()) return entry.score.value;
  for (const Pool& pool : pools(entry.series[0])) {
    if (pool.name == limit.pool) return pool.value;
  }
  return {};
}

}  // namespace

Result<std::vector<Limit>> parse_limits(std::span<const std::string> texts, std::span<const MetricChoice> metrics) {
  std::vector<Limit> limits;
  for (const std::string& text : texts) {
    Limit limit;
    ACUITY_TRY_ASSIGN(limit, parse_limit(text, metrics));
    limits.push_back(std::move(limit));
  }
  return limits;
}

std::vector<std::string> broken_limits(std::span<const Limit> limits, const PairResult& pair) {
  std::vector<std::string> broken;
  for (const Limit& limit : limits) {
    const MetricScore& entry = pair.scores[limit.metric];
    const std::optional<double> value = value_of(limit, entry);
    if (value && (limit.at_least ? *value >= limit.bound : *value <= limit.bound)) continue;
    broken.push_back(fmt::format("{}: {}{}{} is {}, but --fail-under asks for {} or {}", shown(pair.distorted),
                                 entry.label, limit.pool.empty() ? "" : ".", limit.pool,
                                 value ? short_number(*value) : "not there", short_number(limit.bound),
                                 limit.at_least ? "more" : "less"));
  }
  return broken;
}

}  // namespace acuity::cli
