// SPDX-License-Identifier: BSD-2-Clause-Patent
// The clips whose scores tests/golden/video holds: drawn with integers alone, so that every machine has the same ones.
//
// The reference has two moving waves, a drifting texture, hard edges (a rectangle, a disc and bars that move) and a
// slow ramp in the top right corner. The distorted one is quantised coarsely in blocks of 8x8 around their means, with
// noise of up to 3 steps; in the ramp it is cut to whole 8-bit steps instead, which shows as banding.
#ifndef ACUITY_TESTS_SUPPORT_SYNTHETIC_VIDEO_H
#define ACUITY_TESTS_SUPPORT_SYNTHETIC_VIDEO_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "acuity/frame.h"

namespace acuity::tests {

/// A frame with memory of its own, planes without gaps.
struct OwnedFrame {
  FrameShape format;
  std::array<std::vector<uint8_t>, 3> planes;

  FrameView view() const {
    FrameView view{format};
    for (int p = 0; p < view.planes_count(); ++p) {
      const auto at = static_cast<size_t>(p);
      view.planes[at] = reinterpret_cast<const std::byte*>(planes[at].data());
      view.row_strides[at] = view.plane_width(p) * view.sample_bytes();
    }
    return view;
  }
};

/// An 8-bit 4:4:4 frame as interleaved RGB, as the goldens of RGB have it.
inline std::vector<uint8_t> rgb_of(const OwnedFrame& frame) {
  const auto& [luma, cb, cr] = frame.planes;
  std::vector<uint8_t> samples;
  for (size_t i = 0; i < luma.size(); ++i) {
    const int y = (luma[i] - 16) * 76309, u = cb[i] - 128, v = cr[i] - 128;
    for (const int sum : {y + 117489 * v, y - 13975 * u - 34925 * v, y + 138438 * u}) {
      samples.push_back(static_cast<uint8_t>(std::clamp((sum + 32768) >> 16, 0, 255)));
    }
  }
  return samples;
}

class SyntheticVideo {
 public:
  SyntheticVideo(int width, int height, int depth, Subsampling subsampling)
      : width_(width), height_(height), depth_(depth), subsampling_(subsampling) {
    // A quarter wave by turning a vector step by step in fixed point, the rest by symmetry.
    constexpr int64_t kCosine = 1073721611 >> 6, kSine = 6588356 >> 6;
    int64_t x = int64_t{16384} << 20, y = 0;
    for (size_t i = 0; i < 256; ++i) {
      wave_[i] = static_cast<int>((y + (1 << 19)) >> 20);
      const int64_t turned = (x * kCosine - y * kSine) >> 24;
      y = (x * kSine + y * kCosine) >> 24;
      x = turned;
    }
    for (size_t i = 0; i < 256; ++i) wave_[256 + i] = i == 0 ? 16384 : wave_[256 - i];
    for (size_t i = 0; i < 512; ++i) wave_[512 + i] = -wave_[i];
  }

  OwnedFrame reference(int time) const {
    return draw([&](int plane) { return reference_plane(plane, time); });
  }
  OwnedFrame distorted(int time) const {
    return draw([&](int plane) { return distorted_plane(plane, time); });
  }

 private:
  struct Plane {
    int width = 0;
    int height = 0;
    std::vector<int> samples;
    int& at(int x, int y) {
      return samples[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
    }
  };

  static uint32_t scramble(int x, int y, uint32_t z) {
    uint32_t h = static_cast<uint32_t>(x) * 0x9E3779B1u ^ (static_cast<uint32_t>(y) * 0x85EBCA77u + 0x165667B1u) ^
                 (z * 0xC2B2AE3Du);
    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    return h ^ h >> 15;
  }

  // Values from 0 to 255 at the corners of cells of 2^log pixels, straight lines between.
  static int texture(int x, int y, int log, uint32_t seed) {
    const int side = 1 << log, column = x >> log, row = y >> log, right = x & (side - 1), down = y & (side - 1);
    const auto corner = [&](int dx, int dy) { return static_cast<int>(scramble(column + dx, row + dy, seed) & 255); };
    const int top = corner(0, 0) * (side - right) + corner(1, 0) * right;
    const int bottom = corner(0, 1) * (side - right) + corner(1, 1) * right;
    return (top * (side - down) + bottom * down) >> (2 * log);
  }

  int wave(int phase, int amplitude) const { return (wave_[static_cast<size_t>(phase & 1023)] * amplitude) >> 14; }
  static bool in_ramp(int x, int y, int width, int height) { return x >= width * 5 / 8 && y < height / 4; }
  bool in_disc(int x, int y, int t) const {
    const int dx = x - (width_ * 2 / 3 - t * 5), dy = y - height_ / 2, radius = height_ / 7;
    return dx * dx + dy * dy < radius * radius;
  }

