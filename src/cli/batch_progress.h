// SPDX-License-Identifier: BSD-2-Clause-Patent
// How far a batch has come, and what there is to say at its end.
#ifndef ACUITY_CLI_BATCH_PROGRESS_H
#define ACUITY_CLI_BATCH_PROGRESS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "base/stopwatch.h"
#include "cli/console.h"

namespace acuity::cli {

struct BatchCounts {
  int64_t kept = 0;         // rows that were there before
  int64_t kept_failed = 0;  // of those, with an error
  int64_t scored = 0;
  std::map<std::string, int64_t> failures{};  // by kind
  // Rows that were scored at last, by the device and memory mode that could not, and why the first of them.
  struct Left {
    int64_t rows = 0;
    std::string why{};
  };
  std::map<std::string, Left> left{};

  void note(const TaskResult& result);

  int64_t failed() const;
  int64_t done() const { return scored + failed(); }
};

class BatchProgress {
 public:
  /// `total`: all rows of the list, where that is known.
  BatchProgress(Console& console, std::optional<int64_t> total) : console_(console), total_(total) {}

  /// On a terminal one line that changes, otherwise a line now and then.
  void show(const BatchCounts& counts);
  /// "120 of 2000 rows, 31.0 rows/s, 61 s left".
  std::string told(const BatchCounts& counts) const;
  double seconds() const { return watch_.milliseconds() / 1000; }

 private:
  Console& console_;
  std::optional<int64_t> total_;
  Stopwatch watch_;
  double shown_ms_ = 0;
};

/// The lines at the end. `statistics`: none where nothing was computed.
std::vector<std::string> batch_summary(const BatchCounts& counts, double seconds,
                                       const std::optional<SchedulerStatistics>& statistics);

}  // namespace acuity::cli

#endif
