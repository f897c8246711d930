// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the options say of video: what the streams are, and which frames belong together.
#ifndef ACUITY_CLI_VIDEO_PLAN_H
#define ACUITY_CLI_VIDEO_PLAN_H

#include <optional>

#include "acuity/status.h"
#include "cli/request.h"
#include "media/video.h"

namespace acuity::cli {

struct VideoPlan {
  VideoOptions reference;
  VideoOptions distorted;
  bool decode_reference_on_gpu = false;
  bool decode_distorted_on_gpu = false;
  bool by_time = false;
  std::optional<int> resampled;  // both videos are shown at one rate, at most this
  int64_t offset = 0;            // frames left out first: of the distorted, or where negative of the reference
  int64_t start = 0;             // of the reference
  std::optional<int64_t> end;
  std::optional<double> start_time;  // instead: seconds after the reference's first frame
  std::optional<double> end_time;
  int64_t every = 1;
  bool one_frame = false;  // start, end and offset were made from --frame
  bool shortest = false;
};

/// What the options say of files that may be pictures or videos.
struct FilePlan {
  PictureLimits limits;
  std::optional<int64_t> reference_frame;  // --frame
  std::optional<int64_t> distorted_frame;
};

/// The options that say what a stream is; each has one value for both sides or two with a comma between.
const std::vector<Option>& stream_options();
/// Which picture of a file is taken.
const std::vector<Option>& frame_options();
/// What a file may cost.
const std::vector<Option>& limit_options();
/// What decodes videos.
const std::vector<Option>& decode_options();
/// The options that say which frames are compared.
const std::vector<Option>& pairing_options();

/// The value of --fps.
Result<FrameRate> parse_rate(const std::string& text);

/// Whether an option is given that makes sense for video alone.
bool asks_for_video(const Request& request);
Result<FilePlan> read_file_options(const Request& request);
Result<VideoPlan> plan_video(const Request& request);

}  // namespace acuity::cli

#endif
