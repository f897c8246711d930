// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/frame_queue.h"

#include <chrono>
#include <exception>
#include <new>
#include <system_error>

#include <fmt/format.h>

namespace acuity {

FrameQueue::FrameQueue(std::unique_ptr<FrameSource> source) : source_(std::move(source)) {
  try {
    thread_ = std::thread([this] { read(); });
  } catch (const std::system_error& error) {
    status_ =
        Status(StatusCode::out_of_memory, fmt::format("a thread for reading could not be started ({}); free memory "
                                                      "or allow more threads",
                                                      error.what()));
    done_ = true;
  }
}

FrameQueue::~FrameQueue() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FrameQueue::read() {
  for (;;) {
    VideoFrame frame;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closing_ || ready_.size() < kMostFrames; });
      if (closing_) return;
      if (!used_.empty()) {
        frame = std::move(used_.back());
        used_.pop_back();
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    Result<bool> more = false;
    try {
      more = source_->next(frame);
    } catch (const std::bad_alloc&) {
      more = Status(StatusCode::out_of_memory, "out of memory while reading a frame");
    } catch (const std::exception& error) {
      more = Status(StatusCode::internal, fmt::format("reading a frame failed: {}", error.what()));
    }
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    const std::lock_guard lock(mutex_);
    milliseconds_ += spent.count();
    if (!more.ok()) status_ = more.status();
    done_ = !more.ok() || !*more;
    if (!done_) ready_.push_back(std::move(frame));
    changed_.notify_all();
    if (done_) return;
  }
}

Result<bool> FrameQueue::next(VideoFrame& frame) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_ || !ready_.empty(); });
  if (ready_.empty()) {
    if (!status_.ok()) return status_;
    return false;
  }
  std::swap(frame, ready_.front());
  if (used_.size() < kMostFrames) used_.push_back(std::move(ready_.front()));
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return true;
}

double FrameQueue::milliseconds() {
  const std::lock_guard lock(mutex_);
  return milliseconds_;
}

}  // namespace acuity
