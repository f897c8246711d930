// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames of Y'CbCr samples to R'G'B'. docs/video.md states the arithmetic, which decides the last bit of a score.
#ifndef ACUITY_COLOUR_YUV_H
#define ACUITY_COLOUR_YUV_H

#include "acuity/frame.h"
#include "acuity/image.h"
#include "base/threads.h"
#include "colour/yuv_rows.h"

namespace acuity {

/// The weights of red and blue in luma; that of green is the rest.
struct MatrixWeights {
  double red, blue;
};
MatrixWeights weights_of(Matrix matrix);

YuvEquations equations_of(const FrameFormat& format);
/// Samples of a limited range that lie outside it count as its ends, before anything else is done with them. `clips`:
/// otherwise red, green and blue may lie outside 0 to 1, where the equations lead them.
YuvEquations limited_equations_of(const FrameFormat& format, bool clips);

/// How colour samples lie along rows and along columns.
ChromaPlacement placement_across(const FrameFormat& format);
ChromaPlacement placement_down(const FrameFormat& format);

/// Rows of a frame as red, green and blue from 0 to 1; grey is in all three. Format and frame must stay valid.
class FrameRowReader {
 public:
  FrameRowReader(const FrameFormat& format, const FrameView& frame, const YuvEquations& equations)
      : format_(format), frame_(frame), equations_(equations) {}
  /// `scratch` has yuv_row_scratch(width) floats.
  void read(int y, float* scratch, float* red, float* green, float* blue) const;

 private:
  const FrameFormat& format_;
  const FrameView& frame_;
  YuvEquations equations_;
};

/// What convert_frame() makes of a frame: planes of red, green and blue floats, or of grey alone, one after the other
/// without gaps. `planes` may be null.
ImageView converted_view(const FrameFormat& format, const float* planes);
size_t converted_floats(const FrameFormat& format);
void convert_frame(const FrameFormat& format, const FrameView& frame, const Threads& threads, float* planes);

}  // namespace acuity

#endif
