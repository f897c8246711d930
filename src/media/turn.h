// SPDX-License-Identifier: BSD-2-Clause-Patent
// Turning and mirroring planes of samples.
#ifndef ACUITY_MEDIA_TURN_H
#define ACUITY_MEDIA_TURN_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "media/video.h"

namespace acuity {

/// The EXIF orientation (1 .. 8) that a display matrix of MP4 asks for, in libav's form: nine numbers of which a, b, c
/// and d, the first, second, fourth and fifth, turn and mirror. 0 where it is none of the eight.
int orientation_of_matrix(const int32_t* matrix);

/// Whether width and height change places.
inline bool swaps_sides(int orientation) { return orientation >= 5; }

/// Undoes an EXIF orientation. Samples lie without gaps; `width` and `height` are those before.
void turn_plane(const uint8_t* from, int width, int height, size_t sample_bytes, int orientation, uint8_t* to);

/// The same for all planes of a frame, whose format was `format` before. 4:2:2 is brought to 4:4:4 where sides change
/// places, for which `samples` then are: between two samples of colour linearly, halves up.
void turn_frame(const VideoFormat& format, int orientation, SampleBytes& samples);

/// The same for a picture of planes without gaps between them.
void turn_planes(Picture& picture, int orientation);

/// "turned 90 degrees clockwise"
std::string_view describe_turn(int orientation);

/// What turn_frame() makes of a format.
void turn_format(VideoFormat& format, int orientation);

}  // namespace acuity

#endif
