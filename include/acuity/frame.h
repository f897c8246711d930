// SPDX-License-Identifier: BSD-2-Clause-Patent
// A frame of video in memory, as its stream stores it: planes of Y', Cb and Cr.
#ifndef ACUITY_FRAME_H
#define ACUITY_FRAME_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace acuity {

/// How many colour samples there are: a quarter, half, or as many as luma samples, or none.
enum class Subsampling : uint8_t { yuv420, yuv422, yuv444, grey };

/// Samples have `depth` bits. 8-bit samples are bytes, deeper ones the low bits of 16-bit words in native byte order.
struct FrameView {
  int width = 0;
  int height = 0;
  int depth = 8;
  Subsampling subsampling = Subsampling::yuv420;
  std::array<const std::byte*, 3> planes{};
  std::array<ptrdiff_t, 3> row_strides{};  ///< in bytes; may be negative
  /// Keeps the samples alive while frames are in flight. If null, samples that are needed later are copied.
  std::shared_ptr<const void> owner{};

  int planes_count() const { return subsampling == Subsampling::grey ? 1 : 3; }
  int plane_width(int plane) const {
    const bool halved = plane > 0 && subsampling != Subsampling::yuv444;
    return halved ? (width + 1) / 2 : width;
  }
  int plane_height(int plane) const {
    return plane > 0 && subsampling == Subsampling::yuv420 ? (height + 1) / 2 : height;
  }
};

}  // namespace acuity

#endif
