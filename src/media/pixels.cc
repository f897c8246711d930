// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory for pictures within the declared limits, and what is done to whole pictures after decoding.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/large_memory.h"
#include "media/decoder.h"

namespace acuity {
namespace {

int64_t bytes_of(SampleType type) { return type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4; }

Status too_big(const EncodedFile& encoded, const std::string& what) {
  return Status(StatusCode::too_big,
                fmt::format("'{}' {}; use a smaller picture, or raise the limit (--max-pixels)", encoded.name, what));
}

// The view of fresh memory, or the reason there is none. The size has been checked.
Result<Picture> allocate(const EncodedFile& encoded, int width, int height, Channels channels, SampleType type,
                         int64_t working_bytes) {
  const int64_t bytes = int64_t{width} * height * static_cast<int64_t>(channels) * bytes_of(type);
  if (const Status status = check_memory(encoded, width, height, bytes + working_bytes); !status.ok()) return status;
  Picture picture;
  picture.pixels = {allocate_large(static_cast<size_t>(bytes)), free_large};
  if (!picture.pixels) {
    return Status(StatusCode::out_of_memory,
                  fmt::format("out of memory: '{}' needs {} MiB to decode", encoded.name, bytes >> 20));
  }
  picture.view = interleaved_view(picture.pixels.get(), width, height, channels, type);
  return picture;
}

void tell_shape(std::string_view format, const Shape& shape, Picture& picture) {
  picture.format = format;
  if (shape.type == SampleType::u16) picture.view.depth = shape.depth;
  const bool is_float = shape.type == SampleType::f32;
  picture.found.push_back(!shape.stored.empty() ? shape.stored
                                                : describe(is_float ? 32 : shape.depth, is_float, shape.channels));
  if (picture.view.has_alpha()) picture.found.push_back("alpha");
}

// Replaces the pixels and keeps the rest.
void exchange_pixels(Picture& picture, Picture& fresh) {
  fresh.view.colour = std::move(picture.view.colour);
  picture.view = fresh.view;
  picture.pixels = std::move(fresh.pixels);
}

// Whether every sample of alpha is the largest.
template <typename Sample>
bool is_opaque(const ImageView& view, double largest) {
  const std::byte* row = view.planes[static_cast<size_t>(view.channel_count() - 1)];
  for (int y = 0; y < view.height; ++y, row += view.row_stride) {
    for (int x = 0; x < view.width; ++x) {
      Sample sample;
      std::memcpy(&sample, row + x * view.pixel_stride, sizeof sample);
      if (sample != static_cast<Sample>(largest)) return false;
    }
  }
  return true;
}

// A row of interleaved floats, in a way that compilers make vectors of.
bool is_finite(const std::byte* row, const ImageView& view) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t any = 0;
  for (int i = 0; i < view.width * view.channel_count(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, row + 4 * ptrdiff_t{i}, sizeof bits);
    any |= static_cast<uint32_t>((bits & kExponent) == kExponent);
  }
  return any == 0;
}

double sample_of(const ImageView& view, int x, int y, int channel) {
  const std::byte* at = view.planes[static_cast<size_t>(channel)] + y * view.row_stride + x * view.pixel_stride;
  switch (view.type) {
    case SampleType::u8:
      return static_cast<double>(std::to_integer<int>(*at));
    case SampleType::u16: {
      uint16_t sample;
      std::memcpy(&sample, at, sizeof(sample));
      return sample;
    }
    case SampleType::f32:
      break;
  }
  float sample;
  std::memcpy(&sample, at, sizeof(sample));
  return static_cast<double>(sample);
}

}  // namespace

std::string describe(int bits, bool is_float, Channels channels) {
  const bool grey = channels == Channels::grey || channels == Channels::grey_alpha;
  return fmt::format("{}-bit {}{}", bits, is_float ? "float " : "", grey ? "grey" : "RGB");
}

