// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/alpha.h"

#include <algorithm>
#include <cstring>

namespace acuity {
namespace {

template <typename Sample>
void read_samples(const std::byte* from, ptrdiff_t stride, int count, float maximum, float* alpha) {
  for (int i = 0; i < count; ++i) {
    Sample sample;
    std::memcpy(&sample, from + i * stride, sizeof(sample));
    alpha[i] = std::clamp(static_cast<float>(sample) / maximum, 0.0f, 1.0f);
  }
}

}  // namespace

ImageView without_alpha(const ImageView& view) {
  ImageView opaque = view;
  opaque.channels = view.is_grey() ? Channels::grey : Channels::rgb;
  return opaque;
}

void read_alpha(const ImageView& view, int y, int x_begin, int x_end, float* alpha) {
  const std::byte* from =
      view.planes[static_cast<size_t>(view.channel_count() - 1)] + y * view.row_stride + x_begin * view.pixel_stride;
  const int count = x_end - x_begin;
  // A view of floats may state any depth.
  const float maximum = view.type == SampleType::f32 ? 1.0f : static_cast<float>((1 << view.depth) - 1);
  switch (view.type) {
    case SampleType::u8:
      return read_samples<uint8_t>(from, view.pixel_stride, count, maximum, alpha);
    case SampleType::u16:
      return read_samples<uint16_t>(from, view.pixel_stride, count, maximum, alpha);
    case SampleType::f32:
      return read_samples<float>(from, view.pixel_stride, count, maximum, alpha);
  }
}

}  // namespace acuity
