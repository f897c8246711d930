// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/window.h"

#include <algorithm>
#include <utility>

namespace acuity {

std::string name_of_reference(const TaskPicture& reference) {
  if (reference.input.has_picture()) {
    return "pixels " + std::to_string(reinterpret_cast<uintptr_t>(reference.input.state().get()));
  }
  if (is_in_memory(reference)) {
    return "bytes " + std::to_string(reinterpret_cast<uintptr_t>(reference.bytes.data()));
  }
  return "file " + reference.name;
}

Window::Put Window::put(const RowPointer& row, const std::function<bool()>& is_admitted,
                        const std::function<void(Row&)>& enter, std::optional<Clock::time_point> until) {
  std::string group = row->reference_name;
  std::unique_lock lock(mutex_);
  const auto has_room = [&] { return closed_ || (waiting_ < most_ && is_admitted()); };
  if (!until) {
    room_.wait(lock, has_room);
  } else if (!room_.wait_until(lock, *until, has_room)) {
    return Put::no_room;
  }
  if (closed_) return Put::closed;
  // Where memory runs out, nothing has changed.
  if (row->is_work) {
    waiting_works_.push_back(row);
  } else {
    std::deque<RowPointer>& rows = groups_[group];
    const bool is_new = rows.empty() && group != current_;
    if (is_new) order_.push_back(std::move(group));
    try {
      rows.push_back(row);
    } catch (...) {
      if (is_new) order_.pop_back();
      throw;
    }
  }
  ++waiting_;
  enter(*row);
  lock.unlock();
  changed_.notify_one();
  return Put::yes;
}

bool Window::put_first(RowPointer row) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    first_.push_back(std::move(row));
  }
  changed_.notify_one();
  return true;
}

// The group that was begun, unless it is done or the oldest of the others has waited for a window.
Window::Groups::iterator Window::current_group() {
  auto current = groups_.find(current_);
  const bool is_done = current == groups_.end() || current->second.empty();
  if (!is_done) {
    if (order_.empty()) return current;
    const int64_t ahead = current->second.front()->index - groups_.find(order_.front())->second.front()->index;
    if (ahead <= static_cast<int64_t>(most_)) return current;
    order_.push_back(current_);
  } else if (current != groups_.end()) {
    groups_.erase(current);
  }
  current_.clear();
  if (order_.empty()) return groups_.end();
  current_ = std::move(order_.front());
  order_.pop_front();
  return groups_.find(current_);
}

RowPointer Window::take_next() {
  RowPointer row;
  if (!first_.empty()) {
    row = std::move(first_.front());
    first_.pop_front();
    return row;
  }
  const auto group = current_group();
  const bool has_work = !waiting_works_.empty() && works_running_ < works_;
  const bool has_row = group != groups_.end();
  if (has_work && (!has_row || waiting_works_.front()->index < group->second.front()->index)) {
    row = std::move(waiting_works_.front());
    waiting_works_.pop_front();
    row->is_running_work = true;
    ++works_running_;
    --waiting_;
    return row;
  }
  if (!has_row) return nullptr;
  row = std::move(group->second.front());
  group->second.pop_front();
  row->shares_reference = !group->second.empty();
  --waiting_;
  return row;
}

bool Window::put_work(RowPointer row) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    const auto later = std::find_if(waiting_works_.begin(), waiting_works_.end(),
                                    [&](const RowPointer& other) { return other->index > row->index; });
    waiting_works_.insert(later, std::move(row));
    ++waiting_;
  }
  changed_.notify_one();
  return true;
}

RowPointer Window::take(const std::atomic<bool>& leave) {
  std::unique_lock lock(mutex_);
  while (!leave) {
    if (RowPointer row = take_next()) {
      lock.unlock();
      room_.notify_one();
      return row;
    }
    if (closed_) return nullptr;
    changed_.wait(lock);
  }
  return nullptr;
}

void Window::end_work(Row& row) {
  if (!row.is_running_work.exchange(false)) return;
  {
    const std::lock_guard lock(mutex_);
    --works_running_;
  }
  changed_.notify_one();
}

void Window::wake_putters() {
  {
    const std::lock_guard lock(mutex_);
  }
  room_.notify_all();
}

void Window::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  room_.notify_all();
}

RowPointer Window::take_back() {
  const std::lock_guard lock(mutex_);
  std::deque<RowPointer>* from = nullptr;
  const auto is_earlier = [&](const std::deque<RowPointer>& rows) {
    return !rows.empty() && (from == nullptr || rows.front()->index < from->front()->index);
  };
  for (std::deque<RowPointer>* rows : {&first_, &waiting_works_}) {
    if (is_earlier(*rows)) from = rows;
  }
  auto group = groups_.end();
  for (auto one = groups_.begin(); one != groups_.end(); ++one) {
    if (!is_earlier(one->second)) continue;
    group = one;
    from = &one->second;
  }
  if (from == nullptr) return nullptr;
  RowPointer row = std::move(from->front());
  from->pop_front();
  if (from != &first_) --waiting_;
  if (group != groups_.end() && from->empty()) {
    std::erase(order_, group->first);
    groups_.erase(group);
  }
  return row;
}

size_t Window::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace acuity