Status check_size(const EncodedFile& encoded, int64_t width, int64_t height) {
  const PictureLimits& limits = encoded.limits;
  if (width < 1 || height < 1) {
    return Status(StatusCode::input, fmt::format("'{}' declares a picture of {}x{} pixels; at least 1x1 is needed",
                                                 encoded.name, width, height));
  }
  if (width > limits.maximum_side || height > limits.maximum_side) {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' declares {}x{} pixels, more than the limit of {} on a side; use a smaller picture",
                              encoded.name, width, height, limits.maximum_side));
  }
  if (width * height > limits.maximum_pixels) {
    return too_big(encoded, fmt::format("declares {}x{} = {} pixels, more than the limit of {}", width, height,
                                        width * height, limits.maximum_pixels));
  }
  return {};
}

Status check_memory(const EncodedFile& encoded, int64_t width, int64_t height, int64_t bytes) {
  if (encoded.asked != nullptr && bytes > encoded.asked->bytes) *encoded.asked = {width, height, bytes};
  if (bytes <= encoded.limits.maximum_decoded_bytes) return {};
  return too_big(encoded, fmt::format("({}x{} pixels) needs {} bytes to decode, more than the limit of {}", width,
                                      height, bytes, encoded.limits.maximum_decoded_bytes));
}

Result<Picture> make_picture(const EncodedFile& encoded, std::string_view format, const Shape& shape,
                             int64_t working_bytes) {
  if (const Status status = check_size(encoded, shape.width, shape.height); !status.ok()) return status;
  Result<Picture> picture = allocate(encoded, static_cast<int>(shape.width), static_cast<int>(shape.height),
                                     shape.channels, shape.type, working_bytes);
  if (picture.ok()) tell_shape(format, shape, *picture);
  return picture;
}

Result<Picture> picture_in_file(const EncodedFile& encoded, std::string_view format, const Shape& shape,
                                Bytes samples) {
  if (Status status = check_size(encoded, shape.width, shape.height); !status.ok()) return status;
  const auto bytes = static_cast<int64_t>(samples.size());
  if (Status status = check_memory(encoded, shape.width, shape.height, bytes); !status.ok()) return status;
  Picture picture;
  picture.pixels = encoded.memory;
  picture.view = interleaved_view(samples.data(), static_cast<int>(shape.width), static_cast<int>(shape.height),
                                  shape.channels, shape.type);
  tell_shape(format, shape, picture);
  return picture;
}

std::byte* row_of(Picture& picture, int64_t y) {
  const ptrdiff_t first = picture.view.planes[0] - picture.pixels.get();
  return picture.pixels.get() + first + y * picture.view.row_stride;
}

void crop(Picture& picture, int64_t x, int64_t y, int64_t width, int64_t height) {
  ImageView& view = picture.view;
  for (int c = 0; c < view.channel_count(); ++c) {
    view.planes[static_cast<size_t>(c)] += y * view.row_stride + x * view.pixel_stride;
  }
  view.width = static_cast<int>(width);
  view.height = static_cast<int>(height);
}

Status turn_upright(const EncodedFile& encoded, Picture& picture, int orientation) {
  if (orientation == 1) return {};
  const ImageView& view = picture.view;
  const bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool transpose = orientation >= 5;
  const int64_t present = int64_t{view.row_stride} * view.height;
  Result<Picture> turned = allocate(encoded, transpose ? view.height : view.width, transpose ? view.width : view.height,
                                    view.channels, view.type, present);
  if (!turned.ok()) return turned.status();
  turned->view.depth = view.depth;
  const auto pixel = static_cast<size_t>(turned->view.pixel_stride);  // without what alpha has left behind
  for (int y = 0; y < view.height; ++y) {
    const std::byte* from = row_of(picture, y);
    const int to_y = mirror_y ? view.height - 1 - y : y;
    for (int x = 0; x < view.width; ++x, from += view.pixel_stride) {
      const int to_x = mirror_x ? view.width - 1 - x : x;
      std::byte* to = row_of(*turned, transpose ? to_x : to_y) + (transpose ? to_y : to_x) * turned->view.pixel_stride;
      std::memcpy(to, from, pixel);
    }
  }
  exchange_pixels(picture, *turned);
  return {};
}

