// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <utility>

#include "engine/scoring.h"

namespace acuity {

void Job::State::cancel() noexcept { cancelled_ = true; }

void Job::State::complete(Result<std::vector<Score>> scores) {
  reference = Input();
  distorted = Input();
  prepared.reset();
  {
    const std::lock_guard lock(mutex_);
    scores_ = std::move(scores);
    done_ = true;
  }
  changed_.notify_all();
}

bool Job::State::done() const noexcept {
  const std::lock_guard lock(mutex_);
  return done_;
}

void Job::State::wait() const noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
}

Result<std::vector<Score>> Job::State::finish() {
  wait();
  const std::lock_guard lock(mutex_);
  if (!scores_) return Status(StatusCode::usage, "finish() was called before");
  Result<std::vector<Score>> scores = std::move(*scores_);
  scores_.reset();
  return scores;
}

}  // namespace acuity
