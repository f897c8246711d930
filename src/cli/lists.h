// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reading the values of options. Nothing here depends on the locale.
#ifndef ACUITY_CLI_LISTS_H
#define ACUITY_CLI_LISTS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/scorer.h"
#include "acuity/status.h"

namespace acuity::cli {

/// A metric with its settings.
struct MetricChoice {
  std::string name;
  std::vector<OptionValue> options;  // as given
  std::string label;                 // the name, and what differs from the defaults: "name:option=value"
};

struct MetricList {
  std::vector<MetricChoice> metrics;  // in the order given, each label once
  std::vector<std::string> repeated;  // labels that were given again
};

/// Metrics separated by commas, blanks around them ignored; several lists count as one. Each is one of `known`, as
/// NAME or NAME:OPTION=VALUE:...
Result<MetricList> parse_metrics(std::span<const std::string> lists, std::span<const MetricInfo> known);

/// Files that options of the metrics may name, such as a model, and FILE of a display FILE#NAME.
std::vector<std::string> files_of_options(std::span<const MetricChoice> metrics);

/// Without blanks around it.
std::string_view trimmed(std::string_view text);

/// "auto", "full" or "strip:ROWS".
Result<MemoryMode> parse_memory(std::string_view text);

/// A whole number from `least` to `most`; `what` is what a message calls it: "--threads".
Result<int> parse_whole(std::string_view text, std::string_view what, int least, int most);

/// Seconds, from a time such as 1:30, 00:01:30 or 1:30.5.
Result<double> parse_time(std::string_view text, std::string_view what);

/// A finite number with a '.' for the decimal point.
Result<double> parse_number(std::string_view text, std::string_view what);

}  // namespace acuity::cli

#endif
