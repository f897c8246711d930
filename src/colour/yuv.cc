// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples of colour are interpolated exactly, in sixteenths of a step, and everything after that is float without fused
// operations.
#include "colour/yuv.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/memory.h"

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
    case Matrix::rgb:
      return {0, 0};
  }
  return {0.2126, 0.0722};
}

YuvEquations equations_of(const FrameFormat& format) {
  YuvEquations equations;
  const double step = 1 << (format.depth - 8);
  const double most = (1 << format.depth) - 1;
  equations.luma_black = static_cast<float>(format.full_range ? 0 : 16 * step);
  equations.luma_scale = static_cast<float>(1 / (format.full_range ? most : 219 * step));
  equations.chroma_zero = static_cast<float>(16 * 128 * step);
  equations.chroma_scale = static_cast<float>(1 / (16 * (format.full_range ? most : 224 * step)));
  if (format.matrix == Matrix::rgb) {
    equations.chroma_zero = 16 * equations.luma_black;
    equations.chroma_scale = equations.luma_scale / 16;
    equations.red_cr = equations.blue_cb = 1;
    equations.luma_share = 0;
    return equations;
  }
  const auto [red, blue] = weights_of(format.matrix);
  const double green = 1 - red - blue;
  equations.red_cr = static_cast<float>(2 * (1 - red));
  equations.blue_cb = static_cast<float>(2 * (1 - blue));
  equations.green_cr = static_cast<float>(2 * (1 - red) * red / green);
  equations.green_cb = static_cast<float>(2 * (1 - blue) * blue / green);
  return equations;
}

YuvEquations limited_equations_of(const FrameFormat& format, bool clips) {
  constexpr float kFarOutside = 8;
  YuvEquations equations = equations_of(format);
  if (!clips) {
    equations.least = -kFarOutside;
    equations.most = kFarOutside;
  }
  if (format.full_range) return equations;
  const float step = static_cast<float>(1 << (format.depth - 8));
  equations.luma_least = equations.chroma_least = 16 * step;
  equations.luma_most = 235 * step;
  equations.chroma_most = (format.matrix == Matrix::rgb ? 235 : 240) * step;
  return equations;
}

ChromaPlacement placement_across(const FrameFormat& format) {
  if (format.subsampling == Subsampling::yuv444) return ChromaPlacement::all;
  return format.siting == Siting::centre ? ChromaPlacement::between : ChromaPlacement::cosited;
}

ChromaPlacement placement_down(const FrameFormat& format) {
  if (format.subsampling != Subsampling::yuv420) return ChromaPlacement::all;
  return format.siting == Siting::top_left ? ChromaPlacement::cosited : ChromaPlacement::between;
}

namespace {

// The two rows of colour samples around a row of pixels, and the weight of the second in quarters.
struct Between {
  int first, second, quarters;
};

Between between(int y, ChromaPlacement down, int count) {
  if (down == ChromaPlacement::all) return {y, y, 0};
  const int near = y / 2;
  if (down == ChromaPlacement::cosited) return {near, std::min(near + 1, count - 1), y % 2 == 0 ? 0 : 2};
  const int other = y % 2 == 0 ? near - 1 : near + 1;
  return {near, std::clamp(other, 0, count - 1), 1};
}

template <typename Sample>
YuvRow<Sample> row_of(const FrameFormat& format, const FrameView& frame, int y) {
  const auto samples_of = [&](int plane, int row) {
    const auto p = static_cast<size_t>(plane);
    return reinterpret_cast<const Sample*>(frame.planes[p] + row * frame.row_strides[p]);
  };
  YuvRow<Sample> row;
  row.width = format.width;
  row.luma = samples_of(0, y);
  if (format.subsampling == Subsampling::grey) return row;
  const Between down = between(y, placement_down(format), format.plane_height(1));
  row.cb = {samples_of(1, down.first), samples_of(1, down.second)};
  row.cr = {samples_of(2, down.first), samples_of(2, down.second)};
  row.below_quarters = down.quarters;
  row.chroma_width = format.plane_width(1);
  row.across = placement_across(format);
  return row;
}

template <typename Sample>
void convert(const FrameFormat& format, const FrameView& frame, const Threads& threads, float* planes) {
  constexpr int kTogether = 16;
  constexpr size_t kSpare = kAlignment / sizeof(float);
  const YuvEquations equations = equations_of(format);
  const auto width = static_cast<size_t>(format.width);
  const size_t plane = width * static_cast<size_t>(format.height);
  std::atomic<int> next = 0;
  threads.run([&](int) {
    // Aligned, so that a vector does not lie in two cache lines.
    std::vector<float> memory(yuv_row_scratch(format.width) + kSpare);
    auto* scratch = reinterpret_cast<float*>(round_up(reinterpret_cast<uintptr_t>(memory.data()), kAlignment));
    for (int begin = next.fetch_add(kTogether); begin < format.height; begin = next.fetch_add(kTogether)) {
      for (int y = begin; y < std::min(begin + kTogether, format.height); ++y) {
        float* red = planes + static_cast<size_t>(y) * width;
        convert_yuv_row(row_of<Sample>(format, frame, y), equations, scratch, red, red + plane, red + 2 * plane);
      }
    }
  });
}

}  // namespace

void FrameRowReader::read(int y, float* scratch, float* red, float* green, float* blue) const {
  if (format_.depth == 8) {
    convert_yuv_row(row_of<uint8_t>(format_, frame_, y), equations_, scratch, red, green, blue);
  } else {
    convert_yuv_row(row_of<uint16_t>(format_, frame_, y), equations_, scratch, red, green, blue);
  }
  if (format_.subsampling != Subsampling::grey) return;
  std::copy_n(red, format_.width, green);
  std::copy_n(red, format_.width, blue);
}

size_t converted_floats(const FrameFormat& format) {
  return static_cast<size_t>(format.width) * static_cast<size_t>(format.height) *
         static_cast<size_t>(format.planes_count());
}

ImageView converted_view(const FrameFormat& format, const float* planes) {
  ImageView view;
  view.width = format.width;
  view.height = format.height;
  view.type = SampleType::f32;
  view.channels = format.subsampling == Subsampling::grey ? Channels::grey : Channels::rgb;
  const size_t plane = static_cast<size_t>(format.width) * static_cast<size_t>(format.height);
  for (size_t c = 0; c < static_cast<size_t>(view.channel_count()) && planes != nullptr; ++c) {
    view.planes[c] = reinterpret_cast<const std::byte*>(planes + c * plane);
  }
  view.pixel_stride = sizeof(float);
  view.row_stride = static_cast<ptrdiff_t>(sizeof(float)) * format.width;
  view.colour = format.colour;
  return view;
}

void convert_frame(const FrameFormat& format, const FrameView& frame, const Threads& threads, float* planes) {
  if (format.depth == 8) {
    convert<uint8_t>(format, frame, threads, planes);
  } else {
    convert<uint16_t>(format, frame, threads, planes);
  }
}

}  // namespace acuity
