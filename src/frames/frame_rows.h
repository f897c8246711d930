// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples of video frames as floats.
#ifndef ACUITY_FRAMES_FRAME_ROWS_H
#define ACUITY_FRAMES_FRAME_ROWS_H

#include "acuity/frame.h"

namespace acuity {

/// A row of a plane in steps of 8 bit: a sample of 10 bits is divided by 4, and so on; `offset` is added. `out` is
/// aligned as an Arena's memory.
void read_frame_row(const FrameView& frame, int plane, int y, float offset, float* out);

/// A row of a plane as it is stored; `out` is aligned likewise.
void read_frame_codes(const FrameView& frame, int plane, int y, int32_t* out);

/// The frame with its colour planes as libvmaf has them: where the frame's sides are odd, their last column or row,
/// which stands for half as many pixels, is left out. Not for luma. Frame is a FrameShape or a FrameView.
template <typename Frame>
Frame with_even_chroma(const Frame& frame) {
  Frame even = frame;
  if (frame.subsampling != Subsampling::yuv444) even.width -= frame.width % 2;
  if (frame.subsampling == Subsampling::yuv420) even.height -= frame.height % 2;
  return even;
}

/// The index inside of a row or column for one that may be past its ends, which are mirrored without being repeated.
inline int mirrored(int i, int size) { return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i; }

}  // namespace acuity

#endif
