// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the commands use of a scheduler beyond acuity/schedule.h: rules for pairs, and tasks that are functions.
#ifndef ACUITY_SCHEDULE_WORK_H
#define ACUITY_SCHEDULE_WORK_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "schedule/pair_rules.h"

namespace acuity {

/// What a function that is a task may use.
struct WorkPlace {
  std::string device;       // "cpu", "cuda:0"
  int threads = 1;          // for it to start
  bool are_videos = false;  // of files: what was seen in them
  /// Whether nobody waits for it any more: its time is over, or the scheduler was cancelled. A work that asks now and
  /// then gives its thread and its memory back.
  std::function<bool()> is_given_up = [] { return false; };
};

/// A task that scores in its own way, such as a video. It goes through the same queues: the scheduler decides when and
/// on which device it runs, one at a time per device, and repeats it elsewhere if the device's memory runs out or the
/// device is lost.
struct Work {
  std::string id{};
  std::vector<std::string> fields{};
  std::string name{};                  // of its files, for messages: "a.y4m and b.y4m"
  int64_t host_bytes = 0;              // what it uses of the host's memory, about; all of the limit if that is less
  bool for_pictures = false;           // of files: even if they are no videos
  std::vector<std::string> devices{};  // of those of the scheduler; empty: all
  /// Fills status, scores, sizes, warnings and assumptions of a result, which has its id and fields already. Called
  /// from a thread of the scheduler. Must not throw.
  std::function<void(const WorkPlace&, TaskResult&)> run{};
};

Result<Scheduler> create_scheduler(const SchedulerOptions& options, const PairRules& rules);
/// "input", "too big", "timeout": why a task has no scores, as SchedulerStatistics counts it. Empty if it has them.
std::string kind_of_failure(const TaskResult& result);
/// Two files, which are a task or, if they turn out to be videos, a work. A thread of the scheduler looks into them.
Result<bool> try_submit_files(Scheduler& scheduler, const Task& pictures, const Work& videos,
                              std::chrono::milliseconds timeout);
/// As Scheduler::submit() and Scheduler::try_submit().
Status submit_work(Scheduler& scheduler, const Work& work);
Result<bool> try_submit_work(Scheduler& scheduler, const Work& work, std::chrono::milliseconds timeout);

}  // namespace acuity

#endif
