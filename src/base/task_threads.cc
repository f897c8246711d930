// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/task_threads.h"

#include <system_error>
#include <utility>

namespace acuity {

TaskThreads::~TaskThreads() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TaskThreads::run(std::function<void()> task) {
  {
    std::unique_lock lock(mutex_);
    bool has_thread = idle_ > 0;
    if (has_thread) {
      --idle_;
    } else {
      try {
        threads_.emplace_back([this] { work(); });
        has_thread = true;
      } catch (const std::system_error&) {
      }
    }
    if (has_thread) {
      waiting_.push_back(std::move(task));
      lock.unlock();
      changed_.notify_one();
      return;
    }
  }
  task();
}

void TaskThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before the thread counts as idle
    lock.lock();
    ++idle_;
  }
}

}  // namespace acuity