void narrow(Picture& picture, int depth) {
  ImageView& view = picture.view;
  const uint32_t largest = (1u << depth) - 1;
  const auto count = static_cast<size_t>(view.width) * static_cast<size_t>(view.channel_count());
  const auto code_of = [largest](uint32_t sample) { return (2 * sample * largest + 65535) / (2 * 65535); };
  for (int y = 0; y < view.height; ++y) {
    const auto* row = reinterpret_cast<const uint16_t*>(row_of(picture, y));
    const bool stretched = std::all_of(row, row + count, [&](uint32_t sample) {
      const uint32_t expected = (2 * code_of(sample) * 65535 + largest) / (2 * largest);
      return sample + 1 >= expected && sample <= expected + 1;  // a decoder's floats may round either way
    });
    if (!stretched) return;
  }
  for (int y = 0; y < view.height; ++y) {
    auto* row = reinterpret_cast<uint16_t*>(row_of(picture, y));
    std::transform(row, row + count, row, [&](uint32_t sample) { return static_cast<uint16_t>(code_of(sample)); });
  }
  view.depth = depth;
}

Status check_finite(const EncodedFile& encoded, const Picture& picture) {
  const ImageView& view = picture.view;
  if (view.type != SampleType::f32) return {};
  const char* names = view.is_grey() ? "YA" : "RGBA";
  for (int y = 0; y < view.height; ++y) {
    if (view.pixel_stride == view.channel_count() * 4 && is_finite(view.planes[0] + y * view.row_stride, view))
      continue;
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < view.channel_count(); ++c) {
        const double sample = sample_of(view, x, y, c);
        if (std::isfinite(sample)) continue;
        return Status(StatusCode::input,
                      fmt::format("'{}' holds {} in channel {} of pixel ({}, {}), and only finite samples can be "
                                  "compared; repair the picture",
                                  encoded.name, std::isnan(sample) ? "NaN" : "infinity", names[c], x, y));
      }
    }
  }
  return {};
}

Status divide_by_alpha(const EncodedFile& encoded, Picture& picture) {
  const ImageView& view = picture.view;
  const int64_t present = int64_t{view.row_stride} * view.height;
  Result<Picture> straight = allocate(encoded, view.width, view.height, view.channels, SampleType::f32, present);
  if (!straight.ok()) return straight.status();
  const double maximum = view.type == SampleType::f32 ? 1.0 : static_cast<double>((1 << view.depth) - 1);
  const int colours = view.channel_count() - 1;
  for (int y = 0; y < view.height; ++y) {
    auto* to = reinterpret_cast<float*>(row_of(*straight, y));
    for (int x = 0; x < view.width; ++x) {
      const double alpha = sample_of(view, x, y, colours);
      const auto refuse = [&](std::string_view what) {
        return Status(StatusCode::input, fmt::format("'{}' has premultiplied alpha, and its pixel ({}, {}) has {}; "
                                                     "flatten the picture",
                                                     encoded.name, x, y, what));
      };
      if (alpha < 0 || alpha > maximum) return refuse(fmt::format("an alpha of {}, outside 0 .. 1", alpha));
      for (int c = 0; c < colours; ++c) {
        const double premultiplied = sample_of(view, x, y, c);
        if (alpha == 0 && premultiplied != 0) return refuse("colour without alpha");
        const auto colour = static_cast<float>(alpha == 0 ? 0.0 : premultiplied / alpha);
        if (!std::isfinite(colour)) return refuse(fmt::format("an alpha of {}, too small to divide by", alpha));
        *to++ = colour;
      }
      *to++ = static_cast<float>(alpha / maximum);
    }
  }
  exchange_pixels(picture, *straight);
  picture.found.push_back("premultiplied alpha divided out");
  return {};
}

void drop_full_alpha(Picture& picture) {
  ImageView& view = picture.view;
  if (!view.has_alpha()) return;
  const bool opaque = view.type == SampleType::u8    ? is_opaque<uint8_t>(view, 255)
                      : view.type == SampleType::u16 ? is_opaque<uint16_t>(view, (1 << view.depth) - 1)
                                                     : is_opaque<float>(view, 1);
  if (!opaque) return;
  view.planes[static_cast<size_t>(view.channel_count() - 1)] = nullptr;
  view.channels = view.channels == Channels::rgba ? Channels::rgb : Channels::grey;
  std::replace(picture.found.begin(), picture.found.end(), std::string("alpha"),
               std::string("alpha, opaque everywhere"));
}

}  // namespace acuity
