// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads a stream on a thread of its own, a few frames ahead and no more: memory does not grow with the length.
#ifndef ACUITY_MEDIA_FRAME_QUEUE_H
#define ACUITY_MEDIA_FRAME_QUEUE_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "media/video.h"

namespace acuity {

class FrameQueue {
 public:
  static constexpr size_t kMostFrames = 4;

  explicit FrameQueue(std::unique_ptr<FrameSource> source);
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  const VideoFormat& format() const { return source_->format(); }
  /// As FrameSource::next. The memory of the frame handed in is used for a later one.
  Result<bool> next(VideoFrame& frame);
  /// How long reading and decoding has taken so far.
  double milliseconds();

 private:
  void read();

  std::unique_ptr<FrameSource> source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<VideoFrame> ready_;
  std::vector<VideoFrame> used_;
  Status status_;
  double milliseconds_ = 0;
  bool done_ = false;     // nothing more will come
  bool closing_ = false;  // nobody will take more
  std::thread thread_;    // last: it uses all of the above
};

}  // namespace acuity

#endif
