// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/frame_queue.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"

namespace acuity {
namespace {

constexpr const char* kDoing = "reading a frame";  // for messages

}  // namespace

FrameQueue::FrameQueue(std::unique_ptr<FrameStream> stream) : stream_(std::move(stream)) {
  const auto readers = static_cast<size_t>(stream_->readers());
  most_ = kMostFrames + readers - 1;
  threads_.reserve(readers);
  try {
    while (threads_.size() < readers) threads_.emplace_back([this] { read(); });
  } catch (const std::system_error& error) {
    if (!threads_.empty()) return;  // those there are read all
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
  may_find_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Reads without the lock, and counts the time.
template <typename Outcome, typename Read>
Outcome FrameQueue::busy(std::unique_lock<std::mutex>& lock, const Read& read) {
  if (readers_++ == 0) watch_ = Stopwatch();
  lock.unlock();
  Outcome outcome = guarded<Outcome>(read, kDoing);
  lock.lock();
  if (--readers_ == 0) milliseconds_ += watch_.milliseconds();
  return outcome;
}

void FrameQueue::read() {
  const Status status = guarded<Status>(
      [this] {
        read_frames();
        return Status();
      },
      kDoing);
  if (status.ok()) return;
  {
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_ = true;
  }
  may_find_.notify_all();
  changed_.notify_one();
}

void FrameQueue::read_frames() {
  std::unique_lock lock(mutex_);
  for (;;) {
    may_find_.wait(lock, [this] { return closing_ || done_ || may_find(); });
    if (closing_ || done_) return;
    is_finding_ = true;
    const std::shared_ptr<VideoFrame> frame = pool_.take();
    const Result<bool> more = busy<Result<bool>>(lock, [&] { return stream_->find(*frame); });
    is_finding_ = false;
    if (!more.ok() || !*more) {
      status_ = more.status();
      done_ = true;
      may_find_.notify_all();
      changed_.notify_one();
      return;
    }
    Entry& entry = frames_.emplace_back(Entry{frame});
    may_find_.notify_one();
    entry.status = busy<Status>(lock, [&] { return stream_->load(*frame); });
    entry.is_loaded = true;
    if (&entry == &frames_.front()) changed_.notify_one();
  }
}

Result<std::shared_ptr<VideoFrame>> FrameQueue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return frames_.empty() ? done_ : frames_.front().is_loaded; });
  if (frames_.empty()) {
    if (!status_.ok()) return status_;
    return std::shared_ptr<VideoFrame>();
  }
  if (!frames_.front().status.ok()) return frames_.front().status;  // it stays, so that nothing comes after it
  std::shared_ptr<VideoFrame> frame = std::move(frames_.front().frame);
  frames_.pop_front();
  lock.unlock();
  may_find_.notify_one();
  return frame;
}

double FrameQueue::milliseconds() {
  const std::lock_guard lock(mutex_);
  return milliseconds_ + (readers_ > 0 ? watch_.milliseconds() : 0);
}

}  // namespace acuity
