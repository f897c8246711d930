// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/task_threads.h"

#include <new>
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
  try {
    std::unique_lock lock(mutex_);
    if (idle_ == 0) {
      threads_.emplace_back([this] { work(); });
      ++idle_;
    }
    waiting_.push_back(std::move(task));  // stays as it is if there is no memory
    --idle_;
    lock.unlock();
    changed_.notify_one();
    return;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
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
