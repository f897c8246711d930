// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads a stream on threads of its own, a few frames ahead and no more: memory does not grow with the length.
#ifndef ACUITY_MEDIA_FRAME_QUEUE_H
#define ACUITY_MEDIA_FRAME_QUEUE_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stopwatch.h"
#include "media/video.h"

namespace acuity {

class FrameQueue {
 public:
  /// So many frames are read ahead, and one more for each further thread that reads.
  static constexpr size_t kMostFrames = 4;

  explicit FrameQueue(std::unique_ptr<FrameStream> stream);
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  const VideoFormat& format() const { return stream_->format(); }
  /// As FrameStream::want.
  void want(const PlaneSet& planes) { stream_->want(planes); }
  /// The next frame, null at the end. Its memory is used for a later one when nobody holds it.
  Result<std::shared_ptr<VideoFrame>> next();
  /// How long somebody has been reading or decoding so far.
  double milliseconds();

 private:
  struct Entry {
    std::shared_ptr<VideoFrame> frame;
    bool is_loaded = false;
    Status status{};
  };

  void read();
  void read_frames();
  bool may_find() const { return !is_finding_ && frames_.size() < most_; }
  template <typename Outcome, typename Read>
  Outcome busy(std::unique_lock<std::mutex>& lock, const Read& read);

  std::unique_ptr<FrameStream> stream_;
  size_t most_;
  FramePool pool_;
  std::mutex mutex_;
  std::condition_variable may_find_, changed_;
  std::deque<Entry> frames_;  // in order; found, and loaded or being loaded
  Status status_;
  Stopwatch watch_;  // while somebody reads
  int readers_ = 0;  // so many
  double milliseconds_ = 0;
  bool is_finding_ = false;
  bool done_ = false;                 // nothing more will be found
  bool closing_ = false;              // nobody will take more
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace acuity

#endif
