// SPDX-License-Identifier: BSD-2-Clause-Patent
// Results for the caller, in the order of submission or as they come, and what is counted of them.
#ifndef ACUITY_SCHEDULE_RESULTS_H
#define ACUITY_SCHEDULE_RESULTS_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/row.h"

namespace acuity {

class Results {
 public:
  explicit Results(bool ordered) : ordered_(ordered) {}

  /// The number of the next task, which will deliver a result.
  int64_t expect();
  int64_t expected() const;
  /// If it throws for want of memory, nothing has changed.
  void deliver(TaskResult&& result);
  std::optional<TaskResult> poll();
  /// Until then at most; none: as long as it takes.
  std::optional<TaskResult> wait_any(std::optional<Clock::time_point> until = {});
  /// Whether all that are expected have been returned.
  bool is_drained() const;
  void flush();
  /// The first task that is not finished.
  int64_t first_unfinished() const;
  /// Tasks that are not finished.
  int64_t unfinished() const;

 private:
  bool has_next() const;
  TaskResult take_next();

  const bool ordered_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, TaskResult> ready_;  // ordered: by index
  std::deque<TaskResult> loose_;         // unordered
  int64_t expected_ = 0;
  int64_t finished_ = 0;
  int64_t returned_ = 0;
  int64_t first_unfinished_ = 0;
  std::set<int64_t> finished_ahead_;  // after first_unfinished_
};

/// What SchedulerStatistics needs of each result, gathered by threads.
class Counts {
 public:
  /// `gpu_ms`: of a GPU's time, what was the task's. Gives up what there is no memory for.
  void note(const TaskResult& result, std::optional<double> gpu_ms);
  void note_idle(double milliseconds);
  void note_reference(bool found);
  void note_prepared();
  void fill(SchedulerStatistics& statistics) const;

 private:
  mutable std::mutex mutex_;
  SchedulerStatistics sums_;
  std::map<std::string, int64_t> failures_;
  std::map<std::string, double> metrics_;
  std::map<std::string, std::pair<int64_t, double>> devices_;
};

}  // namespace acuity

#endif
