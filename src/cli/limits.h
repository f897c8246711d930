// SPDX-License-Identifier: BSD-2-Clause-Patent
// What --fail-under asks of every result.
#ifndef ACUITY_CLI_LIMITS_H
#define ACUITY_CLI_LIMITS_H

#include <span>
#include <string>
#include <vector>

#include "cli/pairs.h"

namespace acuity::cli {

struct Limit {
  size_t metric = 0;   // its place in the job
  std::string pool{};  // of the frames of a video; empty: the value, which is their mean
  bool at_least = true;
  double bound = 0;
};

/// "70" is for the first metric, in its own direction; "ssimulacra2>=70" and "vmaf.p5>=80" name theirs.
Result<std::vector<Limit>> parse_limits(std::span<const std::string> texts, std::span<const MetricChoice> metrics);

/// A sentence for each limit that the scores of a pair do not keep.
std::vector<std::string> broken_limits(std::span<const Limit> limits, const PairResult& pair);

}  // namespace acuity::cli

#endif
