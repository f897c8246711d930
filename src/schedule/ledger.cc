// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace acuity {

Held::Held(Held&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Held& Held::operator=(Held&& other) noexcept {
  if (this == &other) return *this;
  keep_only(0);
  ledger_ = std::exchange(other.ledger_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void Held::keep_only(int64_t bytes) noexcept {
  if (bytes_ <= bytes) return;
  ledger_->give_back(bytes_ - bytes);
  bytes_ = bytes;
}

Held Held::split(int64_t bytes) noexcept {
  const int64_t taken = std::min(bytes, bytes_);
  bytes_ -= taken;
  return {ledger_, taken};
}

void Held::add(Held other) noexcept {
  if (ledger_ == nullptr) ledger_ = other.ledger_;
  bytes_ += std::exchange(other.bytes_, 0);
}

bool Held::try_more(int64_t bytes) {
  if (bytes <= 0) return true;
  std::unique_lock lock(ledger_->mutex_);
  if (!ledger_->try_count(lock, bytes)) return false;
  bytes_ += bytes;
  return true;
}

void Held::more_anyway(int64_t bytes) {
  if (bytes <= 0) return;
  const std::lock_guard lock(ledger_->mutex_);
  ledger_->count(bytes);
  bytes_ += bytes;
}

void Ledger::count(int64_t bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

bool Ledger::try_count(std::unique_lock<std::mutex>& lock, int64_t bytes) {
  while (used_ + bytes > limit_) {
    const int64_t missing = used_ + bytes - limit_;
    lock.unlock();
    const bool found = reclaim_(missing);
    lock.lock();
    if (!found) break;
  }
  if (used_ + bytes > limit_) return false;
  count(bytes);
  return true;
}

Result<Held> Ledger::take(int64_t bytes) {
  if (bytes > limit_) {
    return Status(StatusCode::too_big,
                  fmt::format("{} bytes of memory are needed, but the limit for all tasks is {}; raise the limit, or "
                              "use smaller pictures",
                              bytes, limit_));
  }
  std::unique_lock lock(mutex_);
  const uint64_t ticket = tickets_++;
  changed_.wait(lock, [&] { return serving_ == ticket; });
  bool counted = false;
  while (!closed_) {
    const uint64_t seen = changes_;
    counted = try_count(lock, bytes);
    if (counted) break;
    changed_.wait(lock, [&] { return closed_ || changes_ != seen; });
  }
  ++serving_;
  changed_.notify_all();
  if (!counted) return Status(StatusCode::cancelled, "the task was cancelled");
  return Held(this, bytes);
}

Held Ledger::try_take(int64_t bytes) {
  std::unique_lock lock(mutex_);
  if (!try_count(lock, bytes)) return {};
  return {this, bytes};
}

void Ledger::give_back(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
  ++changes_;
  changed_.notify_all();
}

void Ledger::count_again(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  count(bytes);
}

void Ledger::wake() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  changed_.notify_all();
}

void Ledger::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

int64_t Ledger::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

int64_t Ledger::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace acuity
