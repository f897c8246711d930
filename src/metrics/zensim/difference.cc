// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/difference.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace acuity::zensim {
namespace {

using Pixel = std::array<int, 4>;  // red, green, blue, alpha

Pixel pixel_at(const ImageView& view, int x, int y) {
  const auto sample = [&](size_t channel) -> int {
    const std::byte* at = view.planes[channel] + y * view.row_stride + x * view.pixel_stride;
    if (view.type == SampleType::u8) return std::to_integer<int>(*at);
    uint16_t code = 0;
    std::memcpy(&code, at, sizeof(code));
    return code;
  };
  const int opaque = (1 << view.depth) - 1;
  if (view.is_grey()) {
    const int grey = sample(0);
    return {grey, grey, grey, view.has_alpha() ? sample(1) : opaque};
  }
  return {sample(0), sample(1), sample(2), view.has_alpha() ? sample(3) : opaque};
}

bool near(const Pixel& a, const Pixel& b) {
  return std::abs(a[0] - b[0]) <= 1 && std::abs(a[1] - b[1]) <= 1 && std::abs(a[2] - b[2]) <= 1;
}

// A colour over a grey background, as codes are mixed.
Pixel composed(const Pixel& pixel, int background, int most) {
  Pixel over = pixel;
  const int64_t alpha = pixel[3];  // products of 16-bit codes need more than 32 bits
  for (size_t c = 0; c < 3; ++c) {
    over[c] = static_cast<int>((pixel[c] * alpha + background * (most - alpha) + most / 2) / most);
  }
  return over;
}

}  // namespace

std::string explained_difference(const ImageView& reference, const ImageView& distorted) {
  if (reference.type == SampleType::f32 || reference.type != distorted.type || reference.depth != distorted.depth) {
    return "";
  }
  const int most = (1 << reference.depth) - 1;
  bool different = false, transparent = false;
  bool rounding = true, swapped = true, other_alpha = true;
  std::array<bool, 2> over_black{true, true}, over_white{true, true};  // the reference's colours were, or the distorted
  // Rows that are equal tell nothing more once the channels are known not to be swapped.
  const ptrdiff_t pixel = (reference.type == SampleType::u8 ? 1 : 2) * reference.channel_count();
  const auto is_packed = [&](const ImageView& view) {
    return view.pixel_stride == pixel && view.channels == reference.channels && view.planes[0] < view.planes[1];
  };
  const bool packed = reference.channels == Channels::rgb && is_packed(reference) && is_packed(distorted);
  const auto same_row = [&](int y) {
    return std::memcmp(reference.planes[0] + y * reference.row_stride, distorted.planes[0] + y * distorted.row_stride,
                       static_cast<size_t>(pixel) * static_cast<size_t>(reference.width)) == 0;
  };
  for (int y = 0; y < reference.height; ++y) {
    if (packed && !swapped && same_row(y)) continue;
    for (int x = 0; x < reference.width; ++x) {
      const Pixel a = pixel_at(reference, x, y), b = pixel_at(distorted, x, y);
      different = different || a != b;
      transparent = transparent || a[3] != most || b[3] != most;
      const bool same_colour = near(a, b);
      rounding = rounding && same_colour && std::abs(a[3] - b[3]) <= 1;
      swapped = swapped && a[0] == b[2] && a[1] == b[1] && a[2] == b[0] && a[3] == b[3];
      other_alpha = other_alpha && same_colour;
      over_black[0] = over_black[0] && near(composed(b, 0, most), a);
      over_black[1] = over_black[1] && near(composed(a, 0, most), b);
      over_white[0] = over_white[0] && near(composed(b, most, most), a);
      over_white[1] = over_white[1] && near(composed(a, most, most), b);
      if (!rounding && !swapped && !other_alpha && !over_black[0] && !over_black[1] && !over_white[0] &&
          !over_white[1]) {
        return "";
      }
    }
  }
  if (!different) return "";
  if (rounding) return "no sample differs by more than one code, as after rounding";
  if (swapped) return "red and blue are swapped";
  if (!transparent) return "";
  if (other_alpha) return "alpha differs and the colours do not";
  for (size_t side = 0; side < 2; ++side) {
    const char* const name = side == 0 ? "reference" : "distorted picture";
    if (over_black[side]) return std::string("alpha: only the colours of the ") + name + " are multiplied by it";
    if (over_white[side]) return std::string("alpha: only the ") + name + " is composited over white";
  }
  return "";
}

}  // namespace acuity::zensim
