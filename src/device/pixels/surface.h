// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames that are on a device already, as decoders lay them out there.
#ifndef ACUITY_DEVICE_PIXELS_SURFACE_H
#define ACUITY_DEVICE_PIXELS_SURFACE_H

#include <array>
#include <optional>

#include "acuity/frame.h"
#include "device/device.h"

namespace acuity {

/// Samples that lie at equal distances: sample (x, y) is number first + y * row_step + x * pixel_step from `address`,
/// which is a multiple of 16.
struct SurfacePlane {
  uint64_t address = 0;
  int first = 0;
  int row_step = 0;
  int pixel_step = 1;
};

/// A frame whose planes are addresses on a device.
class Surface {
 public:
  /// Nothing where its rows lie too far apart for a kernel to number its samples.
  static std::optional<Surface> create(const FrameView& frame, const SurfaceLayout& layout);

  /// Whether features and kernels can read that plane where it is: samples of 8 or 16 bits one after the other, rows at
  /// multiples of 4 bytes. Those of other depths could be larger than their depth allows.
  bool is_plain(int plane) const;
  const SurfacePlane& plane(int plane) const { return planes_[static_cast<size_t>(plane)]; }
  const FrameShape& shape() const { return shape_; }

  /// Writes the samples of a plane to rows of 4 * row_words bytes, when the queue has come so far.
  Status unpack(Queue& queue, int plane, uint64_t to, int row_words) const;

 private:
  FrameShape shape_;
  bool high_bits_ = false;
  std::array<SurfacePlane, 3> planes_{};
};

}  // namespace acuity

#endif
