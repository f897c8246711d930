// SPDX-License-Identifier: BSD-2-Clause-Patent
// One picture in every layout a view can describe, for tests that results do not depend on it.
#ifndef ACUITY_TESTS_SUPPORT_LAYOUTS_H
#define ACUITY_TESTS_SUPPORT_LAYOUTS_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "acuity/image.h"

namespace acuity::tests {

struct Layout {
  SampleType type = SampleType::u8;
  int depth = 8;
  bool planar = false;
  bool bottom_up = false;  // negative row stride
  int padding = 0;         // samples after each row

  std::string name() const {
    const char* types[] = {"u8", "u16", "f32"};
    return std::string(types[static_cast<int>(type)]) + "/" + std::to_string(depth) +
           (planar ? " planar" : " interleaved") + (bottom_up ? " bottom-up" : "") + (padding > 0 ? " padded" : "");
  }
};

/// Every arrangement of samples of that type.
inline std::vector<Layout> arrangements(SampleType type, int depth) {
  std::vector<Layout> layouts;
  for (bool planar : {false, true}) {
    for (bool bottom_up : {false, true}) {
      for (int padding : {0, 5}) layouts.push_back({type, depth, planar, bottom_up, padding});
    }
  }
  return layouts;
}

/// Sample c of pixel (x, y), 0 .. 1.
using Content = std::function<double(int c, int x, int y)>;

/// A picture that owns its samples.
struct Sheet {
  ImageView view;
  std::vector<std::byte> memory;

  Sheet(const Layout& layout, int width, int height, Channels channels, const Content& content) {
    view.width = width;
    view.height = height;
    view.type = layout.type;
    view.depth = layout.depth;
    view.channels = channels;
    const ptrdiff_t sample = layout.type == SampleType::u8 ? 1 : layout.type == SampleType::u16 ? 2 : 4;
    view.pixel_stride = layout.planar ? sample : sample * view.channel_count();
    const ptrdiff_t row = view.pixel_stride * width + layout.padding * sample;
    const ptrdiff_t plane = layout.planar ? row * height : sample;
    view.row_stride = layout.bottom_up ? -row : row;
    memory.resize(static_cast<size_t>(row * height * (layout.planar ? view.channel_count() : 1)), std::byte{0xA5});
    for (int c = 0; c < view.channel_count(); ++c) {
      std::byte* first = memory.data() + c * plane + (layout.bottom_up ? row * (height - 1) : 0);
      view.planes[static_cast<size_t>(c)] = first;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          put(first + y * view.row_stride + x * view.pixel_stride, content(c, x, y));
        }
      }
    }
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

 private:
  void put(std::byte* to, double value) const {
    const double code = value * (std::ldexp(1.0, view.depth) - 1) + 0.5;
    if (view.type == SampleType::u8) {
      const auto sample = static_cast<uint8_t>(code);
      std::memcpy(to, &sample, sizeof(sample));
    } else if (view.type == SampleType::u16) {
      const auto sample = static_cast<uint16_t>(code);
      std::memcpy(to, &sample, sizeof(sample));
    } else {
      const auto sample = static_cast<float>(value);
      std::memcpy(to, &sample, sizeof(sample));
    }
  }
};

/// Something with structure at every scale, or a coarser version of it.
inline Content drawn(bool distorted) {
  return [distorted](int c, int x, int y) {
    const double wave = 0.5 + 0.2 * std::sin(0.31 * x + 0.17 * y * (c + 1)) + 0.15 * std::sin(0.043 * (x * y % 977));
    const double level = std::floor(wave * 16) / 16;
    return c == 3 ? 0.25 + 0.5 * ((x / 3 + y / 5) % 2) : distorted ? level : wave;
  };
}

}  // namespace acuity::tests

#endif
