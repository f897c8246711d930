// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of 'batch', 'compare' and 'serve' on the scheduler: pictures as its tasks, and videos, which the command scores
// itself, as work among them.
#ifndef ACUITY_CLI_ROW_SCHEDULER_H
#define ACUITY_CLI_ROW_SCHEDULER_H

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "cli/job_plan.h"
#include "cli/pairs.h"
#include "cli/request.h"
#include "cli/video_plan.h"
#include "schedule/work.h"

namespace acuity::cli {

/// What the options say of every row.
struct RowPlan {
  ScoreJob job;  // without files; its metrics are those of -m
  VideoPlan video;
  bool asks_for_video = false;  // an option was given that makes sense for video alone
  bool raw_video = false;       // --size
  SchedulerOptions scheduler;
  std::vector<std::string> warnings;
};

/// How to compute, where, and with how much memory: the options that 'batch', 'compare' and 'serve' share.
const std::vector<Option>& row_options();
Result<RowPlan> plan_rows(const Request& request);
/// Those of a row that has metrics of its own.
Result<std::vector<MetricChoice>> plan_metrics_of_row(const std::string& list);
/// --outputs: whether all outputs of a metric are wanted.
const Option& outputs_option();
Result<bool> plan_outputs(const Request& request);
/// The options given that change scores, as they were given: "--scale dist --crop 64x64+0+0".
std::string options_that_change_scores(const Request& request);

/// How both files of a pair are made comparable.
PairRules rules_of(const ScoreJob& job);
/// A work for two videos, without its name and its function.
Work video_work(const VideoPlan& video, const Scheduler& scheduler);
/// The same job on the device of that place, which is opened when it is needed.
ScoreJob on_device(ScoreJob job, const WorkPlace& place);

using Metrics = std::shared_ptr<const std::vector<MetricChoice>>;

/// What the row was tried on before it was scored, a sentence each: "cuda:0 could not score it, so cpu did: ...".
std::vector<std::string> left_devices(const TaskResult& result);

class RowScheduler {
 public:
  /// `ordered`: results come in the order in which rows were submitted.
  static Result<std::unique_ptr<RowScheduler>> create(RowPlan plan, bool ordered);

  /// Blocks while enough rows wait.
  Status submit(const std::string& reference, const std::string& distorted, const Metrics& metrics);
  /// As submit(), for no longer than `most`. False: there was no room within that time, and nothing was added.
  Result<bool> try_submit(const std::string& reference, const std::string& distorted, const Metrics& metrics,
                          std::chrono::milliseconds most);
  /// A row that cannot be scored, and why: its result comes in its turn.
  Status submit_failure(const Status& why);
  Result<bool> try_submit_failure(const Status& why, std::chrono::milliseconds most);
  std::optional<TaskResult> poll() { return scheduler_.poll(); }
  std::optional<TaskResult> wait_any() { return scheduler_.wait_any(); }
  /// As Scheduler::wait_any(most) and is_drained().
  std::optional<TaskResult> wait_any(std::chrono::milliseconds most) { return scheduler_.wait_any(most); }
  bool is_drained() const { return scheduler_.is_drained(); }
  void cancel() { scheduler_.cancel(); }
  SchedulerStatistics statistics() const { return scheduler_.statistics(); }
  std::vector<std::string> devices() const { return scheduler_.devices(); }

 private:
  RowScheduler(RowPlan plan, Scheduler scheduler)
      : plan_(std::make_shared<const RowPlan>(std::move(plan))), scheduler_(std::move(scheduler)) {}

  const std::shared_ptr<const RowPlan> plan_;
  Scheduler scheduler_;
};

}  // namespace acuity::cli

#endif
