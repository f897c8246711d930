// SPDX-License-Identifier: BSD-2-Clause-Patent
// One GPU of a scheduler: a queue of decoded rows, a thread that starts jobs for them, and one that finishes the jobs.
//
// If a row takes too long, the device is given up: it may never answer again, and its threads with it. They are left
// behind; nobody else calls the driver of that device any more, not even to free memory.
#ifndef ACUITY_SCHEDULE_GPU_WORKER_H
#define ACUITY_SCHEDULE_GPU_WORKER_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "schedule/costs.h"
#include "schedule/ledger.h"
#include "schedule/plans.h"
#include "schedule/reference_cache.h"
#include "schedule/results.h"
#include "schedule/row.h"
#include "schedule/scorer_cache.h"

namespace acuity {

class GpuWorker {
 public:
  struct Parts {
    const SchedulerOptions& options;
    const Place& place;
    size_t number = 0;  // of the place
    Plans& plans;
    ReferenceCache& references;
    Counts& counts;
    Costs& costs;
    Ledger& ledger;
    std::function<void(RowPointer)> done;            // with its scores
    std::function<void(RowPointer, Status)> fail;    // nobody can score it
    std::function<void(RowPointer, Attempt)> leave;  // another place is to try
    std::function<void(RowPointer)> time_out;        // its time is over, but a thread has it still
  };
  /// `owner` holds all the parts. Threads hold it, so that those which are left behind may outlive the scheduler.
  GpuWorker(Parts parts, const std::shared_ptr<const void>& owner);
  ~GpuWorker() { stop(); }
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  /// Ends its threads once all rows have left it, except for those that hang, and frees what it has of the device. It
  /// is as good as lost then.
  void stop();
  /// Waits for room in the queue. False: the device was lost, and the row goes elsewhere.
  bool push(const RowPointer& row);
  /// Even if the queue is full: for rows that come from another place.
  bool push_anyway(const RowPointer& row);
  bool has_room() const;
  bool is_lost() const { return lost_; }
  /// What is in the queue and in flight, in nanoseconds.
  double backlog_ns() const { return backlog_ns_; }
  /// Frees memory of the host; false if there is nothing to free.
  bool drop_unused() { return !given_up_ && scorers_.drop_oldest(); }
  /// If a row has been at the device for longer than the time limit, it fails, the device is lost, and the other rows
  /// go elsewhere.
  void give_up_late();

 private:
  struct Flight {
    RowPointer row;  // null: it was given up
    std::shared_ptr<CachedScorer> scorer;
    Job job;
    Clock::time_point began;
  };
  // A row that is taken away from a device that hangs.
  struct Left {
    RowPointer row;
    std::string memory_mode;
  };
  void start_rows();
  void finish_rows();
  RowPointer next_row();
  Status start(const RowPointer& row, Attempt& attempt);
  bool end_start(const RowPointer& row);
  Result<Job> start_job(Row& row, CachedScorer& scorer);
  Result<std::shared_ptr<CachedScorer>> scorer_for(Row& row, Attempt& attempt);
  Result<std::shared_ptr<CachedScorer>> make_scorer(const Row& row, const ScorerKey& key, const Attempt& attempt);
  std::shared_ptr<CachedScorer> find_scorer(const ScorerKey& key);
  bool may_prepare(int64_t bytes);
  std::optional<Reference> prepared(Row& row, CachedScorer& scorer);
  void land(std::list<Flight> landed, Result<std::vector<Score>> scores);
  void settle(const RowPointer& row, int strip_rows, Result<std::vector<Score>> scores, double busy_ms);
  void fail_if(const Status& status, const RowPointer& row);
  void release(const std::shared_ptr<CachedScorer>& scorer, Row* scored);
  Status make_room();
  bool is_late(Clock::time_point since) const;
  Status hanging_status() const;
  void fail_late(const Left& late);
  void retry(const RowPointer& row, Attempt attempt);
  Result<int64_t> available_bytes() const;
  void take_off_backlog(Row& row);

  const Parts parts_;
  const int64_t cap_;              // on the device's memory; 0: none
  const int64_t reference_share_;  // of that memory, in bytes
  int64_t reference_room_ = 0;     // of that, what scorers leave; used by the thread that starts rows
  ScorerCache scorers_{16};
  std::atomic<bool> lost_ = false;
  std::atomic<bool> given_up_ = false;  // and lost, because a row took too long
  std::atomic<double> backlog_ns_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable room_;   // in the queue, for those who push
  std::condition_variable start_;  // for the thread that starts rows
  std::condition_variable land_;   // for the thread that finishes them
  std::deque<RowPointer> queue_;
  std::list<Flight> flights_;  // in the order in which they were started
  RowPointer starting_;        // is being started
  Clock::time_point starting_since_{};
  bool starting_is_given_up_ = false;
  int64_t written_off_ = 0;  // bytes that it had then
  bool closing_ = false;
  bool no_more_flights_ = false;
  std::list<std::shared_ptr<CachedScorer>> active_;  // with rows in flight
  Clock::time_point last_landing_{};
  bool is_stopped_ = false;  // used by who stops it

  std::map<std::string, int> unexplained_;  // failures for want of memory that was there, by metrics and size
  std::thread starter_, finisher_;          // last: they use all of the above
};

}  // namespace acuity

#endif
