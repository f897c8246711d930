// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/image_copy.h"

#include <cstring>

namespace acuity {

Result<ImageCopy> copy_image(const ImageView& view) {
  const size_t sample = view.type == SampleType::u8 ? 1 : view.type == SampleType::u16 ? 2 : 4;
  const size_t samples = static_cast<size_t>(view.width) * static_cast<size_t>(view.channel_count());
  Result<Arena> memory = Arena::create(samples * sample * static_cast<size_t>(view.height));
  if (!memory.ok()) return memory.status();
  ImageCopy copy{std::move(*memory), {}};
  std::byte* pixels = copy.memory.take<std::byte>(copy.memory.size());
  copy.view = interleaved_view(pixels, view.width, view.height, view.channels, view.type);
  copy.view.depth = view.depth;
  copy.view.colour = view.colour;
  bool is_packed = view.pixel_stride == copy.view.pixel_stride;
  for (size_t c = 1; c < static_cast<size_t>(view.channel_count()); ++c) {
    is_packed = is_packed && view.planes[c] == view.planes[0] + c * sample;
  }
  for (int y = 0; y < view.height; ++y) {
    if (is_packed) {
      std::memcpy(pixels + y * copy.view.row_stride, view.planes[0] + y * view.row_stride, samples * sample);
      continue;
    }
    for (int c = 0; c < view.channel_count(); ++c) {
      const std::byte* from = view.planes[static_cast<size_t>(c)] + y * view.row_stride;
      std::byte* to = pixels + y * copy.view.row_stride + static_cast<size_t>(c) * sample;
      for (int x = 0; x < view.width; ++x) {
        std::memcpy(to + x * copy.view.pixel_stride, from + x * view.pixel_stride, sample);
      }
    }
  }
  return copy;
}

}  // namespace acuity
