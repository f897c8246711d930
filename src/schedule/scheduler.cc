// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <chrono>
#include <utility>

#include "acuity/schedule.h"
#include "base/guard.h"
#include "base/threads.h"
#include "base/try.h"
#include "engine/requests.h"
#include "schedule/state.h"
#include "schedule/work.h"

namespace acuity {
namespace {

// Any longer and the clock's number would overflow.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24 * 365);

Clock::time_point after(std::chrono::milliseconds timeout) { return Clock::now() + std::min(timeout, kLongestWait); }

}  // namespace

Scheduler::Scheduler(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&& other) noexcept {
  if (this == &other) return *this;
  if (state_) state_->stop();
  state_ = std::move(other.state_);
  return *this;
}
Scheduler::~Scheduler() {
  if (state_) state_->stop();
}

Result<Scheduler> Scheduler::create(const SchedulerOptions& options) { return create_scheduler(options, {}); }

Result<Scheduler> create_scheduler(const SchedulerOptions& options, const PairRules& rules) {
  return Scheduler::State::create(options, rules);
}

Result<Scheduler> Scheduler::State::create(const SchedulerOptions& options, const PairRules& rules) {
  return guarded<Result<Scheduler>>([&]() -> Result<Scheduler> {
    const auto refuse = [](const char* what) { return Status(StatusCode::usage, what); };
    if (options.window < 1) return refuse("the window of a scheduler must hold at least one task");
    if (options.threads < 0 || options.memory_limit_bytes < 0 || options.timeout_ms < 0) {
      return refuse("the threads, the memory limit and the time limit of a scheduler must not be negative");
    }
    if (!options.metrics.empty()) {
      // At a size that every metric accepts: that of the pictures is checked with them.
      constexpr int kSide = 1024;
      ACUITY_TRY(find_requested_metrics({.metrics = options.metrics}, kSide, kSide).status());
    }
    std::vector<Place> places;
    ACUITY_TRY_ASSIGN(places, open_places(options.devices));
    auto state = std::make_shared<State>(options, rules, std::move(places), Threads(options.threads).count());
    Scheduler scheduler(state);  // stops what was started if that fails
    state->start();
    return scheduler;
  });
}

Status Scheduler::submit(Task task) {
  if (!state_) return moved_from("Scheduler");
  return guarded<Result<bool>>([&] { return state_->submit(task, std::nullopt); }).status();
}

Result<bool> Scheduler::try_submit(const Task& task, std::chrono::milliseconds timeout) {
  if (!state_) return moved_from("Scheduler");
  return guarded<Result<bool>>([&] { return state_->submit(task, after(timeout)); });
}

Status submit_work(Scheduler& scheduler, const Work& work) {
  return guarded<Result<bool>>([&] { return scheduler.state().submit(work, std::nullopt); }).status();
}

Result<bool> try_submit_work(Scheduler& scheduler, const Work& work, std::chrono::milliseconds timeout) {
  return guarded<Result<bool>>([&] { return scheduler.state().submit(work, after(timeout)); });
}

Result<bool> try_submit_files(Scheduler& scheduler, const Task& pictures, const Work& videos,
                              std::chrono::milliseconds timeout) {
  return guarded<Result<bool>>([&] { return scheduler.state().submit(pictures, after(timeout), videos); });
}

std::optional<TaskResult> Scheduler::poll() { return state_ ? state_->results.poll() : std::nullopt; }

std::optional<TaskResult> Scheduler::wait_any() { return state_ ? state_->results.wait_any() : std::nullopt; }

std::optional<TaskResult> Scheduler::wait_any(std::chrono::milliseconds timeout) {
  return state_ ? state_->results.wait_any(after(timeout)) : std::nullopt;
}

bool Scheduler::is_drained() const { return !state_ || state_->results.is_drained(); }

void Scheduler::flush() {
  if (state_) state_->results.flush();
}

Status Scheduler::run_all(const std::function<std::optional<Task>()>& next,
                          const std::function<Status(TaskResult)>& done) {
  if (!state_) return moved_from("Scheduler");
  constexpr const char* kCaller = "a function that run_all() called";  // for messages
  Status status;
  const auto hand_out = [&](std::optional<TaskResult> result) {
    if (!result) return false;
    Status said = guarded<Status>([&] { return done(std::move(*result)); }, kCaller);
    if (status.ok()) status = std::move(said);
    return true;
  };
  while (status.ok()) {
    std::optional<Task> task;
    status = guarded<Status>(
        [&] {
          task = next();
          return Status();
        },
        kCaller);
    if (!task) break;
    if (Status submitted = submit(std::move(*task)); !submitted.ok()) {
      status = std::move(submitted);
      break;
    }
    while (status.ok() && hand_out(poll())) {
    }
  }
  if (!status.ok()) cancel();
  while (hand_out(wait_any())) {
  }
  return status;
}

void Scheduler::cancel() {
  if (state_) state_->cancel();
}

SchedulerStatistics Scheduler::statistics() const {
  if (!state_) return {};
  return nothing_if_out_of_memory<SchedulerStatistics>([&] { return state_->statistics(); });
}

std::vector<std::string> Scheduler::devices() const {
  if (!state_) return {};
  return nothing_if_out_of_memory<std::vector<std::string>>([&] {
    std::vector<std::string> names;
    for (const Place& place : state_->places) names.push_back(place.id);
    return names;
  });
}

}  // namespace acuity
