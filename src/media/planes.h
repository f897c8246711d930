// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures that are stored as Y'CbCr become RGB by the arithmetic of docs/video.md, as frames of video do, so that
// every machine sees the same pixels.
#ifndef ACUITY_MEDIA_PLANES_H
#define ACUITY_MEDIA_PLANES_H

#include <array>
#include <optional>

#include "media/decoder.h"
#include "media/video.h"

namespace acuity {

/// Y'CbCr as a decoder leaves it: in one byte a sample, above 8 bits in two in the order of this machine.
struct Planes {
  struct Plane {
    const uint8_t* data = nullptr;
    size_t row_bytes = 0;
  };
  VideoFormat format;
  std::array<Plane, 3> colour;
  Plane alpha;  ///< full range; none where it has no data
};

/// The matrix that H.273 gives this number; none where it is not one of ours.
std::optional<Matrix> matrix_of(int code_point);

/// The channels such planes fill.
Channels channels_of(const Planes& planes);

/// Into a picture of floats with those channels.
void convert_planes(const Planes& planes, Picture& picture);

}  // namespace acuity

#endif
