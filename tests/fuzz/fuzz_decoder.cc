// SPDX-License-Identifier: BSD-2-Clause-Patent
// Compiled once for each format, whose files it starts from: any bytes end in a picture that keeps to the limits, or in
// a message.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "acuity/picture.h"

namespace acuity {
namespace {

constexpr PictureLimits kLimits{
    .maximum_side = 256, .maximum_pixels = 1 << 14, .maximum_file_bytes = 1 << 20, .maximum_decoded_bytes = 1 << 20};

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Picture& picture) {
  const ImageView& view = picture.view;
  require(view.width > 0 && view.width <= kLimits.maximum_side && view.height > 0 &&
          view.height <= kLimits.maximum_side);
  require(!picture.format.empty() && !picture.found.empty());
  const size_t size = view.type == SampleType::u8 ? 1 : view.type == SampleType::u16 ? 2 : 4;
  require(view.type != SampleType::u16 || (view.depth > 8 && view.depth <= 16));
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < view.channel_count(); ++c) {
        const std::byte* at = view.planes[static_cast<size_t>(c)] + y * view.row_stride + x * view.pixel_stride;
        uint32_t sample = 0;
        std::memcpy(&sample, at, size);
        if (view.type == SampleType::u16) require(sample < 1u << view.depth);
        float value = 0;
        std::memcpy(&value, &sample, sizeof(value));
        if (view.type == SampleType::f32) require(std::isfinite(value));
      }
    }
  }
}

}  // namespace
}  // namespace acuity

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto picture = acuity::decode_picture({data, size}, "fuzz", acuity::kLimits);
  if (!picture.ok()) picture = acuity::decode_picture({data, size}, "fuzz", acuity::kLimits, 1);
  if (!picture.ok()) {
    acuity::require(!picture.status().message().empty());
    return 0;
  }
  acuity::check(*picture);
  return picture->format == FORMAT ? 0 : -1;  // what became another format is of no use here
}
