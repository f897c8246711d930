// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores many pairs of pictures and keeps every core and device busy with them.
//
//   auto scheduler = acuity::Scheduler::create({.metrics = {"ssimulacra2"}});
//   if (!scheduler.ok()) return report(scheduler.status());
//   for (const auto& [reference, distorted] : pairs) {
//     scheduler->submit({.reference = TaskPicture::file(reference), .distorted = TaskPicture::file(distorted)});
//     while (auto result = scheduler->poll()) use(*result);
//   }
//   while (auto result = scheduler->wait_any()) use(*result);
//
// Reading, decoding and scoring of different tasks overlap. A reference that several tasks share is recognised by its
// content, and decoded, uploaded and prepared once while tasks with it are near. Its file is read again only if its
// size or one of its times has changed, or changed in the last two seconds. How tasks are spread over devices, memory
// modes and time never changes a score.
#ifndef ACUITY_SCHEDULE_H
#define ACUITY_SCHEDULE_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acuity/export.h"
#include "acuity/input.h"
#include "acuity/picture.h"
#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"

namespace acuity {

/// One side of a task: a file, a file that is in memory already, or pixels.
struct TaskPicture {
  static TaskPicture file(std::string path) { return {.name = std::move(path)}; }
  /// `owner` keeps the bytes alive; `name` is for messages.
  static TaskPicture encoded(std::string name, std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
    return {.name = std::move(name), .bytes = bytes, .is_encoded = true, .owner = std::move(owner)};
  }
  /// The Input must own its memory, or the memory must stay until the result is there.
  static TaskPicture pixels(std::string name, Input input) {
    return {.name = std::move(name), .input = std::move(input)};
  }

