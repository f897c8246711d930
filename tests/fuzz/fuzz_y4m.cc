// SPDX-License-Identifier: BSD-2-Clause-Patent
// Any bytes end in frames that keep to the limits and become finite RGB, or in a message.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "media/video.h"

namespace acuity {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const ImageView& view) {
  require(view.width > 0 && view.width <= 256 && view.height > 0 && view.height <= 256);
  if (view.type != SampleType::f32) return;
  for (int c = 0; c < view.channel_count(); ++c) {
    for (int y = 0; y < view.height; ++y) {
      for (int x = 0; x < view.width; ++x) {
        float value;
        std::memcpy(&value, view.planes[static_cast<size_t>(c)] + y * view.row_stride + x * view.pixel_stride,
                    sizeof value);
        require(std::isfinite(value));
      }
    }
  }
}

}  // namespace
}  // namespace acuity

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace acuity;
  if (size == 0 || data[0] != 'Y') return -1;  // pictures have programs of their own
  std::FILE* file = fmemopen(const_cast<uint8_t*>(data), size, "rb");
  if (file == nullptr) return -1;
  const VideoOptions options{.limits = {.maximum_side = 256, .maximum_pixels = 1 << 14}};
  const auto source = open_video(file, "fuzz", options);
  if (!source.ok()) {
    require(!source.status().message().empty());
    return 0;
  }
  static const Threads threads(1);
  FrameConverter convert;
  VideoFrame frame;
  for (;;) {
    const Result<bool> more = (*source)->next(frame);
    require(more.ok() || !more.status().message().empty());
    if (!more.ok() || !*more) return 0;
    check(convert((*source)->format(), frame, threads));
  }
}
