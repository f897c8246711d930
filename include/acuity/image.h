// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a caller describes pixels in memory: a view, which owns nothing, and what colours the samples mean.
#ifndef ACUITY_IMAGE_H
#define ACUITY_IMAGE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace acuity {

enum class SampleType : uint8_t { u8, u16, f32 };

/// The value is the number of samples per pixel.
enum class Channels : uint8_t { grey = 1, grey_alpha = 2, rgb = 3, rgba = 4 };

/// How encoded samples relate to light.
enum class Transfer : uint8_t {
  srgb,    ///< IEC 61966-2-1
  linear,  ///< proportional to light
  gamma,   ///< light = sample ^ Colour::gamma
  bt1886,  ///< light = sample ^ 2.4, black at 0
  pq,      ///< SMPTE ST 2084, absolute, peak 10000 nit
  hlg,     ///< ARIB STD-B67 shown on a display of Colour::peak_nits
};

enum class Primaries : uint8_t { bt709, display_p3, bt2020, custom };

/// CIE xy coordinates, for Primaries::custom.
struct Chromaticities {
  std::array<double, 2> red{0.64, 0.33}, green{0.30, 0.60}, blue{0.15, 0.06}, white{0.3127, 0.3290};
  bool operator==(const Chromaticities&) const = default;
};

/// What the samples of a picture mean. The default is sRGB.
struct Colour {
  Transfer transfer = Transfer::srgb;
  Primaries primaries = Primaries::bt709;
  double gamma = 2.2;               ///< exponent, only for Transfer::gamma
  Chromaticities chromaticities{};  ///< only for Primaries::custom
  double peak_nits = 1000;          ///< peak of the display that shows HLG; other transfers ignore it
  /// An ICC profile for grey or RGB samples. If set, the fields above are ignored.
  std::shared_ptr<const std::vector<uint8_t>> icc{};
};

/// Pixels somewhere in memory: grey or RGB, with or without alpha, interleaved or planar, any stride.
/// Sample c of pixel (x, y) is at planes[c] + y * row_stride + x * pixel_stride (in bytes). Integer samples use the
/// full range 0 .. 2^depth - 1; float samples have nominal white at 1. Alpha runs from 0 to the same maximum and is not
/// premultiplied.
struct ImageView {
  int width = 0;
  int height = 0;
  SampleType type = SampleType::u8;
  int depth = 8;  ///< significant bits of an integer sample: 8 for u8, 9 to 16 for u16; ignored for f32
  Channels channels = Channels::rgb;
  std::array<const std::byte*, 4> planes{};  ///< in the order R G B A, or grey A
  ptrdiff_t pixel_stride = 0;
  ptrdiff_t row_stride = 0;  ///< may be negative
  Colour colour;

  bool has_alpha() const { return channels == Channels::grey_alpha || channels == Channels::rgba; }
  bool is_grey() const { return channels == Channels::grey || channels == Channels::grey_alpha; }
  int channel_count() const { return static_cast<int>(channels); }
};

/// A view of tightly packed interleaved samples: RGBRGB...
inline ImageView interleaved_view(const void* pixels, int width, int height, Channels channels, SampleType type) {
  ImageView view;
  const ptrdiff_t sample = type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4;
  view.width = width;
  view.height = height;
  view.type = type;
  view.depth = type == SampleType::u8 ? 8 : 16;
  view.channels = channels;
  for (int c = 0; c < view.channel_count(); ++c) {
    view.planes[static_cast<size_t>(c)] = static_cast<const std::byte*>(pixels) + c * sample;
  }
  view.pixel_stride = sample * view.channel_count();
  view.row_stride = view.pixel_stride * width;
  return view;
}

}  // namespace acuity

#endif
