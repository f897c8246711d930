// SPDX-License-Identifier: BSD-2-Clause-Patent
// Two videos of different frame rates shown at one rate, as ColorVideoVDP's --temp-resample does it: frames are
// repeated, never mixed.
#ifndef ACUITY_FRAMES_RESAMPLING_H
#define ACUITY_FRAMES_RESAMPLING_H

#include "acuity/frame.h"
#include "acuity/status.h"

namespace acuity {

class Resampling {
 public:
  static constexpr int kMostByDefault = 166;

  /// The rate is the least that both divide, or `most` if that is lower or a rate is no whole number. Refuses rates
  /// above `most`.
  static Result<Resampling> create(const FrameRate& reference, const FrameRate& distorted, int most);

  int frames_per_second() const { return rate_; }
  /// The frame of a video of that rate which is seen at frame k.
  int64_t frame_at(int64_t k, const FrameRate& rate) const;
  /// How many frames such a video must have for frame k to be shown.
  int64_t frames_for(int64_t k, const FrameRate& rate) const;

 private:
  explicit Resampling(int rate) : rate_(rate) {}
  int rate_;
};

}  // namespace acuity

#endif
