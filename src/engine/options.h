// SPDX-License-Identifier: BSD-2-Clause-Patent
// The settings of a metric: what a caller gave, checked against the metric's table, and the defaults for the rest.
#ifndef ACUITY_ENGINE_OPTIONS_H
#define ACUITY_ENGINE_OPTIONS_H

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/scorer.h"
#include "acuity/status.h"

namespace acuity {

class OptionValues {
 public:
  OptionValues() = default;  // of a metric without options

  /// Names what the table does not know, values it does not allow, and options given twice.
  static Result<OptionValues> parse(const MetricInfo& metric, std::span<const OptionValue> given);

  /// Every option of the table, in its order; numbers in their shortest form.
  const std::vector<OptionValue>& all() const { return all_; }

  /// The value as text. `name` must be in the table.
  const std::string& text(std::string_view name) const;
  /// The value where it is a number, nothing where it is a word.
  std::optional<double> number(std::string_view name) const;

  /// The metric with what differs from its defaults, as -m takes it: "name" or "name:option=value:...".
  std::string label(const MetricInfo& metric) const;

 private:
  std::vector<OptionValue> all_;
};

/// The smallest side a metric takes with these options.
int least_side(const MetricInfo& metric, const OptionValues& options);

/// What an option takes, in words: "a number from 1 to 10000, or auto".
std::string allowed_values(const MetricOption& option);

}  // namespace acuity

#endif
