// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pictures benchmarks run on: drawn with integers only, so that they are the same bytes on every machine.
#ifndef ACUITY_BENCH_DRAW_H
#define ACUITY_BENCH_DRAW_H

#include <cstdint>
#include <vector>

#include "acuity/image.h"

namespace acuity::bench {

struct Drawing {
  int side = 0;
  std::vector<uint8_t> pixels;  // interleaved RGB
  ImageView view() const { return interleaved_view(pixels.data(), side, side, Channels::rgb, SampleType::u8); }
};

/// Smooth shades, edges and texture, a bit like a photograph; distorted: quantised in blocks of 8 x 8, a bit like JPEG.
inline Drawing draw(int side, bool distorted) {
  Drawing drawing{side, std::vector<uint8_t>(static_cast<size_t>(side) * static_cast<size_t>(side) * 3)};
  size_t i = 0;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      for (int c = 0; c < 3; ++c) {
        uint32_t noise = static_cast<uint32_t>(x * 3 + c) * 2654435761u ^ static_cast<uint32_t>(y) * 2246822519u;
        noise = (noise ^ (noise >> 15)) * 2654435761u;
        const int shade = (x * (c + 2) / 9 + y / (c + 3)) % 160;
        const int edge = ((x / 48) ^ (y / 40)) % 3 * 24;
        int value = 16 + shade + edge + static_cast<int>(noise >> 29) - 3;
        if (distorted) value = (value / 6 * 6 + ((x / 8 + y / 8 + c) % 3));
        drawing.pixels[i++] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
      }
    }
  }
  return drawing;
}

}  // namespace acuity::bench

#endif
