// SPDX-License-Identifier: BSD-2-Clause-Patent
// Animated PNG, which libpng does not know: its frames are taken out as PNG files of their own.
#ifndef ACUITY_MEDIA_PNG_ANIMATION_H
#define ACUITY_MEDIA_PNG_ANIMATION_H

#include <optional>
#include <vector>

#include "media/canvas.h"
#include "media/decoder.h"

namespace acuity {

struct PngFrame {
  CanvasFrame place;
  double seconds = 0;
  std::vector<Bytes> data;  ///< compressed pixels
};

struct PngAnimation {
  int64_t width = 0, height = 0;
  Bytes header;                      ///< the content of IHDR
  std::optional<Bytes> palette;      ///< of PLTE
  std::optional<Bytes> transparent;  ///< of tRNS
  std::vector<PngFrame> frames;
};

/// None where the file is a still picture. Checksums of all chunks are compared.
Result<std::optional<PngAnimation>> read_png_animation(const EncodedFile& encoded);

std::vector<uint8_t> png_of_frame(const PngAnimation& animation, const PngFrame& frame);

}  // namespace acuity

#endif