  // In quarters of an 8-bit step.
  int luma(int x, int y, int t) const {
    const int w = width_, h = height_;
    if (in_ramp(x, y, w, h)) return 4 * 60 + ((x - w * 5 / 8) * 160) / (w - w * 5 / 8) + (y * 40) / h + t / 4;
    int value = 4 * 120 + wave(x * 5 + y * 2 + t * 23, 100) + wave(y * 7 - x * 3 + t * 11, 70) + (x * 160) / w - 80;
    const int u = x + 3 * t + 100000, v = y + t + 100000;
    if (y * 3 > h) value += texture(u, v, 4, 1) - 128 + ((texture(u, v, 1, 2) - 128) >> 1);
    const int left = (w / 8 + t * 7) % w, top = (h / 6 + t * 3) % h;
    if (x >= left && x < left + w / 6 && y >= top && y < top + h / 5) value += 4 * 55;
    if (in_disc(x, y, t)) value -= 4 * 50;
    if (x < w / 4 && y > h * 3 / 4 && (((x + y + 2 * t) >> 4) & 1) != 0) value += 4 * 35;
    return std::clamp(value, 4 * 16, 4 * 235);
  }

  int chroma(int plane, int x, int y, int t) const {
    int value = 4 * 128 + wave(plane == 1 ? x * 3 + y + t * 13 : x * 2 + y * 4 + t * 13, 120);
    if (in_disc(x, y, t)) value += plane == 1 ? -4 * 30 : 4 * 40;
    value += (texture(x + 3 * t + 100000, y + t + 100000, 5, static_cast<uint32_t>(10 + plane)) - 128) >> 2;
    return std::clamp(value, 4 * 16, 4 * 240);
  }

  FrameShape format() const { return {width_, height_, depth_, subsampling_}; }

  Plane reference_plane(int plane, int t) const {
    const FrameShape shape = format();
    Plane out{shape.plane_width(plane), shape.plane_height(plane), {}};
    out.samples.resize(static_cast<size_t>(out.width) * static_cast<size_t>(out.height));
    const int across = plane > 0 && subsampling_ != Subsampling::yuv444 ? 1 : 0;
    const int down = plane > 0 && subsampling_ == Subsampling::yuv420 ? 1 : 0;
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) {
        const int value = plane == 0 ? luma(x, y, t) : chroma(plane, x << across, y << down, t);
        out.at(x, y) = depth_ == 8 ? (value + 2) >> 2 : value << (depth_ - 10);
      }
    }
    return out;
  }

  Plane distorted_plane(int plane, int t) const {
    Plane original = reference_plane(plane, t);
    Plane out = original;
    const int scale = 1 << (depth_ - 8);
    for (int top = 0; top < out.height; top += 8) {
      for (int left = 0; left < out.width; left += 8) {
        const int right = std::min(left + 8, out.width), bottom = std::min(top + 8, out.height);
        const int count = (right - left) * (bottom - top);
        int sum = 0;
        for (int y = top; y < bottom; ++y) {
          for (int x = left; x < right; ++x) sum += original.at(x, y);
        }
        const int mean = (sum + count / 2) / count;
        const int step = scale * (12 + static_cast<int>(scramble(left >> 6, top >> 6, 77) & 15));
        for (int y = top; y < bottom; ++y) {
          for (int x = left; x < right; ++x) {
            const int sample = original.at(x, y), rest = sample - mean;
            if (plane == 0 && in_ramp(x, y, out.width, out.height)) {
              out.at(x, y) = (sample / scale + 1) * scale;
              continue;
            }
            const int steps = (std::abs(rest) + step / 3) / step;
            const int noise = static_cast<int>(scramble(x, y, static_cast<uint32_t>(1000 + t * 4 + plane)) % 7u) - 3;
            const int value = mean + (rest < 0 ? -steps : steps) * step + noise * scale;
            out.at(x, y) = std::clamp(value, 0, (1 << depth_) - 1);
          }
        }
      }
    }
    return out;
  }

  template <typename Draw>
  OwnedFrame draw(const Draw& draw_plane) const {
    OwnedFrame frame{format(), {}};
    for (int p = 0; p < frame.format.planes_count(); ++p) {
      const Plane plane = draw_plane(p);
      std::vector<uint8_t>& bytes = frame.planes[static_cast<size_t>(p)];
      for (const int sample : plane.samples) {
        bytes.push_back(static_cast<uint8_t>(sample & 255));
        if (depth_ > 8) bytes.push_back(static_cast<uint8_t>(sample >> 8));
      }
    }
    return frame;
  }

  int width_, height_, depth_;
  Subsampling subsampling_;
  std::array<int, 1024> wave_{};
};

/// A pair of clips by the name the golden files use: "synth_352x288_12f_8bit_420".
struct SyntheticClip {
  std::vector<OwnedFrame> reference;
  std::vector<OwnedFrame> distorted;
};

inline SyntheticClip synthetic_clip(const std::string& name) {
  int width = 0, height = 0, frames = 0, depth = 0, chroma = 0;
  SyntheticClip clip;
  if (std::sscanf(name.c_str(), "synth_%dx%d_%df_%dbit_%d", &width, &height, &frames, &depth, &chroma) != 5)
    return clip;
  const SyntheticVideo video(width, height, depth,
                             chroma == 420   ? Subsampling::yuv420
                             : chroma == 422 ? Subsampling::yuv422
                                             : Subsampling::yuv444);
  for (int t = 0; t < frames; ++t) {
    clip.reference.push_back(video.reference(t));
    clip.distorted.push_back(video.distorted(t));
  }
  return clip;
}

}  // namespace acuity::tests

#endif
