// SPDX-License-Identifier: BSD-2-Clause-Patent
// Looks for scores that are too much alike to be true: a column of one value, or one value for many different files.
#ifndef ACUITY_CLI_SCORE_GUARD_H
#define ACUITY_CLI_SCORE_GUARD_H

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cli/lists.h"

namespace acuity::cli {

class ScoreGuard {
 public:
  explicit ScoreGuard(const MetricChoice& metric) : metric_(metric) {}

  /// The value of a row. Memory does not grow with the number of rows: of very many different values only the first are
  /// counted, and of very many files with one value, files that follow themselves count once.
  void add(double value, const std::string& distorted);
  /// A sentence for each thing that is suspicious.
  std::vector<std::string> warnings() const;

 private:
  struct Seen {
    int64_t rows = 0;
    int64_t files = 0;
    size_t last_file = 0;
  };
  std::string identical_note(double value) const;

  MetricChoice metric_;
  int64_t rows_ = 0;
  std::unordered_map<double, Seen> seen_;
  std::unordered_set<size_t> files_;  // of a value and a file with it
  bool seen_all_ = true;
};

}  // namespace acuity::cli

#endif
