// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/turn.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace acuity {
namespace {

size_t bytes_of_sample(const VideoFormat& format) { return format.depth > 8 ? 2 : 1; }

int sample_at(const uint8_t* row, int x, size_t bytes) {
  if (bytes == 1) return row[x];
  uint16_t sample;
  std::memcpy(&sample, row + ptrdiff_t{2} * x, sizeof sample);
  return sample;
}

void put_sample(uint8_t* row, int x, size_t bytes, int value) {
  const auto sample = static_cast<uint16_t>(value);
  std::memcpy(row + static_cast<size_t>(x) * bytes, &sample, bytes);
}

// A row of colour with a sample for every pixel.
void widen_row(const uint8_t* from, int count, int width, Siting siting, size_t bytes, uint8_t* to) {
  for (int x = 0; x < width; ++x) {
    const int near = x / 2;
    const bool centre = siting == Siting::centre;
    const int other = std::clamp(centre && x % 2 == 0 ? near - 1 : near + 1, 0, count - 1);
    const int weight = centre ? 1 : x % 2 == 0 ? 0 : 2;  // of the other, in quarters
    const int sum = sample_at(from, near, bytes) * (4 - weight) + sample_at(from, other, bytes) * weight;
    put_sample(to, x, bytes, (sum + 2) / 4);
  }
}

void widen(const VideoFormat& format, SampleBytes& samples) {
  const size_t bytes = bytes_of_sample(format), row = static_cast<size_t>(format.width) * bytes;
  const size_t narrow = static_cast<size_t>(format.chroma_width()) * bytes;
  const auto height = static_cast<size_t>(format.height);
  SampleBytes wide(3 * row * height);
  std::copy_n(samples.begin(), row * height, wide.begin());
  for (size_t y = 0; y < 2 * height; ++y) {
    widen_row(samples.data() + row * height + y * narrow, format.chroma_width(), format.width, format.siting, bytes,
              wide.data() + row * (height + y));
  }
  samples = std::move(wide);
}

bool is_widened(const VideoFormat& format, int orientation) {
  return swaps_sides(orientation) && format.subsampling == Subsampling::yuv422;
}

}  // namespace

int orientation_of_matrix(const int32_t* matrix) {
  constexpr int32_t kOne = 1 << 16;
  const std::array<int32_t, 4> parts = {matrix[0], matrix[1], matrix[3], matrix[4]};
  constexpr std::array<std::array<int32_t, 4>, 8> kParts = {{{kOne, 0, 0, kOne},
                                                             {-kOne, 0, 0, kOne},
                                                             {-kOne, 0, 0, -kOne},
                                                             {kOne, 0, 0, -kOne},
                                                             {0, kOne, kOne, 0},
                                                             {0, kOne, -kOne, 0},
                                                             {0, -kOne, -kOne, 0},
                                                             {0, -kOne, kOne, 0}}};
  const auto found = std::find(kParts.begin(), kParts.end(), parts);
  return found == kParts.end() ? 0 : static_cast<int>(found - kParts.begin()) + 1;
}

void turn_plane(const uint8_t* from, int width, int height, size_t sample_bytes, int orientation, uint8_t* to) {
  const bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const size_t columns = static_cast<size_t>(swaps_sides(orientation) ? height : width);
  for (int y = 0; y < height; ++y) {
    const auto to_y = static_cast<size_t>(mirror_y ? height - 1 - y : y);
    for (int x = 0; x < width; ++x, from += sample_bytes) {
      const auto to_x = static_cast<size_t>(mirror_x ? width - 1 - x : x);
      const size_t place = swaps_sides(orientation) ? to_x * columns + to_y : to_y * columns + to_x;
      std::memcpy(to + place * sample_bytes, from, sample_bytes);
    }
  }
}

void turn_format(VideoFormat& format, int orientation) {
  if (is_widened(format, orientation)) format.subsampling = Subsampling::yuv444;
  if (swaps_sides(orientation)) std::swap(format.width, format.height);
}

void turn_planes(Picture& picture, int orientation) {
  ImageView& view = picture.view;
  const auto bytes = static_cast<size_t>(view.pixel_stride);
  const size_t plane = static_cast<size_t>(view.width) * static_cast<size_t>(view.height) * bytes;
  const auto channels = static_cast<size_t>(view.channel_count());
  const std::shared_ptr<std::byte[]> turned(new std::byte[channels * plane]);
  for (size_t c = 0; c < channels; ++c) {
    std::byte* to = turned.get() + c * plane;
    turn_plane(reinterpret_cast<const uint8_t*>(view.planes[c]), view.width, view.height, bytes, orientation,
               reinterpret_cast<uint8_t*>(to));
    view.planes[c] = to;
  }
  picture.pixels = turned;
  if (swaps_sides(orientation)) std::swap(view.width, view.height);
  view.row_stride = view.pixel_stride * view.width;
}

std::string_view describe_turn(int orientation) {
  constexpr std::string_view kNames[] = {"",
                                         "mirrored left to right",
                                         "turned 180 degrees",
                                         "mirrored top to bottom",
                                         "turned 90 degrees clockwise and mirrored left to right",
                                         "turned 90 degrees clockwise",
                                         "turned 90 degrees clockwise and mirrored top to bottom",
                                         "turned 90 degrees anticlockwise"};
  return kNames[orientation - 1];
}

void turn_frame(const VideoFormat& before, int orientation, SampleBytes& samples) {
  VideoFormat format = before;
  if (is_widened(format, orientation)) {
    widen(format, samples);
    format.subsampling = Subsampling::yuv444;
  }
  SampleBytes turned(samples.size());
  const size_t bytes = bytes_of_sample(format);
  size_t at = 0;
  for (int p = 0; p < (format.subsampling == Subsampling::grey ? 1 : 3); ++p) {
    const int width = p == 0 ? format.width : format.chroma_width();
    const int height = p == 0 ? format.height : format.chroma_height();
    turn_plane(samples.data() + at, width, height, bytes, orientation, turned.data() + at);
    at += static_cast<size_t>(width) * static_cast<size_t>(height) * bytes;
  }
  samples = std::move(turned);
}

}  // namespace acuity
