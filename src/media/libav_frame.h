// SPDX-License-Identifier: BSD-2-Clause-Patent
// From libav's frames to ours: samples are moved to where we expect them, and never changed.
#ifndef ACUITY_MEDIA_LIBAV_FRAME_H
#define ACUITY_MEDIA_LIBAV_FRAME_H

#include <memory>
#include <string_view>
#include <vector>

#include "media/libav_library.h"
#include "media/video.h"

namespace acuity {

enum class PixelKind { yuv, rgb };

/// What the pixels of a frame are, into `format` or, where the user may decide otherwise, into `said`; an error where
/// such pixels are not read. Of RGB all is settled then. `pixel_format` is that of the frame, or of a frame on a device
/// the one that a decoder on the CPU would give.
Result<PixelKind> describe_pixels(const Libav& libav, const AVFrame& frame, AVPixelFormat pixel_format,
                                  std::string_view name, VideoFormat& format, SampleFacts& said);

void copy_planes(const Libav& libav, const AVFrame& frame, const VideoFormat& format, SampleBytes& samples);

Result<std::shared_ptr<Picture>> copy_rgb(const Libav& libav, const AVFrame& frame, const VideoFormat& format);

}  // namespace acuity

#endif
