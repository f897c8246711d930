// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows that wait to be started. Those with the same reference are started together, beginning with the row that has
// waited longest, so that no row waits for more than a window.
#ifndef ACUITY_SCHEDULE_WINDOW_H
#define ACUITY_SCHEDULE_WINDOW_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/row.h"

namespace acuity {

/// What tells references apart before they are read. Two names of one file are found to be the same later, by content.
std::string name_of_reference(const TaskPicture& reference);

class Window {
 public:
  /// At most `most` rows wait. Of works, at most `works` run at a time.
  Window(size_t most, size_t works) : most_(most), works_(works) {}

  enum class Put { yes, no_room, closed };
  /// Waits while the window is full or is_admitted() is false, until then at most; none: as long as it takes.
  /// enter(row) is called once the row is in, before anybody takes it, and throws nothing.
  Put put(const RowPointer& row, const std::function<bool()>& is_admitted, const std::function<void(Row&)>& enter,
          std::optional<Clock::time_point> until = {});
  /// A row that has begun already and can go on at once; false after close().
  bool put_first(RowPointer row);
  /// A row that was taken and turned out to be a work; false after close().
  bool put_work(RowPointer row);
  /// The next row; waits for one. Null after close() once none is left, or when `leave` is set.
  RowPointer take(const std::atomic<bool>& leave);
  /// A work that was taken has ended or was given up; for the first caller only.
  void end_work(Row& row);
  /// Who puts looks again whether its row is admitted.
  void wake_putters();
  void close();
  /// The earliest row that waits, which does so no more; null: there is none. Throws nothing.
  RowPointer take_back();
  size_t waiting() const;

 private:
  using Groups = std::unordered_map<std::string, std::deque<RowPointer>>;
  RowPointer take_next();
  Groups::iterator current_group();

  const size_t most_;
  const size_t works_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for those who take
  std::condition_variable room_;     // for those who put
  std::deque<RowPointer> first_;
  Groups groups_;                  // by reference; none is empty but perhaps the current one
  std::deque<std::string> order_;  // of groups, by their oldest row
  std::deque<RowPointer> waiting_works_;
  std::string current_;  // the group that rows are taken from
  size_t waiting_ = 0;
  size_t works_running_ = 0;
  bool closed_ = false;
};

}  // namespace acuity

#endif
