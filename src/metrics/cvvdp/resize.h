// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames scaled to the size of the display, as ColorVideoVDP's --full-screen-resize does it: in encoded red, green and
// blue.
#ifndef ACUITY_METRICS_CVVDP_RESIZE_H
#define ACUITY_METRICS_CVVDP_RESIZE_H

#include <array>
#include <string_view>
#include <vector>

#include "colour/yuv.h"
#include "metrics/cvvdp/scales.h"

namespace acuity::cvvdp {

/// What each sample along an axis is made of: those from begins[d] to before begins[d + 1] in the lists. `mode` is
/// "nearest", "bilinear", "bicubic" or "area". Of these only "area" takes all samples into account where a frame
/// becomes much smaller.
struct ResizedAxis {
  std::vector<size_t> begins{0};
  std::vector<int> indices;
  std::vector<float> weights;
  ResizedAxis(std::string_view mode, int from, int to);
};

class Resizer {
 public:
  Resizer(std::string_view mode, Size from, Size to);
  /// Row y of the scaled frame, from 0 to 1.
  void read(const FrameRowReader& frame, int y, const std::array<float*, kStillChannels>& rows);

 private:
  int width_;
  ResizedAxis across_, down_;
  size_t stride_;
  std::vector<float> sums_, row_, scratch_;
};

}  // namespace acuity::cvvdp

#endif
