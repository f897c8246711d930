// SPDX-License-Identifier: BSD-2-Clause-Patent
// FrameConverter against the arithmetic of docs/video.md, written out one pixel at a time: the bits must be equal.
#include <algorithm>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "lang/targets.h"
#include "media/video.h"

namespace acuity::test {
namespace {

class Plain {
 public:
  Plain(const VideoFormat& format, const VideoFrame& frame) : format_(format), frame_(frame) {
    const auto [red, blue] = weights();
    const double step = 1 << (format.depth - 8);
    const double most = (1 << format.depth) - 1;
    const double green = 1 - red - blue;
    black_ = static_cast<float>(format.full_range ? 0 : 16 * step);
    luma_scale_ = static_cast<float>(1 / (format.full_range ? most : 219 * step));
    zero_ = static_cast<float>(16 * 128 * step);
    colour_scale_ = static_cast<float>(1 / (16 * (format.full_range ? most : 224 * step)));
    red_cr_ = static_cast<float>(2 * (1 - red));
    blue_cb_ = static_cast<float>(2 * (1 - blue));
    green_cr_ = static_cast<float>(2 * (1 - red) * red / green);
    green_cb_ = static_cast<float>(2 * (1 - blue) * blue / green);
  }

  float channel(size_t c, int x, int y) const {
    const float light = (static_cast<float>(at(0, x, y)) - black_) * luma_scale_;
    if (format_.subsampling == Subsampling::grey) return clip(light);
    const float cb = (static_cast<float>(sixteenths(1, x, y)) - zero_) * colour_scale_;
    const float cr = (static_cast<float>(sixteenths(2, x, y)) - zero_) * colour_scale_;
    if (c == 0) return clip(light + red_cr_ * cr);
    if (c == 2) return clip(light + blue_cb_ * cb);
    return clip(light - green_cb_ * cb - green_cr_ * cr);
  }

 private:
  struct Place {
    int near, other, quarters;
  };

  std::pair<double, double> weights() const {
    switch (format_.matrix) {
      case Matrix::bt601:
        return {0.299, 0.114};
      case Matrix::bt2020:
        return {0.2627, 0.0593};
      case Matrix::smpte240m:
        return {0.212, 0.087};
      case Matrix::fcc:
        return {0.30, 0.11};
      default:
        return {0.2126, 0.0722};
    }
  }

  static float clip(float value) { return std::min(std::max(value, 0.0f), 1.0f); }

  int at(int plane, int x, int y) const {
    const int width = plane == 0 ? format_.width : format_.chroma_width();
    int place = y * width + x;
    if (plane > 0) place += format_.width * format_.height;
    if (plane > 1) place += format_.chroma_width() * format_.chroma_height();
    const auto byte = static_cast<size_t>(place) * (format_.depth > 8 ? 2 : 1);
    return frame_.samples[byte] + (format_.depth > 8 ? 256 * frame_.samples[byte + 1] : 0);
  }

  static Place place_of(int pixel, bool halved, bool cosited, int count) {
    if (!halved) return {pixel, pixel, 0};
    if (cosited) return {pixel / 2, std::min(pixel / 2 + 1, count - 1), pixel % 2 * 2};
    return {pixel / 2, std::clamp(pixel / 2 + (pixel % 2 == 0 ? -1 : 1), 0, count - 1), 1};
  }

  int sixteenths(int plane, int x, int y) const {
    const Place across = place_of(x, format_.subsampling != Subsampling::yuv444, format_.siting != Siting::centre,
                                  format_.chroma_width());
    const Place down = place_of(y, format_.subsampling == Subsampling::yuv420, format_.siting == Siting::top_left,
                                format_.chroma_height());
    const auto mixed = [&](int column) {
      return (4 - down.quarters) * at(plane, column, down.near) + down.quarters * at(plane, column, down.other);
    };
    return (4 - across.quarters) * mixed(across.near) + across.quarters * mixed(across.other);
  }

  const VideoFormat& format_;
  const VideoFrame& frame_;
  float black_, luma_scale_, zero_, colour_scale_, red_cr_, green_cb_, green_cr_, blue_cb_;
};

// Every number a sample can have, the extremes often.
VideoFrame noise(const VideoFormat& format) {
  VideoFrame frame;
  frame.samples.resize(format.frame_bytes());
  uint32_t state = static_cast<uint32_t>(format.width * 7 + format.height);
  const auto most = static_cast<uint32_t>((1 << format.depth) - 1);
  const size_t bytes = format.depth > 8 ? 2 : 1;
  for (size_t i = 0; i < frame.samples.size(); i += bytes) {
    state = state * 1664525u + 1013904223u;
    const uint32_t kind = state >> 29;
    const uint32_t sample = kind == 0 ? 0 : kind == 1 ? most : (state >> 8) & most;
    frame.samples[i] = static_cast<uint8_t>(sample & 255);
    if (bytes == 2) frame.samples[i + 1] = static_cast<uint8_t>(sample >> 8);
  }
  return frame;
}

void expect_equal_bits(const VideoFormat& format, int threads) {
  const VideoFrame frame = noise(format);
  FrameConverter converter;
  const ImageView view = converter(format, frame, Threads(threads));
  ASSERT_EQ(view.channel_count(), format.subsampling == Subsampling::grey ? 1 : 3);
  const Plain plain(format, frame);
  for (int c = 0; c < view.channel_count(); ++c) {
    for (int y = 0; y < format.height; ++y) {
      for (int x = 0; x < format.width; ++x) {
        const auto plane = static_cast<size_t>(c);
        const float expected = plain.channel(plane, x, y);
        const std::byte* place = view.planes[plane] + y * view.row_stride + x * view.pixel_stride;
        ASSERT_EQ(std::memcmp(place, &expected, sizeof expected), 0)
            << cpu_target() << ", " << format.width << "x" << format.height << " " << name_of(format.subsampling) << " "
            << format.depth << " bits " << name_of(format.siting) << " " << name_of(format.matrix)
            << (format.full_range ? " full" : " limited") << ", channel " << c << " at " << x << ", " << y;
      }
    }
  }
}

TEST(FrameConverter, GivesTheBitsOfThePageForEveryKindOfFrame) {
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {2, 2}, {3, 5}, {16, 3}, {17, 4}, {31, 7}, {33, 33}, {70, 20}};
  for (const std::string& target : cpu_targets()) {
    ASSERT_TRUE(limit_cpu(target).ok());
    for (const auto& [width, height] : kSizes) {
      for (const Subsampling subsampling :
           {Subsampling::yuv420, Subsampling::yuv422, Subsampling::yuv444, Subsampling::grey}) {
        for (const Siting siting : {Siting::left, Siting::centre, Siting::top_left}) {
          for (int depth = 8; depth <= 16; ++depth) {
            VideoFormat format;
            format.width = width;
            format.height = height;
            format.subsampling = subsampling;
            format.siting = siting;
            format.depth = depth;
            format.full_range = depth % 3 == 0;
            format.matrix = static_cast<Matrix>((depth + width) % 5);
            expect_equal_bits(format, 1 + depth % 2);
            if (HasFatalFailure()) return;
            format.full_range = !format.full_range;
            expect_equal_bits(format, 1);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  ASSERT_TRUE(limit_cpu("").ok());
}

}  // namespace
}  // namespace acuity::test
