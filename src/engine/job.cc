// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <utility>

#include "acuity/scorer.h"
#include "base/guard.h"
#include "engine/scoring.h"

namespace acuity {

Job::Job(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&& other) noexcept {
  if (state_) state_->wait();
  state_ = std::move(other.state_);
  return *this;
}
Job::~Job() {
  if (state_) state_->wait();
}

bool Job::done() const noexcept { return !state_ || state_->done(); }

Result<std::vector<Score>> Job::finish() {
  if (!state_) return moved_from("Job");
  return guarded<Result<std::vector<Score>>>([&] { return state_->finish(); });
}

void Job::cancel() noexcept {
  if (state_) state_->cancel();
}

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
