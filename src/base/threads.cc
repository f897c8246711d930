// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/threads.h"

#include <algorithm>
#include <atomic>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace acuity {

struct Threads::Arena {
  // Asking oneTBB for more threads than it may start makes it print a warning.
  explicit Arena(int count)
      : arena(std::min(
            count, static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)))) {
  }
  tbb::task_arena arena;
};

Threads::Threads(int count)
    : count_(count > 0 ? count : tbb::info::default_concurrency()),
      arena_(count_ > 1 ? std::make_unique<Arena>(count_) : nullptr) {}

Threads Threads::idle(int count) {
  Threads threads(1);
  threads.count_ = count > 0 ? count : tbb::info::default_concurrency();
  threads.is_idle_ = true;
  return threads;
}

Threads::~Threads() = default;
Threads::Threads(Threads&&) noexcept = default;
Threads& Threads::operator=(Threads&&) noexcept = default;

void Threads::run(const std::function<void(int)>& worker) const {
  if (is_idle_) return;
  if (count_ == 1) {
    worker(0);
    return;
  }
  // oneTBB sees to it that workers find what was written before them and that the caller finds what they wrote. The two
  // counters say the same in a way that ThreadSanitizer, which cannot look into oneTBB, understands.
  struct Run {
    const std::function<void(int)>& worker;
    std::atomic<int> begun = 0, ended = 0;
  } run{worker};
  const auto run_one = [&run](const tbb::blocked_range<int>& range) {
    run.begun.load(std::memory_order_acquire);
    run.worker(range.begin());
    run.ended.fetch_add(1, std::memory_order_release);
  };
  run.begun.store(1, std::memory_order_release);
  // Where the arena is full, one of its threads calls this for us, and ThreadSanitizer cannot know that the captures
  // are there.
  arena_->arena.execute([&]() __attribute__((no_sanitize("thread"))) {
    // The simple partitioner cuts down to ranges of one.
    tbb::parallel_for(tbb::blocked_range<int>(0, count_), run_one, tbb::simple_partitioner());
  });
  run.ended.load(std::memory_order_acquire);
}

}  // namespace acuity
