// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/results.h"

#include <new>
#include <utility>

namespace acuity {

std::string kind_of_failure(const TaskResult& result) {
  if (result.timed_out) return "timeout";
  switch (result.status.code()) {
    case StatusCode::ok:
      return "";
    case StatusCode::usage:
      return "usage";
    case StatusCode::input:
      return "input";
    case StatusCode::too_big:
      return "too big";
    case StatusCode::out_of_memory:
      return "out of memory";
    case StatusCode::device_memory:
      return "device memory";
    case StatusCode::device_lost:
      return "device lost";
    case StatusCode::unknown_device:
      return "unknown device";
    case StatusCode::device:
      return "device";
    case StatusCode::cancelled:
      return "cancelled";
    case StatusCode::internal:
      break;
  }
  return "internal";
}

int64_t Results::expect() {
  const std::lock_guard lock(mutex_);
  return expected_++;
}

int64_t Results::expected() const {
  const std::lock_guard lock(mutex_);
  return expected_;
}

void Results::deliver(TaskResult&& result) {
  {
    const std::lock_guard lock(mutex_);
    const auto finished = finished_ahead_.insert(result.index).first;
    try {
      if (ordered_) {
        ready_.emplace(result.index, std::move(result));
      } else {
        loose_.push_back(std::move(result));
      }
    } catch (...) {
      finished_ahead_.erase(finished);
      throw;
    }
    ++finished_;
    while (!finished_ahead_.empty() && *finished_ahead_.begin() == first_unfinished_) {
      finished_ahead_.erase(finished_ahead_.begin());
      ++first_unfinished_;
    }
  }
  changed_.notify_all();
}

bool Results::has_next() const {
  return ordered_ ? !ready_.empty() && ready_.begin()->first == returned_ : !loose_.empty();
}

TaskResult Results::take_next() {
  ++returned_;
  if (ordered_) return std::move(ready_.extract(ready_.begin()).mapped());
  TaskResult result = std::move(loose_.front());
  loose_.pop_front();
  return result;
}

std::optional<TaskResult> Results::poll() {
  const std::lock_guard lock(mutex_);
  if (!has_next()) return std::nullopt;
  return take_next();
}

std::optional<TaskResult> Results::wait_any(std::optional<Clock::time_point> until) {
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return has_next() || returned_ == expected_; };
  if (until) {
    changed_.wait_until(lock, *until, is_over);
  } else {
    changed_.wait(lock, is_over);
  }
  if (!has_next()) return std::nullopt;
  TaskResult result = take_next();
  if (returned_ == expected_) changed_.notify_all();  // others who wait have nothing to wait for
  return result;
}

bool Results::is_drained() const {
  const std::lock_guard lock(mutex_);
  return returned_ == expected_;
}

void Results::flush() {
  std::unique_lock lock(mutex_);
  const int64_t until = expected_;
  changed_.wait(lock, [&] { return first_unfinished_ >= until; });
}

int64_t Results::first_unfinished() const {
  const std::lock_guard lock(mutex_);
  return first_unfinished_;
}

int64_t Results::unfinished() const {
  const std::lock_guard lock(mutex_);
  return expected_ - finished_;
}

void Counts::note(const TaskResult& result, std::optional<double> gpu_ms) {
  const std::lock_guard lock(mutex_);
  ++sums_.finished;
  if (!result.status.ok()) ++sums_.failed;
  sums_.read_ms += result.reference.read_ms + result.distorted.read_ms;
  sums_.decode_ms += result.reference.decode_ms + result.distorted.decode_ms;
  sums_.prepare_ms += result.prepare_ms;
  sums_.waiting_ms += result.waiting_ms;
  try {
    if (!result.status.ok()) ++failures_[kind_of_failure(result)];
    std::map<std::string, double> times;
    double all_ms = 0;
    for (const Score& score : result.scores) {
      for (const NamedValue& stage : score.provenance.timing_ms) {
        if (stage.name != "metric") continue;
        times[score.metric] += stage.value;
        all_ms += stage.value;
      }
    }
    // On a GPU the times of rows in flight lie side by side, and so do those of a row's metrics.
    const double scale = gpu_ms && all_ms > 0 ? *gpu_ms / all_ms : 1;
    for (const auto& [metric, ms] : times) metrics_[metric] += ms * scale;
    if (!result.status.ok() || result.device.empty()) return;
    auto& [tasks, busy_ms] = devices_[result.device];
    ++tasks;
    busy_ms += gpu_ms.value_or(result.device_ms);
  } catch (const std::bad_alloc&) {
  }
}

void Counts::note_idle(double milliseconds) {
  const std::lock_guard lock(mutex_);
  sums_.idle_ms += milliseconds;
}

void Counts::note_reference(bool found) {
  const std::lock_guard lock(mutex_);
  ++(found ? sums_.references_found : sums_.references_decoded);
}

void Counts::note_prepared() {
  const std::lock_guard lock(mutex_);
  ++sums_.references_prepared;
}

void Counts::fill(SchedulerStatistics& statistics) const {
  const std::lock_guard lock(mutex_);
  statistics = sums_;
  for (const auto& [kind, tasks] : failures_) statistics.failures.push_back({kind, tasks});
  for (const auto& [metric, ms] : metrics_) statistics.metrics.push_back({metric, ms});
  for (const auto& [device, sums] : devices_) statistics.devices.push_back({device, sums.first, sums.second, false});
}

}  // namespace acuity
