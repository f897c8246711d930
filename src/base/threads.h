// SPDX-License-Identifier: BSD-2-Clause-Patent
// Threads through oneTBB. How many there are never changes a result: work is cut by the picture, not by the threads.
#ifndef ACUITY_BASE_THREADS_H
#define ACUITY_BASE_THREADS_H

#include <functional>
#include <memory>

namespace acuity {

class Threads {
 public:
  /// `count` threads including the caller's; 0 means one for each core this process may use.
  explicit Threads(int count);
  /// The same, but run() does nothing: for finding out what work would take.
  static Threads idle(int count);
  ~Threads();
  Threads(Threads&&) noexcept;
  Threads& operator=(Threads&&) noexcept;

  int count() const { return count_; }

  /// Calls worker(0) .. worker(count() - 1), possibly at the same time and possibly one after the other.
  /// A worker may wait only for something that a worker which has already begun will do.
  void run(const std::function<void(int)>& worker) const;

 private:
  struct Arena;
  int count_;
  bool is_idle_ = false;
  std::unique_ptr<Arena> arena_;
};

}  // namespace acuity

#endif
