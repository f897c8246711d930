// SPDX-License-Identifier: BSD-2-Clause-Patent
// How pairs become scores: the metrics of a Scorer on its device, and the jobs that wait for them.
#ifndef ACUITY_ENGINE_SCORING_H
#define ACUITY_ENGINE_SCORING_H

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/scorer.h"
#include "base/task_threads.h"
#include "base/threads.h"
#include "engine/measurements.h"
#include "engine/plan.h"
#include "engine/requests.h"
#include "engine/slots.h"

namespace acuity {

/// What one metric prepared of a reference.
struct PreparedMetric {
  const MetricEntry* entry = nullptr;
  std::vector<OptionValue> options;
  std::shared_ptr<const PreparedReference> reference;
};

struct Reference::State {
  int width = 0;
  int height = 0;
  Input samples;                     // of Keep::small, which has nothing of the following
  std::shared_ptr<DevicePool> pool;  // null: the CPU
  std::vector<PreparedMetric> metrics;
};

struct Job::State {
  State(Input a, std::shared_ptr<const Reference::State> c, Input b)
      : reference(std::move(a)), prepared(std::move(c)), distorted(std::move(b)) {}

  Input reference;  // one of these two
  std::shared_ptr<const Reference::State> prepared;
  Input distorted;

  bool is_cancelled() const { return cancelled_; }
  void cancel() noexcept;
  /// The last that is done to it by whoever scores; the pictures go.
  void complete(Result<std::vector<Score>> scores);

  bool done() const noexcept;
  void wait() const noexcept;
  Result<std::vector<Score>> finish();

 private:
  std::atomic<bool> cancelled_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::optional<Result<std::vector<Score>>> scores_;
};

class Scoring {
 public:
  static Result<std::unique_ptr<Scoring>> create(const ScorerOptions& options, int width, int height);
  ~Scoring();  // after all jobs

  Result<std::shared_ptr<const Reference::State>> prepare(const Input& given, Keep keep);
  /// Scores the job here and now.
  void run(Job::State& job) { run_on(*wide_, job); }
  /// Puts it in line.
  void start(std::shared_ptr<Job::State> job);

  std::span<const MetricInfo* const> infos() const { return infos_; }

 private:
  explicit Scoring(const ScorerOptions& options, int width, int height);

  // A kind of samples that there is room for, and what a reference of it holds on the device and runs there.
  struct Fitted {
    SampleKind kind;
    int64_t reference_bytes;
    std::vector<KernelInfo> reference_kernels;  // until they are loaded
  };

  Status choose_device();
  Result<WorkPlan> plan_for(Backend backend, const SampleKind& kind, int rows) const;
  Result<int64_t> available_bytes() const;
  Result<std::vector<KernelInfo>> fit_memory(const SampleKind& kind, int64_t available);
  Status make_room(const Input& input);
  Fitted* find_fitted(const SampleKind& kind);
  Result<bool> reference_fits(const Input& reference);
  Status load_reference_kernels(const Input& reference);
  bool narrow_strips(int rows_before);
  void renew_slots();
  Status make_first_slot();
  Result<std::unique_ptr<Slot>> make_slot(const Threads& threads);
  void note(RowMode::Kind kind, const Slots& slots, size_t in_flight, std::span<const double> metrics_ms,
            double together_ms) const;
  Slots& slots_for_jobs() { return narrow_ ? *narrow_ : *wide_; }

  Status validate(const Input& input, std::string_view role) const;
  bool is_converted(const Input& input) const;
  Result<Input> for_metrics(const Input& input) const;
  Result<std::vector<const PreparedReference*>> find_prepared(const Reference::State& reference) const;
  void run_on(Slots& slots, Job::State& job);
  Result<std::vector<Score>> score(Slots& slots, Job::State& job);
  Result<std::vector<Score>> score_in_strips(Slots& slots, Job::State& job);
  void work_off_line();

  struct Measured {
    Result<Measurement> measurement = Status(StatusCode::internal, "the metric did not run");
    double milliseconds = 0;
  };
  std::vector<Measured> measure(Slot& slot, const Job::State& job,
                                const std::vector<const PreparedReference*>& prepared);
  Result<Score> score_of(size_t metric, Measured measured, const Metric& at_work, const PreparedReference* prepared);
  std::string device_name() const;
  std::string memory_mode() const;

  ScorerOptions options_;
  int width_;
  int height_;
  std::vector<RequestedMetric> metrics_;
  std::vector<const MetricInfo*> infos_;  // of those
  std::shared_ptr<DevicePool> pool_;      // null: the CPU
  std::string measured_key_;              // what was measured of the device is kept by it
  std::string device_reason_;             // why it was chosen, where the caller left it open
  // Made while the device is opened, or to choose one; of this backend.
  std::optional<std::pair<Backend, WorkPlan>> first_plan_;
  std::mutex room_mutex_;
  std::vector<Fitted> fitted_;
  std::atomic<int> strip_rows_ = 0;  // 0: the metrics decide
  size_t pairs_that_fit_ = 1;        // on the device
  std::mutex set_up_mutex_;
  std::atomic<size_t> in_flight_ = 0;  // rows
  std::vector<NamedValue> set_up_ms_;  // what came before the first score; told with it
  Threads threads_, one_thread_{1};
  MemoryPool frame_pixels_;      // for those that are made here
  TaskThreads senders_;          // look after pictures in flight
  std::optional<Slots> wide_;    // slots that use all threads
  std::optional<Slots> narrow_;  // slots that use one each; only where many small pictures are scored side by side
  std::mutex line_mutex_;
  std::deque<std::shared_ptr<Job::State>> line_;
  std::condition_variable line_done_;
  size_t working_ = 0;  // threads that take jobs from the line
  TaskThreads tasks_;   // last: what they do uses all of the above
};

}  // namespace acuity

#endif
