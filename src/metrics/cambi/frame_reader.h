// SPDX-License-Identifier: BSD-2-Clause-Patent
// From a frame to the samples that contrasts are counted in: 10 bits, smoothed where dithering may be about, and marked
// where the surroundings are flat.
#ifndef ACUITY_METRICS_CAMBI_FRAME_READER_H
#define ACUITY_METRICS_CAMBI_FRAME_READER_H

#include <cstdint>
#include <vector>

#include "acuity/frame.h"
#include "acuity/status.h"

namespace acuity::cambi {

/// Rows of samples with kBeyond more at the end of each.
struct Plane {
  int width = 0;
  int height = 0;
  ptrdiff_t stride = 0;
  std::vector<uint16_t> samples;

  /// Room is kept when a plane becomes smaller.
  void reshape(int new_width, int new_height);
  uint16_t* row(int y) { return samples.data() + y * stride; }
};

/// The nearest samples of `from` for each of `to`.
std::vector<int> nearest(int from, int to);
/// How many of the 49 samples around must be alike, and one more, for a place to be flat. Larger pictures ask for more.
int flat_limit(int width, int height);

class FrameReader {
 public:
  /// Frames of `from_width` x `from_height` are taken to `width` x `height` by their nearest samples. The outcome has
  /// half of that, rounded up, where `halved`.
  FrameReader(int from_width, int from_height, int width, int height, bool smooth, bool halved);

  Status read(const FrameView& frame, Plane& out);
  size_t bytes() const;

 private:
  uint16_t* row(std::vector<uint16_t>& rows, int y, int count) { return rows.data() + y % count * stride_; }
  Status convert(const FrameView& frame, int line, uint16_t* out) const;
  Status fetch(const FrameView& frame, int y, uint16_t* out);
  void mark(int y, Plane& out);

  int width_, height_, from_width_, from_height_;
  bool smooth_, halved_;
  int limit_ = 0;
  ptrdiff_t stride_ = 0;
  std::vector<int> columns_, lines_;  // which sample is the nearest; empty where sizes are the same
  std::vector<uint16_t> raw_, full_row_, image_, equal_, counts_, sums_, marked_;
};

}  // namespace acuity::cambi

#endif
