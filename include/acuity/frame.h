// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames of video: what they are, and one in memory, as its stream stores it: planes of Y', Cb and Cr.
#ifndef ACUITY_FRAME_H
#define ACUITY_FRAME_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "acuity/image.h"

namespace acuity {

/// How many colour samples there are: a quarter, half, or as many as luma samples, or none.
enum class Subsampling : uint8_t { yuv420, yuv422, yuv444, grey };

/// Where a subsampled colour sample lies among the pixels it stands for.
enum class Siting : uint8_t { left, centre, top_left };

/// The equations between Y'CbCr and RGB, by the weights of red and blue. rgb: there are none, the planes are green,
/// blue and red.
enum class Matrix : uint8_t { bt601, bt709, bt2020, smpte240m, fcc, rgb };

/// Frames per second.
struct FrameRate {
  int64_t numerator = 0;
  int64_t denominator = 0;  ///< 0: unknown
};

/// Which planes of a frame: Y', Cb, Cr.
using PlaneSet = std::array<bool, 3>;

/// How many samples a frame has. They have `depth` bits: 8-bit samples are bytes, deeper ones the low bits of 16-bit
/// words in native byte order.
struct FrameShape {
  int width = 0;
  int height = 0;
  int depth = 8;
  Subsampling subsampling = Subsampling::yuv420;

  int planes_count() const { return subsampling == Subsampling::grey ? 1 : 3; }
  int plane_width(int plane) const {
    const bool halved = plane > 0 && subsampling != Subsampling::yuv444;
    return halved ? (width + 1) / 2 : width;
  }
  int plane_height(int plane) const {
    return plane > 0 && subsampling == Subsampling::yuv420 ? (height + 1) / 2 : height;
  }
  int sample_bytes() const { return depth > 8 ? 2 : 1; }
  bool has_same_shape(const FrameShape& other) const {
    return width == other.width && height == other.height && depth == other.depth && subsampling == other.subsampling;
  }
};

/// What the frames of a video are: how many samples, and what these mean.
struct FrameFormat : FrameShape {
  bool full_range = false;  ///< false: black and white are 16 and 235 of 8 bits
  Matrix matrix = Matrix::bt709;
  Siting siting = Siting::left;
  Colour colour{.transfer = Transfer::bt1886};
  FrameRate rate{};
};

/// How the samples of a frame on a GPU lie, if not as FrameView states. NV12: chroma_pairs. P010 and P016: both, with
/// the depth of the video in FrameShape.
struct SurfaceLayout {
  bool chroma_pairs = false;  ///< planes[1] holds pairs of Cb and Cr; planes[2] is not used
  bool high_bits = false;     ///< samples of more than 8 bits are the highest bits of 16-bit words, not the lowest
};

/// The samples of a frame.
struct FrameView : FrameShape {
  std::array<const std::byte*, 3> planes{};
  std::array<ptrdiff_t, 3> row_strides{};  ///< in bytes; may be negative
  /// Keeps the samples alive while frames are in flight. If null, samples that are needed later are copied.
  std::shared_ptr<const void> owner{};
};

}  // namespace acuity

#endif