  std::string name{};  ///< the path of a file, or what messages call the bytes or pixels
  std::span<const uint8_t> bytes{};
  bool is_encoded = false;  ///< `bytes` is the file, however few they are; no file of that name is opened
  std::shared_ptr<const void> owner{};
  Input input{};
  std::optional<int64_t> frame{};  ///< which picture of a file that holds several, as in read_picture()
};

/// A pair to be scored.
struct Task {
  std::string id{};  ///< returned in the result; need not be unique
  TaskPicture reference{};
  TaskPicture distorted{};
  std::vector<MetricRequest> metrics{};  ///< empty: those of the scheduler
  std::vector<std::string> fields{};     ///< returned in the result
};

/// What is known of one side of a task without its pixels.
struct PictureFacts {
  std::string format{};
  std::vector<std::string> found{};    ///< as in Picture
  std::vector<std::string> assumed{};  ///< as in Picture
  std::vector<std::string> changed{};  ///< how it was cropped and scaled; part of what was found
  double read_ms = 0;
  double decode_ms = 0;  ///< 0 if it was cached
};

/// A device and memory mode that a task left without a score, and why.
struct Attempt {
  std::string device{};       ///< "cuda:0"
  std::string memory_mode{};  ///< "full" or "strip 64"
  Status why{};
  int64_t needed_bytes = 0;  ///< of the device's memory, by the plan; 0 if memory was not the reason
  int64_t free_bytes = 0;    ///< at that moment
};

struct TaskResult {
  int64_t index = 0;  ///< 0 for the first task that was submitted, and so on
  std::string id{};
  std::vector<std::string> fields{};
  Status status{};              ///< if it is not ok, there are no scores
  bool timed_out = false;       ///< the status is SchedulerOptions::timeout_ms's
  std::vector<Score> scores{};  ///< one per metric, in their order
  int width = 0;
  int height = 0;
  std::string device{};               ///< that scored it: "cpu", "cuda:0"
  std::string memory_mode{};          ///< "full" or "strip 64"
  std::vector<Attempt> attempts{};    ///< before that one, in order
  bool reference_was_cached = false;  ///< another task had it decoded
  PictureFacts reference{};
  PictureFacts distorted{};
  std::vector<std::string>
      assumptions{};  ///< "reference: assumed sRGB", one sentence each, as `acuity score` lists them
  std::vector<std::string> warnings{};
  double wall_ms = 0;      ///< from when its files were opened
  double waiting_ms = 0;   ///< of that, in queues
  double prepare_ms = 0;   ///< of a reference, if this task was the one that did it
  double device_ms = 0;    ///< from when it was given to the device; on the CPU, scoring
  int64_t peak_bytes = 0;  ///< of the host's memory: its files, pictures, and its share of scoring
};

struct SchedulerOptions {
  std::vector<MetricRequest> metrics{};  ///< for tasks that have none of their own
  /// Where to score: "auto" (every usable GPU that is not emulated, and the CPU) or names such as "cuda:0", "cuda:1",
  /// "cpu". A device that is not named is never used.
  std::vector<std::string> devices{"auto"};
  /// The most memory of the host to use: for files, pictures, references and scoring. 0: half of what is free when the
  /// scheduler is made. Results are not counted.
  int64_t memory_limit_bytes = 0;
  int64_t vram_cap_bytes = 0;  ///< as in ScorerOptions
  /// Threads that read, decode and, if "cpu" is among the devices, score. 0: one per core. Each GPU has two more, which
  /// wait most of the time.
  int threads = 0;
  /// How many submitted tasks may wait to be started. Those with the same reference are started together.
  int window = 256;
  bool ordered = true;  ///< results come in the order of submission; if not, as soon as they are there
  PictureLimits limits{};
  /// The longest that reading and decoding, or scoring, may take for one task; 0: no limit. A task that takes longer
  /// fails, and so do others with the same reference if they wait for that. What runs cannot be stopped
  /// inside a process: a thread that does not return is left behind with the memory it holds, which is not counted any
  /// more, and replaced by another. At most 256 are left behind at a time. When they are and the others do not return
  /// either, the tasks that wait fail, and so does submit(). A GPU that takes longer for one task, with the kernels
  /// that it loads for it, is given up as lost: that task fails, and the others go to other devices.
  int64_t timeout_ms = 0;
  Keep keep = Keep::fast;  ///< of references that several tasks share
  MemoryMode memory{};     ///< automatic: full, or the largest strip that fits
  bool want_map = false;   ///< fill Score::map; maps are not counted in memory_limit_bytes
};

/// What a scheduler has done so far.
struct SchedulerStatistics {
  struct Device {
    std::string device;
    int64_t tasks = 0;   ///< scored
    double busy_ms = 0;  ///< with tasks it scored; of the CPU: of all its threads together
    bool is_lost = false;
  };
  struct Failure {
    std::string kind;  ///< "input", "too big", "timeout", ...
    int64_t tasks = 0;
  };
  int64_t submitted = 0;
  int64_t finished = 0;
  int64_t failed = 0;
  std::vector<Failure> failures{};
  int64_t references_found = 0;    ///< tasks whose reference was decoded by another
  int64_t references_decoded = 0;  ///< however often, and even if the task failed then
  int64_t references_prepared = 0;
  // Where the time of all threads went, in milliseconds, and of GPUs: rows that are in flight together share theirs.
  double read_ms = 0;
  double decode_ms = 0;
  double upload_ms = 0;   ///< sending pictures to devices, of all schedulers of the process while this one has existed
  double prepare_ms = 0;  ///< of references
  std::vector<NamedValue> metrics{};  ///< milliseconds by metric
  double waiting_ms = 0;              ///< of tasks, between stages
  double idle_ms = 0;                 ///< of threads that had nothing to do
  double wall_ms = 0;                 ///< since the first task was submitted
  int64_t host_bytes = 0;             ///< counted against the limit now
  int64_t peak_host_bytes = 0;        ///< the most so far
  int64_t memory_limit_bytes = 0;     ///< the limit in force
  std::vector<Device> devices{};
};

/// Several threads may use a Scheduler at once. The number of its threads is fixed when it is made, except for those
/// that a time limit leaves behind.
class ACUITY_API Scheduler {
 public:
  static Result<Scheduler> create(const SchedulerOptions& options);
  /// Cancels what has not been started, and waits for the rest: without a time limit, for as long as it takes.
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  /// Adds a task. Blocks while as many as SchedulerOptions::window wait to be started, so that a program that submits
  /// faster than it scores does not fill the memory. It never waits for results to be fetched. What is wrong with a
  /// task is in its result; the call itself fails only after cancel(), and when no thread is left (see
  /// SchedulerOptions::timeout_ms); the task then has no result.
  Status submit(Task task);
  /// As submit(), but blocks for no longer than `timeout`. False: there was no room within that time, and nothing was
  /// added. For programs that must react to signals and the like while they submit.
  Result<bool> try_submit(const Task& task, std::chrono::milliseconds timeout);

  /// The next result, if it is there.
  std::optional<TaskResult> poll();
  /// Waits for the next result. None if every result of the tasks submitted so far has been returned.
  std::optional<TaskResult> wait_any();
  /// As wait_any(), but waits for no longer than `timeout`. None if that time is over, or if is_drained().
  std::optional<TaskResult> wait_any(std::chrono::milliseconds timeout);
  /// Whether every result of the tasks submitted so far has been returned.
  bool is_drained() const;
  /// Waits until all tasks submitted so far are finished. Their results are still to be fetched.
  void flush();
  /// Submits what `next` returns until it returns none, and calls `done` with each result, both from this thread.
  /// If `done` returns a failure, or a task cannot be submitted, it calls cancel(), delivers the other results, most of
  /// them cancelled, and returns that failure.
  Status run_all(const std::function<std::optional<Task>()>& next, const std::function<Status(TaskResult)>& done);
  /// Tasks that are not finished get StatusCode::cancelled. Nothing can be submitted any more.
  void cancel();

  SchedulerStatistics statistics() const;
  /// "cuda:0", "cpu": those in use, in the order of the options.
  std::vector<std::string> devices() const;

  struct State;
  State& state() const noexcept { return *state_; }

 private:
  friend struct State;
  explicit Scheduler(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace acuity

#endif
