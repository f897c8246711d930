// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/memory.h"
#include "colour/yuv.h"
#include "media/video.h"

namespace acuity {

FrameFormat frame_format(const VideoFormat& format) {
  FrameFormat result{{format.width, format.height, format.depth, format.subsampling}};
  result.full_range = format.full_range;
  result.matrix = format.matrix;
  result.siting = format.siting;
  result.colour = format.colour;
  if (format.rate.numerator > 0) result.rate = format.rate;
  return result;
}

FrameView view_of(const FrameShape& shape, std::shared_ptr<const VideoFrame> frame) {
  FrameView view{shape};
  const std::byte* plane = reinterpret_cast<const std::byte*>(frame->samples.data());
  for (int p = 0; p < view.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    view.planes[at] = plane;
    view.row_strides[at] = view.plane_width(p) * view.sample_bytes();
    plane += view.row_strides[at] * view.plane_height(p);
  }
  view.owner = std::move(frame);
  return view;
}

ImageView FrameConverter::operator()(const VideoFormat& format, const VideoFrame& frame, const Threads& threads) {
  if (frame.picture) {
    ImageView view = frame.picture->view;
    view.colour = format.colour;
    return view;
  }
  const FrameFormat its_format = frame_format(format);
  planes_.resize(converted_floats(its_format) + kAlignment / sizeof(float));
  auto* planes = reinterpret_cast<float*>(round_up(reinterpret_cast<uintptr_t>(planes_.data()), kAlignment));
  const std::shared_ptr<const VideoFrame> borrowed(std::shared_ptr<void>(), &frame);
  convert_frame(its_format, view_of(its_format, borrowed), threads, planes);
  return converted_view(its_format, planes);
}

}  // namespace acuity
