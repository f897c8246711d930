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

struct NameList {
  std::vector<std::string> names;     // in the order given, each once
  std::vector<std::string> repeated;  // those that were given again
};

/// Names separated by commas, blanks around them ignored; several lists count as one. Each name must be one of
/// `allowed`; `kind` is what a message calls them: "metric".
Result<NameList> parse_names(std::span<const std::string> lists, std::string_view kind,
                             std::span<const std::string> allowed);

/// "auto", "full" or "strip:ROWS".
Result<MemoryMode> parse_memory(std::string_view text);

/// A whole number from `least` to `most`; `what` is what a message calls it: "--threads".
Result<int> parse_whole(std::string_view text, std::string_view what, int least, int most);

/// A finite number with a '.' for the decimal point.
Result<double> parse_number(std::string_view text, std::string_view what);

/// The candidate that a misspelt name most likely stands for; empty when none is near.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

}  // namespace acuity::cli

#endif
