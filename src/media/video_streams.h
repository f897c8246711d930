// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where frames come from: what the kinds of streams share, and how each is opened. video.cc chooses among them.
#ifndef ACUITY_MEDIA_VIDEO_STREAMS_H
#define ACUITY_MEDIA_VIDEO_STREAMS_H

#include <memory>
#include <string_view>

#include "media/decoder.h"
#include "media/file.h"
#include "media/video.h"

namespace acuity {

/// Takes over what the stream says, fills in what is usual where it says nothing, and holds the size against the
/// limits.
Status complete_format(VideoFormat& format, const SampleFacts& said, const PictureLimits& limits,
                       std::string_view name);

/// Records the shape of pixels, where it is known, and says so where they are not square (video.cc).
void state_pixel_aspect(VideoFormat& format, int64_t width, int64_t height);

/// YUV4MPEG2, or raw YUV where the options give a size (planar.cc).
Result<std::unique_ptr<FrameStream>> open_planar(File file, std::string_view name, const VideoOptions& options);

/// Everything libav knows (libav.cc).
Result<std::unique_ptr<FrameStream>> open_libav(File file, std::string_view name, const VideoOptions& options);
/// Whether libav takes the beginning of a file for a container or a stream it knows; `surely`: without any doubt.
bool is_known_to_libav(Bytes beginning, bool surely = false);

/// Whether a file that begins so is YUV4MPEG2 or known to libav, provided that it is no picture (video.cc).
bool begins_a_video(Bytes beginning);

}  // namespace acuity

#endif
