// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_CLI_VIDEO_SIDE_H
#define ACUITY_CLI_VIDEO_SIDE_H

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/timeline.h"
#include "frames/resampling.h"
#include "media/frame_queue.h"

namespace acuity::cli {

/// One stream as it is read, with the next frame in hand.
class Side {
 public:
  Side(std::unique_ptr<FrameStream> stream, std::string name) : queue_(std::move(stream)), name_(std::move(name)) {}

  const VideoFormat& format() const { return queue_.format(); }
  const std::string& name() const { return name_; }
  /// As FrameStream::want.
  void want(const PlaneSet& planes) { queue_.want(planes); }
  bool has_frame() const { return has_frame_; }
  const std::shared_ptr<VideoFrame>& frame() const { return frame_; }
  /// Seconds after the first frame that was not left out.
  double time() const { return frame_->time.value_or(0) - begin_; }
  /// Seconds after the first frame of all.
  double time_in_stream() const { return frame_->time.value_or(0) - first_; }
  /// Where the frame in hand ends the stream early.
  const Status& status() const { return status_; }
  double milliseconds() { return queue_.milliseconds(); }
  /// From when on it is read, and when the frame in hand came.
  double begin_ms() const { return begin_ms_; }
  double end_ms() const { return end_ms_; }

  void advance() {
    if (ended_) {
      has_frame_ = false;
      return;
    }
    Result<std::shared_ptr<VideoFrame>> next = queue_.next();
    has_frame_ = next.ok() && *next != nullptr;
    status_ = next.status();
    frame_ = has_frame_ ? std::move(*next) : std::make_shared<VideoFrame>();
    ended_ = !has_frame_;
    if (has_frame_) ++seen_;
    end_ms_ = now_ms();
  }

  /// Takes the first frame after those to be left out.
  void begin(int64_t left_out) {
    advance();
    first_ = frame_->time.value_or(0);
    for (; has_frame_ && left_out > 0; --left_out) advance();
    begin_ = frame_->time.value_or(0);
  }

  /// Hands out the frame in hand and takes the next.
  std::shared_ptr<VideoFrame> take() {
    std::shared_ptr<VideoFrame> taken = std::move(frame_);
    advance();
    return taken;
  }

  /// How many have been taken from the stream, those left out included.
  int64_t seen() const { return seen_; }
  /// How many frames there are, where the file or its end has told.
  std::optional<int64_t> frames() const {
    if (ended_ && status_.ok()) return seen_;
    return format().frames;
  }

 private:
  double begin_ms_ = now_ms();
  double end_ms_ = 0;
  FrameQueue queue_;
  std::string name_;
  std::shared_ptr<VideoFrame> frame_ = std::make_shared<VideoFrame>();
  bool has_frame_ = false;
  bool ended_ = false;
  int64_t seen_ = 0;
  double first_ = 0;
  double begin_ = 0;
  Status status_;
};

/// A stream that is shown at another rate.
class ShownSide {
 public:
  ShownSide(Side& side, const Resampling& resampling) : side_(side), resampling_(resampling) {}
  /// Takes the frame that is seen at frame k; false where the stream ends before.
  bool show(int64_t k) {
    for (const int64_t wanted = resampling_.frame_at(k, side_.format().rate); taken_ <= wanted; ++taken_) {
      if (!side_.has_frame() || !check_time().ok()) return false;
      frame_ = side_.take();
    }
    return taken_ + (side_.has_frame() ? 1 : 0) >= resampling_.frames_for(k, side_.format().rate);
  }
  const std::shared_ptr<VideoFrame>& frame() const { return frame_; }
  /// Where show() ended because the frames do not have one rate.
  const Status& status() const { return status_; }

 private:
  // Which frame is seen when goes by their numbers, so their times must be those.
  const Status& check_time() {
    const FrameRate& rate = side_.format().rate;
    const double step = static_cast<double>(rate.denominator) / static_cast<double>(rate.numerator);
    const double expected = static_cast<double>(taken_) * step;
    if (side_.frame()->time && std::abs(side_.time() - expected) > step / 2 + 1e-9) {
      status_ = Status(StatusCode::input,
                       fmt::format("frame {} of {} comes {:.3f} s after the first, and at a constant {:.6g} frames per "
                                   "second it would after {:.3f} s; use --sync pts for a variable frame rate",
                                   side_.frame()->index, side_.name(), side_.time(), 1 / step, expected));
    }
    return status_;
  }

  Side& side_;
  const Resampling& resampling_;
  Status status_;
  int64_t taken_ = 0;
  std::shared_ptr<VideoFrame> frame_;
};

}  // namespace acuity::cli

#endif
