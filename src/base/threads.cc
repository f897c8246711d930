// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/threads.h"

#include <algorithm>

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
Threads::~Threads() = default;
Threads::Threads(Threads&&) noexcept = default;
Threads& Threads::operator=(Threads&&) noexcept = default;

void Threads::run(const std::function<void(int)>& worker) const {
  if (count_ == 1) {
    worker(0);
    return;
  }
  arena_->arena.execute(
      [&] { tbb::parallel_for(0, count_, [&](int index) { worker(index); }, tbb::simple_partitioner()); });
}

}  // namespace acuity
