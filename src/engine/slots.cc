// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/slots.h"

#include <new>
#include <utility>

#include "base/guard.h"

namespace acuity {
namespace {

bool is_short_of_memory(const Status& status) {
  return status.code() == StatusCode::out_of_memory || status.code() == StatusCode::device_memory;
}

}  // namespace

Result<std::unique_ptr<Slot>> Slots::take() {
  std::unique_lock lock(mutex_);
  bool is_short = false;
  while (true) {
    if (!unused_.empty()) {
      std::unique_ptr<Slot> slot = std::move(unused_.back());
      unused_.pop_back();
      return slot;
    }
    if (made_ >= most_ || (is_short && made_ > 0)) {
      changed_.wait(lock);
      continue;
    }
    ++made_;
    const uint64_t generation = generation_;
    lock.unlock();
    Result<std::unique_ptr<Slot>> slot = guarded<Result<std::unique_ptr<Slot>>>(make_);
    lock.lock();
    if (slot.ok()) {
      (*slot)->generation = generation;
      return slot;
    }
    --made_;
    changed_.notify_all();
    is_short = is_short_of_memory(slot.status());
    if (!is_short || made_ == 0) return slot.status();
  }
}

void Slots::give_back(std::unique_ptr<Slot> slot) {
  {
    const std::lock_guard lock(mutex_);
    try {
      if (slot->generation == generation_) unused_.push_back(std::move(slot));
    } catch (const std::bad_alloc&) {
      // No memory to note it: dropped below.
    }
  }
  if (slot) return drop(std::move(slot));
  changed_.notify_one();
}

size_t Slots::unused_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const std::unique_ptr<Slot>& slot : unused_) {
    for (const std::unique_ptr<Metric>& metric : slot->metrics) bytes += metric->working_bytes();
  }
  return bytes;
}

void Slots::renew() {
  std::vector<std::unique_ptr<Slot>> old;
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
    made_ -= unused_.size();
    old.swap(unused_);
  }
  old.clear();
  changed_.notify_all();
}

void Slots::drop(std::unique_ptr<Slot> slot) {
  slot.reset();
  {
    const std::lock_guard lock(mutex_);
    --made_;
  }
  changed_.notify_one();
}

}  // namespace acuity
