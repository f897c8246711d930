// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/lanes.h"

#include <utility>

namespace acuity {
namespace {

bool is_short_of_memory(const Status& status) {
  return status.code() == StatusCode::out_of_memory || status.code() == StatusCode::device_memory;
}

}  // namespace

Result<std::unique_ptr<Lane>> Lanes::take() {
  std::unique_lock lock(mutex_);
  bool is_short = false;
  while (true) {
    if (!unused_.empty()) {
      std::unique_ptr<Lane> lane = std::move(unused_.back());
      unused_.pop_back();
      return lane;
    }
    if (made_ >= most_ || (is_short && made_ > 0)) {
      changed_.wait(lock);
      continue;
    }
    ++made_;
    lock.unlock();
    Result<std::unique_ptr<Lane>> lane = make_();
    lock.lock();
    if (lane.ok()) return lane;
    --made_;
    changed_.notify_all();
    is_short = is_short_of_memory(lane.status());
    if (!is_short || made_ == 0) return lane.status();
  }
}

void Lanes::give_back(std::unique_ptr<Lane> lane) {
  {
    const std::lock_guard lock(mutex_);
    unused_.push_back(std::move(lane));
  }
  changed_.notify_one();
}

void Lanes::drop(std::unique_ptr<Lane> lane) {
  lane.reset();
  {
    const std::lock_guard lock(mutex_);
    --made_;
  }
  changed_.notify_one();
}

}  // namespace acuity
