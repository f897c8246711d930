// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/selftest_pictures.h"

#include <algorithm>

namespace acuity::cli {
namespace {

// Odd sizes, so that the edges of vectors, tiles and scales all take part.
constexpr int kWidth = 157;
constexpr int kHeight = 93;

// Xorshift (Marsaglia, 2003).
class Noise {
 public:
  int below(int limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return static_cast<int>(state_ % static_cast<uint32_t>(limit));
  }

 private:
  uint32_t state_ = 2463534242;
};

uint8_t clipped(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

// A gradient sky, a chequered floor, a red disc and a little grain.
DrawnPicture draw_scene() {
  DrawnPicture picture{kWidth, kHeight, {}};
  Noise noise;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      int red = 40 + y;
      int green = 90 + x / 2;
      int blue = 220 - y;
      if (3 * y > 2 * kHeight) {
        const int square = (x / 7 + y / 5) % 2;
        red = 60 + 120 * square;
        green = 70 + 90 * square;
        blue = 50 + 40 * square;
      }
      const int dx = x - 50;
      const int dy = y - 40;
      if (dx * dx + dy * dy < 24 * 24) {
        red = 230 - (dx * dx + dy * dy) / 8;
        green = 60 + dy;
        blue = 40;
      }
      const int grain = noise.below(9) - 4;
      for (const int value : {red, green, blue}) picture.rgb.push_back(clipped(value + grain));
    }
  }
  return picture;
}

DrawnPicture with_noise(DrawnPicture picture) {
  Noise noise;
  for (uint8_t& sample : picture.rgb) sample = clipped(sample + noise.below(33) - 16);
  return picture;
}

// The mean of a pixel and its eight neighbours, those outside replaced by the nearest inside.
DrawnPicture blurred(const DrawnPicture& picture) {
  DrawnPicture result{kWidth, kHeight, {}};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 3; ++c) {
        int sum = 4;
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            const int row = std::clamp(y + dy, 0, kHeight - 1);
            const int column = std::clamp(x + dx, 0, kWidth - 1);
            sum += picture.rgb[static_cast<size_t>((row * kWidth + column) * 3 + c)];
          }
        }
        result.rgb.push_back(clipped(sum / 9));
      }
    }
  }
  return result;
}

DrawnPicture banded(DrawnPicture picture) {
  for (uint8_t& sample : picture.rgb) sample = clipped(sample / 24 * 24 + 12);
  return picture;
}

}  // namespace

std::vector<DrawnPair> selftest_pairs() {
  const DrawnPicture scene = draw_scene();
  return {{"noise", scene, with_noise(scene)}, {"blur", scene, blurred(scene)}, {"bands", scene, banded(scene)}};
}

}  // namespace acuity::cli
