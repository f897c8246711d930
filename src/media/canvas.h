// SPDX-License-Identifier: BSD-2-Clause-Patent
// What an animation is drawn on: each frame is a rectangle that changes what the frames before it have left.
#ifndef ACUITY_MEDIA_CANVAS_H
#define ACUITY_MEDIA_CANVAS_H

#include "media/decoder.h"

namespace acuity {

/// What becomes of a frame's rectangle before the next frame is drawn.
enum class Disposal : uint8_t { keep, clear, restore };

struct CanvasFrame {
  int64_t x = 0, y = 0, width = 0, height = 0;
  Disposal disposal = Disposal::keep;
  bool blend = false;  ///< over what is there, by alpha; otherwise in its place, alpha included
};

/// A picture with alpha, at first transparent, of 8 or 16 bits.
class Canvas {
 public:
  Status create(const EncodedFile& encoded, std::string_view format, const Shape& shape);
  bool holds(const CanvasFrame& frame) const;
  /// Draws a frame, of which `pixel(x, y)` gives the samples: as many as the canvas has channels, alpha last.
  template <typename Sample, typename Pixel>
  void draw(const CanvasFrame& frame, const Pixel& pixel);
  /// What is seen now.
  Result<Picture> picture(const EncodedFile& encoded) const;

 private:
  void dispose();
  void copy(const Picture& from, Picture& to, const CanvasFrame& part) const;

  std::string format_;
  Shape shape_;
  Picture now_;
  Picture before_;  // what Disposal::restore goes back to
  CanvasFrame last_;
};

/// One pixel with straight alpha over another; rounded to the nearest.
template <typename Sample>
void blend(const Sample* over, Sample* under, int colours) {
  constexpr uint64_t kMost = (uint64_t{1} << (8 * sizeof(Sample))) - 1;
  const uint64_t alpha = over[colours];
  if (alpha == 0) return;
  const uint64_t rest = under[colours] * (kMost - alpha);
  const uint64_t sum = alpha * kMost + rest;  // the alpha of both, times kMost
  for (int c = 0; c < colours; ++c) {
    under[c] = static_cast<Sample>((over[c] * alpha * kMost + under[c] * rest + sum / 2) / sum);
  }
  under[colours] = static_cast<Sample>((sum + kMost / 2) / kMost);
}

template <typename Sample, typename Pixel>
void Canvas::draw(const CanvasFrame& frame, const Pixel& pixel) {
  dispose();
  last_ = frame;
  if (frame.disposal == Disposal::restore) copy(now_, before_, frame);
  const int channels = now_.view.channel_count();
  for (int64_t y = 0; y < frame.height; ++y) {
    auto* to = reinterpret_cast<Sample*>(row_of(now_, frame.y + y)) + frame.x * channels;
    for (int64_t x = 0; x < frame.width; ++x, to += channels) {
      const Sample* from = pixel(x, y);
      if (frame.blend) {
        blend(from, to, channels - 1);
      } else {
        for (int c = 0; c < channels; ++c) to[c] = from[c];
      }
    }
  }
}

}  // namespace acuity

#endif
