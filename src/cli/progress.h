// SPDX-License-Identifier: BSD-2-Clause-Patent
// How far a video has come, in words.
#ifndef ACUITY_CLI_PROGRESS_H
#define ACUITY_CLI_PROGRESS_H

#include <cstdint>
#include <optional>
#include <string>

#include "base/stopwatch.h"
#include "cli/pairs.h"

namespace acuity::cli {

/// How many frames there will be.
struct FrameTotal {
  int64_t frames = 0;
  bool about = false;  // reckoned from how long the video is
};

/// How many frames a stream has; none where neither it nor its length tells.
std::optional<FrameTotal> total_of(const VideoFormat& format);

class FrameCount {
 public:
  /// "120 of 2400 frames, 31.0 a second, 74 s left".
  std::string told(int64_t done, const std::optional<FrameTotal>& total) const;

 private:
  Stopwatch watch_;
};

}  // namespace acuity::cli

#endif
