// SPDX-License-Identifier: BSD-2-Clause-Patent
// Y'CbCr to R'G'B'. docs/video.md states the arithmetic, which decides the last bit of a score: samples of colour are
// interpolated exactly, in sixteenths of a step, and everything after that is float without fused operations.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "media/video.h"

namespace acuity {
namespace {

struct Weights {
  double red, blue;
};

Weights weights_of(Matrix matrix) {
  switch (matrix) {
    case Matrix::bt601:
      return {0.299, 0.114};
    case Matrix::bt709:
      return {0.2126, 0.0722};
    case Matrix::bt2020:
      return {0.2627, 0.0593};
    case Matrix::smpte240m:
      return {0.212, 0.087};
    case Matrix::fcc:
      return {0.30, 0.11};
  }
  return {0.2126, 0.0722};
}

// What the rows of a frame are computed with.
struct Equations {
  float luma_black, luma_scale;     // y = (Y - black) * scale
  float chroma_zero, chroma_scale;  // of sums of sixteenths
  float red_cr, green_cb, green_cr, blue_cb;

  explicit Equations(const VideoFormat& format) {
    const double step = 1 << (format.depth - 8);
    const double most = (1 << format.depth) - 1;
    luma_black = static_cast<float>(format.full_range ? 0 : 16 * step);
    luma_scale = static_cast<float>(1 / (format.full_range ? most : 219 * step));
    chroma_zero = static_cast<float>(16 * 128 * step);
    chroma_scale = static_cast<float>(1 / (16 * (format.full_range ? most : 224 * step)));
    const auto [red, blue] = weights_of(format.matrix);
    const double green = 1 - red - blue;
    red_cr = static_cast<float>(2 * (1 - red));
    blue_cb = static_cast<float>(2 * (1 - blue));
    green_cr = static_cast<float>(2 * (1 - red) * red / green);
    green_cb = static_cast<float>(2 * (1 - blue) * blue / green);
  }
};

// The two samples of colour around a place, and the weight of the second in quarters.
struct Between {
  int first, second, quarters;
};

// `cosited`: every other pixel has a sample of its own; otherwise samples lie halfway between two pixels.
Between between(int place, bool halved, bool cosited, int count) {
  if (!halved) return {place, place, 0};
  const int near = place / 2;
  if (cosited) return {near, std::min(near + 1, count - 1), place % 2 == 0 ? 0 : 2};
  const int other = place % 2 == 0 ? near - 1 : near + 1;
  return {near, std::clamp(other, 0, count - 1), 1};
}

template <typename Sample>
class Rows {
 public:
  Rows(const VideoFormat& format, const VideoFrame& frame, float* planes)
      : format_(format), equations_(format), samples_(frame.samples.data()), planes_(planes) {}

  void convert(int y, std::vector<int>& colour) const {
    const auto width = static_cast<size_t>(format_.width);
    float* light = planes_ + static_cast<size_t>(y) * width;
    const Sample* luma = row(0, width, y);
    for (size_t x = 0; x < width; ++x) {
      light[x] = (static_cast<float>(luma[x]) - equations_.luma_black) * equations_.luma_scale;
    }
    if (format_.subsampling == Subsampling::grey) {
      for (size_t x = 0; x < width; ++x) light[x] = clipped(light[x]);
      return;
    }
    interpolate(y, 0, colour.data());
    interpolate(y, 1, colour.data() + width);
    const size_t plane = width * static_cast<size_t>(format_.height);
    const int* blue = colour.data();
    const int* red = colour.data() + width;
    for (size_t x = 0; x < width; ++x) {
      const float cb = (static_cast<float>(blue[x]) - equations_.chroma_zero) * equations_.chroma_scale;
      const float cr = (static_cast<float>(red[x]) - equations_.chroma_zero) * equations_.chroma_scale;
      const float value = light[x];
      light[x] = clipped(value + equations_.red_cr * cr);
      light[x + plane] = clipped(value - equations_.green_cb * cb - equations_.green_cr * cr);
      light[x + 2 * plane] = clipped(value + equations_.blue_cb * cb);
    }
  }

 private:
  static float clipped(float value) { return std::min(std::max(value, 0.0f), 1.0f); }

  const Sample* row(size_t offset, size_t width, int y) const {
    return reinterpret_cast<const Sample*>(samples_) + offset + static_cast<size_t>(y) * width;
  }

  // A row of one colour plane at every pixel, times sixteen.
  void interpolate(int y, size_t which, int* out) const {
    const int count = format_.chroma_width();
    const auto stride = static_cast<size_t>(count);
    const size_t offset = static_cast<size_t>(format_.width) * static_cast<size_t>(format_.height) +
                          which * stride * static_cast<size_t>(format_.chroma_height());
    const bool halved = format_.subsampling != Subsampling::yuv444;
    const bool left = format_.siting != Siting::centre;
    const Between down = between(y, format_.subsampling == Subsampling::yuv420, format_.siting == Siting::top_left,
                                 format_.chroma_height());
    const Sample* first = row(offset, stride, down.first);
    const Sample* second = row(offset, stride, down.second);
    const auto at = [&](int x) { return first[x] * (4 - down.quarters) + second[x] * down.quarters; };
    for (int x = 0; x < format_.width; ++x) {
      const Between across = between(x, halved, left, count);
      out[x] = at(across.first) * (4 - across.quarters) + at(across.second) * across.quarters;
    }
  }

  const VideoFormat& format_;
  const Equations equations_;
  const uint8_t* samples_;
  float* planes_;
};

template <typename Sample>
void convert(const VideoFormat& format, const VideoFrame& frame, float* planes, const Threads& threads) {
  constexpr int kTogether = 16;
  const Rows<Sample> rows(format, frame, planes);
  std::atomic<int> next = 0;
  threads.run([&](int) {
    std::vector<int> colour(2 * static_cast<size_t>(format.width));
    for (int begin = next.fetch_add(kTogether); begin < format.height; begin = next.fetch_add(kTogether)) {
      for (int y = begin; y < std::min(begin + kTogether, format.height); ++y) rows.convert(y, colour);
    }
  });
}

}  // namespace

ImageView FrameConverter::operator()(const VideoFormat& format, const VideoFrame& frame, const Threads& threads) {
  if (frame.picture) return frame.picture->view;
  const size_t plane = static_cast<size_t>(format.width) * static_cast<size_t>(format.height);
  const bool grey = format.subsampling == Subsampling::grey;
  planes_.resize(plane * (grey ? 1 : 3));
  if (format.depth == 8) {
    convert<uint8_t>(format, frame, planes_.data(), threads);
  } else {
    convert<uint16_t>(format, frame, planes_.data(), threads);
  }
  ImageView view;
  view.width = format.width;
  view.height = format.height;
  view.type = SampleType::f32;
  view.channels = grey ? Channels::grey : Channels::rgb;
  for (size_t c = 0; c < (grey ? 1 : 3); ++c) {
    view.planes[c] = reinterpret_cast<const std::byte*>(planes_.data() + c * plane);
  }
  view.pixel_stride = sizeof(float);
  view.row_stride = static_cast<ptrdiff_t>(sizeof(float)) * format.width;
  view.colour = format.colour;
  return view;
}

}  // namespace acuity
