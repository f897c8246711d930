// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames as metrics of frames want them. A picture becomes Y'CbCr by the equations of BT.709, limited range, in double.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/try.h"
#include "media/video.h"

namespace acuity {
namespace {

constexpr double kRed = 0.2126, kBlue = 0.0722, kGreen = 1 - kRed - kBlue;

int sample_at(const ImageView& view, size_t channel, int x, int y) {
  const std::byte* place = view.planes[channel] + y * view.row_stride + x * view.pixel_stride;
  if (view.type == SampleType::u8) return static_cast<int>(*place);
  uint16_t sample = 0;
  std::memcpy(&sample, place, sizeof sample);
  return sample;
}

class Planes {
 public:
  Planes(const ImageView& view, std::vector<uint8_t>& samples) : view_(view), samples_(samples) {
    samples_.resize(3 * static_cast<size_t>(view.width) * static_cast<size_t>(view.height) * bytes());
  }

  void set(size_t plane, int x, int y, double value) {
    const auto sample = static_cast<uint16_t>(std::floor(value + 0.5));
    const size_t rows = plane * static_cast<size_t>(view_.height) + static_cast<size_t>(y);
    const size_t place = (rows * static_cast<size_t>(view_.width) + static_cast<size_t>(x)) * bytes();
    std::memcpy(samples_.data() + place, &sample, bytes());
  }

 private:
  size_t bytes() const { return view_.depth > 8 ? 2 : 1; }

  const ImageView& view_;
  std::vector<uint8_t>& samples_;
};

// False where something is transparent.
bool convert(const ImageView& view, std::vector<uint8_t>& samples) {
  const int most = (1 << view.depth) - 1;
  const double step = 1 << (view.depth - 8);
  const auto alpha = static_cast<size_t>(view.channel_count() - 1);
  const size_t green = view.is_grey() ? 0 : 1, blue = view.is_grey() ? 0 : 2;
  Planes planes(view, samples);
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      if (view.has_alpha() && sample_at(view, alpha, x, y) != most) return false;
      const double r = sample_at(view, 0, x, y) / static_cast<double>(most);
      const double g = sample_at(view, green, x, y) / static_cast<double>(most);
      const double b = sample_at(view, blue, x, y) / static_cast<double>(most);
      const double light = view.is_grey() ? r : kRed * r + kGreen * g + kBlue * b;
      planes.set(0, x, y, step * (16 + 219 * light));
      planes.set(1, x, y, step * (128 + 224 * (b - light) / (2 * (1 - kBlue))));
      planes.set(2, x, y, step * (128 + 224 * (r - light) / (2 * (1 - kRed))));
    }
  }
  return true;
}

Result<std::shared_ptr<const VideoFrame>> frame_of(const Picture& picture) {
  if (picture.view.type == SampleType::f32) {
    return Status(StatusCode::input,
                  "the picture has samples in floating point, for which there is no Y'CbCr; convert it to PNG first");
  }
  auto frame = std::make_shared<VideoFrame>();
  if (!convert(picture.view, frame->samples)) {
    return Status(StatusCode::input,
                  "the picture has transparency, for which there is no Y'CbCr; put it on a background first");
  }
  return std::shared_ptr<const VideoFrame>(std::move(frame));
}

}  // namespace

FrameView frame_format(const VideoFormat& format) {
  FrameView view;
  view.width = format.width;
  view.height = format.height;
  view.depth = format.depth;
  view.subsampling = format.rgb ? Subsampling::yuv444 : format.subsampling;
  return view;
}

Result<FrameView> frame_view(const VideoFormat& format, std::shared_ptr<const VideoFrame> frame) {
  if (frame->picture) ACUITY_TRY_ASSIGN(frame, frame_of(*frame->picture));
  FrameView view = frame_format(format);
  const std::byte* plane = reinterpret_cast<const std::byte*>(frame->samples.data());
  for (int p = 0; p < view.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    view.planes[at] = plane;
    view.row_strides[at] = view.plane_width(p) * (format.depth > 8 ? 2 : 1);
    plane += view.row_strides[at] * view.plane_height(p);
  }
  view.owner = std::move(frame);
  return view;
}

std::shared_ptr<VideoFrame> FramePool::take() {
  VideoFrame frame;
  {
    const std::lock_guard lock(unused_->mutex);
    if (!unused_->frames.empty()) {
      frame = std::move(unused_->frames.back());
      unused_->frames.pop_back();
    }
  }
  const auto give_back = [unused = unused_](VideoFrame* used) {
    const std::unique_ptr<VideoFrame> held(used);
    const std::lock_guard lock(unused->mutex);
    unused->frames.push_back(std::move(*held));
  };
  return {new VideoFrame(std::move(frame)), give_back};
}

}  // namespace acuity
