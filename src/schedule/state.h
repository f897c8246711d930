// SPDX-License-Identifier: BSD-2-Clause-Patent
// The parts of a scheduler, and how rows go from one to the next:
//
//   submit -> window -> (a thread of ours) read, decode -> the queue of a GPU -> job -> result
//                                                       -> scored by the same thread -> result
//                                          a work       -> run by the same thread -> result
//
// A row that takes too long in one of these stages is given up by the thread that watches the time: it delivers the
// result, and the thread that has the row is left behind. If that ever returns, it finds that it is not wanted. With a
// row of a GPU the whole device is given up, and its other rows go elsewhere.
#ifndef ACUITY_SCHEDULE_STATE_H
#define ACUITY_SCHEDULE_STATE_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "acuity/schedule.h"
#include "base/guard.h"
#include "base/recycled_memory.h"
#include "device/pixels/sending_time.h"
#include "schedule/costs.h"
#include "schedule/file_kinds.h"
#include "schedule/gpu_worker.h"
#include "schedule/ledger.h"
#include "schedule/loader.h"
#include "schedule/pair_rules.h"
#include "schedule/plans.h"
#include "schedule/reference_cache.h"
#include "schedule/results.h"
#include "schedule/row.h"
#include "schedule/scorer_cache.h"
#include "schedule/window.h"

namespace acuity {

inline Status cancelled_status() noexcept { return status_of_texts(StatusCode::cancelled, {"the task was cancelled"}); }

struct Scheduler::State : std::enable_shared_from_this<Scheduler::State> {
  static Result<Scheduler> create(const SchedulerOptions& options, const PairRules& rules);
  State(const SchedulerOptions& given, const PairRules& given_rules, std::vector<Place> opened, int thread_count);
  ~State();
  void start();
  /// Cancels what has not begun, and ends all threads but those that were left behind.
  void stop();

  /// Until then at most; none: as long as it takes. False: there was no room.
  /// `videos` is what is run instead if the files of the task turn out to be videos.
  Result<bool> submit(const Task& task, std::optional<Clock::time_point> until, const Work& videos = {});
  Result<bool> submit(const Work& work, std::optional<Clock::time_point> until);
  void cancel();
  SchedulerStatistics statistics() const;

  const SchedulerOptions options;
  const PairRules rules;
  const std::vector<Place> places;
  Results results;

 private:
  /// A thread that reads, decodes and scores on the CPU.
  struct Worker {
    std::mutex mutex;
    RowPointer row;  // that it has
    std::atomic<bool> is_left_behind = false;
    int64_t written_off = 0;  // bytes that it had then
    std::string stuck_at{};   // the reference that it was at, if any
    std::atomic<bool> has_come_back = false;
    std::thread thread;
  };

  Result<bool> enter(const RowPointer& row, std::optional<Clock::time_point> until);
  std::shared_ptr<const MetricSet> metric_set(const std::vector<MetricRequest>& requests);

  void add_worker();
  void work(Worker& worker);
  Status process(const RowPointer& row);
  Status place(const RowPointer& row);
  Status score_here(const RowPointer& row);
  Status try_here(Row& row, int strip_rows, bool wide);
  Status run_work(const RowPointer& row);
  void leave(const RowPointer& row, Attempt attempt);
  void done(const RowPointer& row);
  void fail(const RowPointer& row, Status status);
  void deliver(const RowPointer& row);
  void hand_out(TaskResult result, std::optional<double> gpu_ms = {});
  bool reclaim(int64_t bytes);
  double expected_ns(size_t place, const Row& row);
  bool can_score(size_t place, const Row& row) const;
  bool is_wide(const Row& row) const;
  void watch_time();
  void watch_workers(int64_t latest_ns);
  void leave_behind(Worker& worker, int64_t latest_ns);
  void come_back(Worker& worker);
  void replace_workers();
  void end_without_threads();
  static std::string names_of(const Row& row);
  TaskResult timeout_of(const Row& row) const;
  void time_out(Row& row);
  Status closed_status() const { return cancelled_ ? cancelled_status() : out_of_threads_; }

  const int threads_;
  const int64_t limit_;     // of the host's memory
  const int64_t recycled_;  // of that, what is kept of freed pictures
  RecycledMemory recycler_;
  size_t cpu_ = 0;  // its place; places.size(): not in use
  Ledger ledger_;
  Plans plans_;
  ReferenceCache references_;
  Counts counts_;
  Costs costs_;
  ScorerCache scorers_;  // of the CPU
  Window window_;
  Loader loader_;
  FileKinds kinds_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<int64_t> submitted_ = 0;
  std::atomic<int64_t> began_ns_ = 0;
  const double sent_before_ms_ = sending_ms();
  std::mutex sets_mutex_;
  std::map<std::string, std::shared_ptr<const MetricSet>> sets_;
  std::vector<std::atomic<int>> works_;  // running, by place

  mutable std::mutex workers_mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int live_ = 0;                      // workers that were not left behind
  std::atomic<int> left_behind_ = 0;  // those that were and have not come back
  Status out_of_threads_;             // set before the window is closed for that reason
  std::condition_variable time_over_;
  bool stopping_ = false;
  std::thread watcher_;
  std::vector<std::unique_ptr<GpuWorker>> gpus_;  // by place; null: the CPU. Last: they use all of the above
};

}  // namespace acuity

#endif
