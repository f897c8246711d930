// SPDX-License-Identifier: BSD-2-Clause-Patent
// Threads for work that waits most of the time, for a device or for other threads. oneTBB has no more threads than
// there are cores, and none of them may wait.
#ifndef ACUITY_BASE_TASK_THREADS_H
#define ACUITY_BASE_TASK_THREADS_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace acuity {

/// Threads are started when they are needed, and kept for the next task.
class TaskThreads {
 public:
  TaskThreads() = default;
  ~TaskThreads();  // after all tasks, which add none then
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  /// Runs the task on a thread that has nothing else to do; tasks may wait for each other. It must not throw. Where the
  /// system starts no more threads, it runs here, before this returns.
  void run(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;  // threads that no waiting task is meant for
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace acuity

#endif
