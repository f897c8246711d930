// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/planes.h"

#include <algorithm>
#include <cstring>

namespace acuity {
namespace {

// Rows are converted some at a time, so that the planes of a large picture are not in memory twice. A row takes colour
// from the rows next to it, so each band has two more on either side.
constexpr int kBand = 64;
constexpr int kMargin = 2;

int sample_at(const uint8_t* row, int x, int depth) {
  if (depth == 8) return row[x];
  uint16_t sample;
  std::memcpy(&sample, row + ptrdiff_t{2} * x, sizeof sample);
  return sample;
}

// The rows of a band as a frame of its own.
VideoFrame band_of(const Planes& planes, const VideoFormat& band, int top) {
  VideoFrame frame;
  frame.samples.resize(band.frame_bytes());
  uint8_t* to = frame.samples.data();
  for (int p = 0; p < (band.subsampling == Subsampling::grey ? 1 : 3); ++p) {
    const Planes::Plane& plane = planes.colour[static_cast<size_t>(p)];
    const int width = p == 0 ? band.width : band.chroma_width();
    const int rows = p == 0 ? band.height : band.chroma_height();
    const int first = p > 0 && band.subsampling == Subsampling::yuv420 ? top / 2 : top;
    const auto bytes = static_cast<size_t>(width) * (band.depth > 8 ? 2 : 1);
    for (int y = 0; y < rows; ++y, to += bytes) {
      std::memcpy(to, plane.data + static_cast<size_t>(first + y) * plane.row_bytes, bytes);
    }
  }
  return frame;
}

}  // namespace

std::optional<Matrix> matrix_of(int code_point) {
  switch (code_point) {
    case 1:
      return Matrix::bt709;
    case 4:
      return Matrix::fcc;
    case 5:
    case 6:
      return Matrix::bt601;
    case 7:
      return Matrix::smpte240m;
    case 9:
      return Matrix::bt2020;
    default:
      return {};
  }
}

Channels channels_of(const Planes& planes) {
  const bool alpha = planes.alpha.data != nullptr;
  if (planes.format.subsampling == Subsampling::grey) return alpha ? Channels::grey_alpha : Channels::grey;
  return alpha ? Channels::rgba : Channels::rgb;
}

void convert_planes(const Planes& planes, Picture& picture) {
  const VideoFormat& whole = planes.format;
  const auto most = static_cast<double>((1 << whole.depth) - 1);
  const Threads one(1);
  FrameConverter convert;
  for (int begin = 0; begin < whole.height; begin += kBand) {
    const int end = std::min(begin + kBand, whole.height);
    const int top = std::max(begin - kMargin, 0);
    VideoFormat band = whole;
    band.height = std::min(end + kMargin, whole.height) - top;
    const ImageView view = convert(band, band_of(planes, band, top), one);
    for (int y = begin; y < end; ++y) {
      auto* to = reinterpret_cast<float*>(row_of(picture, y));
      for (int x = 0; x < whole.width; ++x) {
        for (size_t c = 0; c < static_cast<size_t>(view.channel_count()); ++c) {
          std::memcpy(to++, view.planes[c] + (y - top) * view.row_stride + x * view.pixel_stride, sizeof(float));
        }
        if (planes.alpha.data == nullptr) continue;
        const uint8_t* row = planes.alpha.data + static_cast<size_t>(y) * planes.alpha.row_bytes;
        *to++ = static_cast<float>(sample_at(row, x, whole.depth) / most);
      }
    }
  }
}

}  // namespace acuity
