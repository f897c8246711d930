// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/scale.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/memory.h"
#include "media/scale_rows.h"

namespace acuity {
namespace {

constexpr int kTogether = 32;      // rows of the result that a thread makes at a time
constexpr size_t kVector = 16;     // floats in the widest one
constexpr float kNoAlpha = 1e-6f;  // of floats; below it a pixel has no colour that means anything
constexpr float kMost = 65535;

template <typename Sample>
float sample_at(const std::byte* from) {
  Sample sample;
  std::memcpy(&sample, from, sizeof sample);
  return static_cast<float>(sample);
}

// Pixels of four floats: red, green and blue, or grey in the first, times alpha where there is any, and alpha. The
// numbers are those of the samples, so that integers stay exact.
template <typename Sample>
void load_row(const ImageView& view, int y, float most, float* to) {
  const size_t colours = view.is_grey() ? 1 : 3;
  const float share = 1 / most;
  for (size_t c = 0; c < colours; ++c) {
    const std::byte* from = view.planes[c] + y * view.row_stride;
    for (int x = 0; x < view.width; ++x)
      to[4 * x + static_cast<int>(c)] = sample_at<Sample>(from + x * view.pixel_stride);
  }
  if (!view.has_alpha()) return;
  const std::byte* from = view.planes[colours] + y * view.row_stride;
  for (int x = 0; x < view.width; ++x, to += 4) {
    const float alpha = sample_at<Sample>(from + x * view.pixel_stride);
    for (size_t c = 0; c < colours; ++c) to[c] = to[c] * alpha * share;
    to[3] = alpha;
  }
}

void load_row(const ImageView& view, int y, float most, float* to) {
  switch (view.type) {
    case SampleType::u8:
      return load_row<uint8_t>(view, y, most, to);
    case SampleType::u16:
      return load_row<uint16_t>(view, y, most, to);
    case SampleType::f32:
      return load_row<float>(view, y, most, to);
  }
}

void put_code(std::byte*& to, float value, float most) {
  const auto code = static_cast<uint16_t>(std::clamp(value, 0.0f, most) * (kMost / most) + 0.5f);
  std::memcpy(to, &code, sizeof code);
  to += sizeof code;
}

void put_float(std::byte*& to, float value) {
  std::memcpy(to, &value, sizeof value);
  to += sizeof value;
}

// Filters overshoot: codes are clipped to what there is, as a display does. Floats may be any light.
void store_row(const float* from, const ImageView& source, float most, int width, std::byte* to) {
  const size_t colours = source.is_grey() ? 1 : 3;
  const bool codes = source.type != SampleType::f32;
  for (int x = 0; x < width; ++x, from += 4) {
    if (!source.has_alpha()) {
      for (size_t c = 0; c < colours; ++c) codes ? put_code(to, from[c], most) : put_float(to, from[c]);
      continue;
    }
    const float alpha = from[3];
    const bool visible = codes ? alpha > 0 : alpha > kNoAlpha;
    for (size_t c = 0; c < colours; ++c) {
      const float value = visible ? from[c] * most / alpha : 0;
      codes ? put_code(to, value, most) : put_float(to, value);
    }
    codes ? put_code(to, alpha, most) : put_float(to, visible ? std::min(alpha, 1.0f) : 0);
  }
}

class Scaling {
 public:
  Scaling(const ImageView& from, Scaler scaler, int width, int height)
      : from_(from),
        width_(width),
        height_(height),
        most_(from.type == SampleType::f32 ? 1.0f : static_cast<float>((1 << from.depth) - 1)),
        across_(scale_weights(scaler, from.width, width)),
        down_(scale_weights(scaler, from.height, height)) {}

  void run(std::byte* to, size_t row_bytes, const Threads& threads) const {
    std::atomic<int> next = 0;
    threads.run([&](int) {
      std::vector<float> scratch;
      for (int begin = next.fetch_add(kTogether); begin < height_; begin = next.fetch_add(kTogether)) {
        band(begin, std::min(begin + kTogether, height_), scratch, to, row_bytes);
      }
    });
  }

 private:
  // Rows `begin` to `end` of the result. Each row they are made of is scaled across and added to all that it is a part
  // of, so that no more than one is in memory.
  void band(int begin, int end, std::vector<float>& scratch, std::byte* to, size_t row_bytes) const {
    const auto at = [](int place) { return static_cast<size_t>(place); };
    const size_t stride = round_up(4 * at(width_), kVector);
    const size_t source = round_up(4 * at(from_.width), kVector);
    scratch.resize(source + stride * (1 + kTogether));
    float* row = scratch.data() + source;
    float* sums = row + stride;
    const int last = down_.first[at(end - 1)] + down_.taps;
    int begun = begin;  // rows of the result before this one have got their first row
    int done = begin;   // and before this one their last
    for (int y = down_.first[at(begin)]; y < last; ++y) {
      load_row(from_, y, most_, scratch.data());
      scale_across(scratch.data(), across_, row);
      while (begun < end && down_.first[at(begun)] <= y) ++begun;
      for (int out = done; out < begun; ++out) {
        const int tap = y - down_.first[at(out)];
        const float weight = down_.weights[at(out) * at(down_.taps) + at(tap)];
        add_row(row, weight, tap == 0, 4 * at(width_), sums + at(out - begin) * stride);
      }
      for (; done < begun && down_.first[at(done)] + down_.taps == y + 1; ++done) {
        store_row(sums + at(done - begin) * stride, from_, most_, width_, to + at(done) * row_bytes);
      }
    }
  }

  const ImageView& from_;
  int width_;
  int height_;
  float most_;  // what a sample can be
  ScaleWeights across_;
  ScaleWeights down_;
};

}  // namespace

Result<Picture> scaled(const Picture& picture, int width, int height, Scaler scaler, const Threads& threads,
                       std::string_view name) {
  const ImageView& from = picture.view;
  const SampleType type = from.type == SampleType::f32 ? SampleType::f32 : SampleType::u16;
  const size_t row_bytes =
      static_cast<size_t>(width) * static_cast<size_t>(from.channel_count()) * (type == SampleType::f32 ? 4 : 2);
  Picture result = picture;
  result.pixels.reset(new (std::nothrow) std::byte[row_bytes * static_cast<size_t>(height)]);
  if (!result.pixels) {
    return Status(StatusCode::out_of_memory, fmt::format("out of memory: '{}' needs {} MiB to be scaled to {}x{}", name,
                                                         row_bytes * static_cast<size_t>(height) >> 20, width, height));
  }
  Scaling(from, scaler, width, height).run(result.pixels.get(), row_bytes, threads);
  result.view = interleaved_view(result.pixels.get(), width, height, from.channels, type);
  result.view.colour = from.colour;
  result.found.push_back(describe_scaling(from.width, from.height, width, height, scaler));
  return result;
}

Status unequal_sizes(const std::string& reference_name, int width, int height, const std::string& distorted_name,
                     int distorted_width, int distorted_height) {
  return Status(
      StatusCode::input,
      fmt::format("{} is {}x{} pixels but {} is {}x{}: use --scale dist or --scale ref to bring one to the size of the "
                  "other, or --crop WxH+X+Y,WxH+X+Y to compare a part of each",
                  reference_name, width, height, distorted_name, distorted_width, distorted_height));
}

}  // namespace acuity
