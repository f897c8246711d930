// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/validate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "base/try.h"

namespace acuity {
namespace {

// More than any picture has; keeps width * height * bytes within 64 bits with room to spare.
constexpr int kMaximumSide = 1 << 20;
constexpr ptrdiff_t kMaximumStride = ptrdiff_t{1} << 40;  // likewise

int sample_bytes(SampleType type) { return type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4; }

// Exponents of all ones are those of NaN and infinity. Without a way out of the loop it works on vectors.
bool all_finite(const std::byte* samples, ptrdiff_t stride, int count) {
  uint32_t found = 0;
  const auto look = [&](auto step) {
    for (int i = 0; i < count; ++i) {
      uint32_t bits;
      std::memcpy(&bits, samples + i * step, sizeof bits);
      found |= (bits & 0x7F800000u) == 0x7F800000u ? 1u : 0u;
    }
  };
  if (stride == sizeof(float)) {
    look(std::integral_constant<ptrdiff_t, sizeof(float)>());
  } else {
    look(stride);
  }
  return found == 0;
}

bool row_is_finite(const ImageView& view, int y) {
  const int channels = view.channel_count();
  const ptrdiff_t offset = y * view.row_stride;
  bool interleaved = view.pixel_stride == channels * ptrdiff_t{sizeof(float)};
  for (int c = 1; c < channels; ++c) {
    interleaved = interleaved && view.planes[static_cast<size_t>(c)] == view.planes[0] + c * ptrdiff_t{sizeof(float)};
  }
  if (interleaved) return all_finite(view.planes[0] + offset, sizeof(float), view.width * channels);
  bool finite = true;
  for (int c = 0; c < channels; ++c) {
    finite = finite && all_finite(view.planes[static_cast<size_t>(c)] + offset, view.pixel_stride, view.width);
  }
  return finite;
}

// Rows one after the other, or columns.
bool rows_lie_apart(const ImageView& view, int64_t bytes) {
  const int64_t row = std::abs(view.row_stride), pixel = std::abs(view.pixel_stride);
  return view.height == 1 || row >= (view.width - 1) * pixel + bytes ||
         (row >= bytes && pixel >= (view.height - 1) * row + bytes);
}

Status not_finite(std::string_view role, const NotFinite& found) {
  return Status(
      StatusCode::input,
      fmt::format("the {} picture holds {} in channel {} at x={}, y={}; every sample must be finite: repair or "
                  "clip the picture",
                  role, found.value, found.channel, found.x, found.y));
}

// ", or small=libjxl" where the metric has such an option.
std::string small_hint(const MetricInfo& metric) {
  std::string hint;
  for (const MetricOption& option : metric.options) {
    if (option.name != "small") continue;
    for (const std::string& word : option.words) hint += word == "reject" ? "" : ", or small=" + word;
  }
  return hint;
}

}  // namespace

Status validate_size(const MetricInfo& metric, const OptionValues& options, int width, int height) {
  if (width < 1 || height < 1 || width > kMaximumSide || height > kMaximumSide) {
    return Status(StatusCode::input,
                  fmt::format("a picture of {}x{} pixels cannot be scored: each side must be from 1 to {}", width,
                              height, kMaximumSide));
  }
  if (std::min(width, height) < least_side(metric, options)) {
    return Status(
        StatusCode::input,
        fmt::format("the pictures are {}x{} pixels, but {} needs at least {} on each side: use larger pictures or "
                    "another metric{}",
                    width, height, metric.name, metric.minimum_side, small_hint(metric)));
  }
  return {};
}

// NaN and infinity would vanish in a maximum or poison a sum: refuse them before they reach a metric.
Status validate_finite(const ImageView& view, std::string_view role, const Threads& threads) {
  constexpr int kTogether = 32;
  std::atomic<int> next = 0, first_bad = view.height;
  threads.run([&](int) {
    for (int begin = next.fetch_add(kTogether); begin < view.height; begin = next.fetch_add(kTogether)) {
      for (int y = begin; y < std::min(begin + kTogether, view.height); ++y) {
        if (row_is_finite(view, y)) continue;
        for (int known = first_bad; y < known && !first_bad.compare_exchange_weak(known, y);) {
        }
        break;
      }
    }
  });
  const int y = first_bad;
  for (int c = 0; c < view.channel_count() && y < view.height; ++c) {
    for (int x = 0; x < view.width; ++x) {
      float value;
      std::memcpy(&value, view.planes[static_cast<size_t>(c)] + y * view.row_stride + x * view.pixel_stride,
                  sizeof value);
      if (!std::isfinite(value)) return not_finite(role, {.value = value, .channel = c, .x = x, .y = y});
    }
  }
  return {};
}

Status validate_finite(const ImageView& view, std::string_view role, DevicePool& pool, const Resident& samples) {
  std::optional<NotFinite> found;
  ACUITY_TRY_ASSIGN(found, find_not_finite(pool, view, samples));
  return found ? not_finite(role, *found) : Status();
}

Status validate_layout(const ImageView& view, std::string_view role) {
  const std::string of = role.empty() ? "" : std::string(role) + " ";
  if (view.channel_count() < 1 || view.channel_count() > 4) {
    return Status(StatusCode::usage,
                  fmt::format("the {}view has {} channels: expected 1 to 4", of, view.channel_count()));
  }
  const int bytes = sample_bytes(view.type);
  for (int c = 0; c < view.channel_count(); ++c) {
    const std::byte* plane = view.planes[static_cast<size_t>(c)];
    if (plane == nullptr) {
      return Status(StatusCode::usage, fmt::format("plane {} of the {}view is null", c, of));
    }
    if (reinterpret_cast<uintptr_t>(plane) % static_cast<uintptr_t>(bytes) != 0) {
      return Status(StatusCode::usage,
                    fmt::format("plane {} of the {}view is not aligned to its {}-byte samples", c, of, bytes));
    }
  }
  const auto is_stride = [bytes](ptrdiff_t stride) {
    return stride % bytes == 0 && stride >= -kMaximumStride && stride <= kMaximumStride;
  };
  if (!is_stride(view.pixel_stride) || !is_stride(view.row_stride) || std::abs(view.pixel_stride) < bytes) {
    return Status(StatusCode::usage,
                  fmt::format("the strides of the {}view ({} and {} bytes) do not fit its {}-byte samples", of,
                              view.pixel_stride, view.row_stride, bytes));
  }
  if (!rows_lie_apart(view, bytes)) {
    return Status(StatusCode::usage,
                  fmt::format("the rows of the {}view overlap: its row_stride is {} bytes, for {} pixels of {} bytes",
                              of, view.row_stride, view.width, view.pixel_stride));
  }
  const bool depth_fits = view.type == SampleType::f32 || (view.type == SampleType::u8 && view.depth == 8) ||
                          (view.type == SampleType::u16 && view.depth >= 9 && view.depth <= 16);
  if (!depth_fits) {
    return Status(
        StatusCode::usage,
        fmt::format("the {}view has a depth of {} bits, which its {}-byte samples cannot have", of, view.depth, bytes));
  }
  return {};
}

Status validate_planes(const FrameView& frame, const SurfaceLayout& layout, std::string_view which) {
  const ptrdiff_t bytes = frame.sample_bytes();
  const bool paired = layout.chroma_pairs && frame.planes_count() > 1;
  for (int p = 0; p < (paired ? 2 : frame.planes_count()); ++p) {
    const std::byte* plane = frame.planes[static_cast<size_t>(p)];
    const ptrdiff_t stride = frame.row_strides[static_cast<size_t>(p)],
                    row = frame.plane_width(p) * bytes * (paired && p == 1 ? 2 : 1);
    const bool aligned = reinterpret_cast<uintptr_t>(plane) % static_cast<uintptr_t>(bytes) == 0 && stride % bytes == 0;
    if (plane == nullptr || !aligned) {
      return Status(StatusCode::usage,
                    fmt::format("plane {} of the {} is null or not aligned to its samples", p, which));
    }
    const bool fits = stride >= -kMaximumStride && stride <= kMaximumStride && std::abs(stride) >= row;
    if (fits || (stride == 0 && frame.plane_height(p) == 1)) continue;
    return Status(StatusCode::usage, fmt::format("plane {} of the {} has a row stride of {} bytes, and a row has {}", p,
                                                 which, stride, row));
  }
  return {};
}

Status validate_frame(const FrameView& frame, const FrameFormat& format, const SurfaceLayout& layout,
                      std::string_view role) {
  if (frame.depth < 8 || frame.depth > 16) {
    return Status(StatusCode::usage,
                  fmt::format("the {} frame has {} bits per sample: expected 8 to 16", role, frame.depth));
  }
  if (!frame.has_same_shape(format)) {
    return Status(StatusCode::usage, fmt::format("the size, depth or subsampling of the {} frame is not that of its "
                                                 "format",
                                                 role));
  }
  return validate_planes(frame, layout, fmt::format("{} frame", role));
}

Status validate_view_size(const ImageView& view, std::string_view role, int width, int height) {
  if (view.width != width || view.height != height) {
    return Status(StatusCode::input,
                  fmt::format("the {} picture is {}x{} pixels, but {}x{} is expected: both pictures must "
                              "have the same size; scale or crop one of them first",
                              role, view.width, view.height, width, height));
  }
  return {};
}

}  // namespace acuity
