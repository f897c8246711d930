// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a scheduler does about rows that take too long: they fail, and other threads take the place of theirs, which
// cannot be stopped.
#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "schedule/state.h"

namespace acuity {
namespace {

constexpr int kMostLeftBehind = 256;

}  // namespace

TaskResult Scheduler::State::timeout_of(const Row& row) const {
  TaskResult result;
  result.index = row.index;
  result.id = row.is_work ? row.work.id : row.task.id;
  result.fields = row.is_work ? row.work.fields : row.task.fields;
  result.timed_out = true;
  result.status = Status(StatusCode::cancelled, fmt::format("{}: {}", names_of(row), timeout_text(options.timeout_ms)));
  return result;
}

// Its thread goes on without anybody waiting for it.
void Scheduler::State::time_out(Row& row) {
  while (true) {
    try {
      TaskResult result = timeout_of(row);
      if (row.claim_delivery()) hand_out(std::move(result));
      return;
    } catch (const std::bad_alloc&) {  // others will free some
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void Scheduler::State::watch_time() {
  const auto period = std::chrono::milliseconds(std::clamp<int64_t>(options.timeout_ms / 8, 1, 100));
  std::unique_lock lock(workers_mutex_);
  while (!stopping_) {
    time_over_.wait_for(lock, period, [this] { return stopping_; });
    // What there is no memory for is tried again the next time.
    (void)guarded<Status>([&] {
      watch_workers(Clock::now().time_since_epoch().count() - options.timeout_ms * 1'000'000);
      for (const std::unique_ptr<GpuWorker>& gpu : gpus_) {
        if (gpu) gpu->give_up_late();
      }
      return Status();
    });
  }
}

void Scheduler::State::watch_workers(int64_t latest_ns) {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    if (worker->row && !worker->is_left_behind) leave_behind(*worker, latest_ns);
  }
  std::erase_if(workers_, [](const std::unique_ptr<Worker>& worker) {
    if (!worker->has_come_back) return false;
    worker->thread.join();
    return true;
  });
  replace_workers();
  if (live_ == 0 && !stopping_) end_without_threads();
}

// If its row is late. The thread comes back, if it does, only after this.
void Scheduler::State::leave_behind(Worker& worker, int64_t latest_ns) {
  Row& row = *worker.row;
  if (!row.stages.is_late(latest_ns)) return;
  TaskResult result = timeout_of(row);
  std::string stuck_at = row.is_at_reference ? row.reference_name : "";
  if (!row.stages.give_up(latest_ns)) return;
  worker.is_left_behind = true;
  --live_;
  ++left_behind_;
  worker.written_off = row.counted_bytes;
  ledger_.write_off(worker.written_off);
  window_.end_work(row);
  if (row.claim_delivery()) hand_out(std::move(result));
  if (stuck_at.empty()) return;
  references_.note_stuck(stuck_at);
  worker.stuck_at = std::move(stuck_at);
}

void Scheduler::State::come_back(Worker& worker) {
  ledger_.count_again(worker.written_off);
  if (!worker.stuck_at.empty()) references_.note_back(worker.stuck_at);
  --left_behind_;
  worker.has_come_back = true;
}

void Scheduler::State::replace_workers() {
  while (live_ < threads_ && left_behind_ + live_ < kMostLeftBehind + threads_ && !stopping_) {
    // If the system has no thread for it, the others go on.
    const Status added = guarded<Status>([&] {
      add_worker();
      return Status();
    });
    if (!added.ok()) return;
  }
}

// Nobody is left to take a row.
void Scheduler::State::end_without_threads() {
  const std::string why = fmt::format(
      "{} tasks did not end within the time limit of {} ms, and no thread is left for others; run it again without "
      "them",
      left_behind_.load(), options.timeout_ms);
  if (out_of_threads_.ok()) out_of_threads_ = Status(StatusCode::input, why);
  window_.close();
  while (const RowPointer row = window_.take_back()) {
    row->result.timed_out = true;
    fail(row, status_of_texts(StatusCode::cancelled, {why.c_str()}));
  }
}

}  // namespace acuity
