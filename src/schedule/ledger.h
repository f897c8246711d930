// SPDX-License-Identifier: BSD-2-Clause-Patent
// Counts the memory that a scheduler uses of the host. Memory is counted before it is allocated.
//
// Nobody who holds memory waits for more, so that tasks cannot wait for each other: who needs more than was held asks
// with try_more(), and if there is none gives back everything and takes the whole again.
#ifndef ACUITY_SCHEDULE_LEDGER_H
#define ACUITY_SCHEDULE_LEDGER_H

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "acuity/status.h"

namespace acuity {

class Ledger;

/// Bytes that are counted as long as this lives.
class Held {
 public:
  Held() = default;
  Held(Held&& other) noexcept;
  Held& operator=(Held&& other) noexcept;
  ~Held() { keep_only(0); }

  int64_t bytes() const { return bytes_; }
  /// Gives back all but so many.
  void keep_only(int64_t bytes) noexcept;
  /// Moves so many, or all, to another.
  Held split(int64_t bytes) noexcept;
  /// Adds another's.
  void add(Held other) noexcept;
  /// Counts so many more if there is room, without waiting.
  bool try_more(int64_t bytes);
  /// Counts so many more whether or not there is room: for what is there already.
  void more_anyway(int64_t bytes);

 private:
  friend class Ledger;
  Held(Ledger* ledger, int64_t bytes) : ledger_(ledger), bytes_(bytes) {}
  Ledger* ledger_ = nullptr;
  int64_t bytes_ = 0;
};

class Ledger {
 public:
  /// `reclaim` frees memory that is only cached, at least so many bytes if it can, and returns false if it found none.
  /// Called without the lock.
  Ledger(int64_t limit, std::function<bool(int64_t bytes)> reclaim) : limit_(limit), reclaim_(std::move(reclaim)) {}

  /// Waits until so many bytes are free; who asked first is served first. StatusCode::too_big if they exceed the limit,
  /// cancelled after close().
  Result<Held> take(int64_t bytes);
  /// Without waiting; nothing if there is no room.
  Held try_take(int64_t bytes);
  /// What is held by somebody who will perhaps never give it back is not counted any more, until he comes back.
  void write_off(int64_t bytes) noexcept { give_back(bytes); }
  void count_again(int64_t bytes);
  /// Who waits looks again: something that is cached may have become free to go.
  void wake();
  /// Nobody waits any more.
  void close();

  int64_t limit() const { return limit_; }
  int64_t used() const;
  int64_t peak() const;

 private:
  friend class Held;
  bool try_count(std::unique_lock<std::mutex>& lock, int64_t bytes);
  void count(int64_t bytes);
  void give_back(int64_t bytes) noexcept;

  const int64_t limit_;
  const std::function<bool(int64_t)> reclaim_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t used_ = 0;
  int64_t peak_ = 0;
  uint64_t tickets_ = 0;  // given to those who wait
  uint64_t serving_ = 0;
  uint64_t changes_ = 0;  // since which something may have become free
  bool closed_ = false;
};

}  // namespace acuity

#endif
