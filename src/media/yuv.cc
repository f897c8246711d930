// SPDX-License-Identifier: BSD-2-Clause-Patent
// Y'CbCr to R'G'B'. docs/video.md states the arithmetic, which decides the last bit of a score: samples of colour are
// interpolated exactly, in sixteenths of a step, and everything after that is float without fused operations.
#include <algorithm>
#include <atomic>

#include "base/memory.h"
#include "media/video.h"
#include "media/yuv_rows.h"

namespace acuity {

MatrixWeights weights_of(Matrix matrix) {
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

namespace {

YuvEquations equations_of(const VideoFormat& format) {
  YuvEquations equations;
  const double step = 1 << (format.depth - 8);
  const double most = (1 << format.depth) - 1;
  equations.luma_black = static_cast<float>(format.full_range ? 0 : 16 * step);
  equations.luma_scale = static_cast<float>(1 / (format.full_range ? most : 219 * step));
  equations.chroma_zero = static_cast<float>(16 * 128 * step);
  equations.chroma_scale = static_cast<float>(1 / (16 * (format.full_range ? most : 224 * step)));
  const auto [red, blue] = weights_of(format.matrix);
  const double green = 1 - red - blue;
  equations.red_cr = static_cast<float>(2 * (1 - red));
  equations.blue_cb = static_cast<float>(2 * (1 - blue));
  equations.green_cr = static_cast<float>(2 * (1 - red) * red / green);
  equations.green_cb = static_cast<float>(2 * (1 - blue) * blue / green);
  return equations;
}

// The two rows of colour samples around a row of pixels, and the weight of the second in quarters.
struct Between {
  int first, second, quarters;
};

// `cosited`: every other row has samples of its own; otherwise they lie halfway between two rows.
Between between(int y, bool halved, bool cosited, int count) {
  if (!halved) return {y, y, 0};
  const int near = y / 2;
  if (cosited) return {near, std::min(near + 1, count - 1), y % 2 == 0 ? 0 : 2};
  const int other = y % 2 == 0 ? near - 1 : near + 1;
  return {near, std::clamp(other, 0, count - 1), 1};
}

template <typename Sample>
class Rows {
 public:
  Rows(const VideoFormat& format, const VideoFrame& frame)
      : format_(format), samples_(reinterpret_cast<const Sample*>(frame.samples.data())) {
    across_ = format.subsampling == Subsampling::yuv444 ? ChromaAcross::all
              : format.siting == Siting::centre         ? ChromaAcross::between
                                                        : ChromaAcross::cosited;
  }

  YuvRow<Sample> at(int y) const {
    YuvRow<Sample> row;
    row.width = format_.width;
    row.luma = samples_ + static_cast<size_t>(y) * static_cast<size_t>(format_.width);
    if (format_.subsampling == Subsampling::grey) return row;
    const Between down = between(y, format_.subsampling == Subsampling::yuv420, format_.siting == Siting::top_left,
                                 format_.chroma_height());
    const auto count = static_cast<size_t>(format_.chroma_width());
    const Sample* cb = samples_ + static_cast<size_t>(format_.width) * static_cast<size_t>(format_.height);
    const Sample* cr = cb + count * static_cast<size_t>(format_.chroma_height());
    const auto rows_of = [&](const Sample* plane) {
      return ChromaRows<Sample>{plane + static_cast<size_t>(down.first) * count,
                                plane + static_cast<size_t>(down.second) * count};
    };
    row.cb = rows_of(cb);
    row.cr = rows_of(cr);
    row.below_quarters = down.quarters;
    row.chroma_width = format_.chroma_width();
    row.across = across_;
    return row;
  }

 private:
  const VideoFormat& format_;
  const Sample* samples_;
  ChromaAcross across_;
};

constexpr size_t kSpare = kAlignment / sizeof(float);

// The first place in memory with room to spare where a vector does not lie in two cache lines.
float* aligned(std::vector<float>& memory) {
  return reinterpret_cast<float*>(round_up(reinterpret_cast<uintptr_t>(memory.data()), kAlignment));
}

template <typename Sample>
void convert(const VideoFormat& format, const VideoFrame& frame, float* planes, const Threads& threads) {
  constexpr int kTogether = 16;
  const Rows<Sample> rows(format, frame);
  const YuvEquations equations = equations_of(format);
  const auto width = static_cast<size_t>(format.width);
  const size_t plane = width * static_cast<size_t>(format.height);
  std::atomic<int> next = 0;
  threads.run([&](int) {
    std::vector<float> scratch(yuv_row_scratch(format.width) + kSpare);
    for (int begin = next.fetch_add(kTogether); begin < format.height; begin = next.fetch_add(kTogether)) {
      for (int y = begin; y < std::min(begin + kTogether, format.height); ++y) {
        float* red = planes + static_cast<size_t>(y) * width;
        convert_yuv_row(rows.at(y), equations, aligned(scratch), red, red + plane, red + 2 * plane);
      }
    }
  });
}

}  // namespace

ImageView FrameConverter::operator()(const VideoFormat& format, const VideoFrame& frame, const Threads& threads) {
  if (frame.picture) {
    ImageView view = frame.picture->view;
    view.colour = format.colour;
    return view;
  }
  const size_t plane = static_cast<size_t>(format.width) * static_cast<size_t>(format.height);
  const bool grey = format.subsampling == Subsampling::grey;
  planes_.resize(plane * (grey ? 1 : 3) + kSpare);
  float* planes = aligned(planes_);
  if (format.depth == 8) {
    convert<uint8_t>(format, frame, planes, threads);
  } else {
    convert<uint16_t>(format, frame, planes, threads);
  }
  ImageView view;
  view.width = format.width;
  view.height = format.height;
  view.type = SampleType::f32;
  view.channels = grey ? Channels::grey : Channels::rgb;
  for (size_t c = 0; c < (grey ? 1 : 3); ++c) {
    view.planes[c] = reinterpret_cast<const std::byte*>(planes + c * plane);
  }
  view.pixel_stride = sizeof(float);
  view.row_stride = static_cast<ptrdiff_t>(sizeof(float)) * format.width;
  view.colour = format.colour;
  return view;
}

}  // namespace acuity
