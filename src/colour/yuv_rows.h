// SPDX-License-Identifier: BSD-2-Clause-Patent
// One row of Y'CbCr samples to R'G'B', with the vectors of the CPU. docs/video.md states the arithmetic.
#ifndef ACUITY_COLOUR_YUV_ROWS_H
#define ACUITY_COLOUR_YUV_ROWS_H

#include <cstddef>
#include <cstdint>

namespace acuity {

/// The numbers that range, depth and matrix come to.
struct YuvEquations {
  float luma_black = 0, luma_scale = 0;     // y = (Y - black) * scale
  float chroma_zero = 0, chroma_scale = 0;  // of sums of sixteenths
  float red_cr = 0, green_cb = 0, green_cr = 0, blue_cb = 0;
  float luma_share = 1;  // of red and blue; 0 where the planes are green, blue and red
  /// Samples beyond these are limited to them, on the CPU only; by default none is.
  float luma_least = 0, luma_most = 65535, chroma_least = 0, chroma_most = 65535;
  /// Likewise red, green and blue, which by default are those that a display can show.
  float least = 0, most = 1;
};

/// How colour samples lie along a row or a column; kernels are told the values.
enum class ChromaPlacement : uint8_t {
  all,      // one for each pixel
  cosited,  // one for each second pixel, at its place
  between,  // one for each two pixels, halfway between them
};

/// The row of a colour plane above a row of pixels and the row below it.
template <typename Sample>
struct ChromaRows {
  const Sample* above;
  const Sample* below;
};

template <typename Sample>
struct YuvRow {
  int width = 0;
  const Sample* luma = nullptr;
  ChromaRows<Sample> cb{}, cr{};  // null for grey
  int below_quarters = 0;         // the weight of the row below
  int chroma_width = 0;
  ChromaPlacement across = ChromaPlacement::all;
};

/// Floats that convert_yuv_row() needs to work in.
size_t yuv_row_scratch(int width);

/// Writes red, green and blue of a row, or its luma to `red` where it is grey.
void convert_yuv_row(const YuvRow<uint8_t>& row, const YuvEquations& equations, float* scratch, float* red,
                     float* green, float* blue);
void convert_yuv_row(const YuvRow<uint16_t>& row, const YuvEquations& equations, float* scratch, float* red,
                     float* green, float* blue);

}  // namespace acuity

#endif
