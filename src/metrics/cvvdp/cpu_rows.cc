// SPDX-License-Identifier: BSD-2-Clause-Patent
// From samples to the channels of the display, and from a scale to the next.
#include <algorithm>

#include "metrics/cvvdp/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cvvdp/cpu_rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::cvvdp {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/cvvdp/math.h"

HWY_INLINE Light light_of(const Photometry& photometry) {
  static_assert(static_cast<int>(Eotf::srgb) == EOTF_SRGB && static_cast<int>(Eotf::gamma) == EOTF_GAMMA &&
                static_cast<int>(Eotf::pq) == EOTF_PQ && static_cast<int>(Eotf::hlg) == EOTF_HLG &&
                static_cast<int>(Eotf::linear) == EOTF_LINEAR);
  return {.eotf = static_cast<int>(photometry.eotf()),
          .exposed = photometry.exposure() != 1,
          .gamma = photometry.gamma(),
          .exposure = photometry.exposure(),
          .range = photometry.range(),
          .black = photometry.black(),
          .reflection = photometry.reflection(),
          .least = photometry.least(),
          .peak = photometry.peak(),
          .hlg_exponent = photometry.hlg_exponent()};
}

// Integer samples, as fractions of the largest, to light.
void LookUp(const float* table, float largest, int width, float* samples) {
  for (int x = 0; x < width; x += kLanes) {
    const whole index = to_whole(fma(load(samples + x), real(largest), real(0.5f)));
    store(real(hn::GatherIndex(RealTag(), table, index.v)), samples + x);
  }
}

void ShowSamples(const Photometry& photometry, int width, float* samples) {
  const Light light = light_of(photometry);
  for (int x = 0; x < width; x += kLanes) store(light_of_sample(light, load(samples + x)), samples + x);
}

// Samples of which many are codes of 8 bits.
void ShowFloats(const Photometry& photometry, const float* table, int width, float* samples) {
  const Light light = light_of(photometry);
  for (int x = 0; x < width; x += kLanes) {
    const real value = load(samples + x);
    const whole code = code_near(value);
    store(select(is_code(value, code), real(hn::GatherIndex(RealTag(), table, code.v)), light_of_sample(light, value)),
          samples + x);
  }
}

void MixChannels(const Photometry& photometry, const std::array<float, 9>& matrix, int width, float* red, float* green,
                 float* blue) {
  const Light light = light_of(photometry);
  for (int x = 0; x < width; x += kLanes) {
    real r = load(red + x), g = load(green + x), b = load(blue + x);
    if (light.eotf == EOTF_HLG) show_hlg(light, r, g, b);
    const auto mix = [&](size_t row) {
      return mix_light(real(matrix[row]), real(matrix[row + 1]), real(matrix[row + 2]), r, g, b);
    };
    const real first = mix(0), second = mix(3), third = mix(6);
    store(first, red + x);
    store(second, green + x);
    store(third, blue + x);
  }
}

// Two floats on either side of `in` are zero.
void ReduceRow(const float* in, int out_width, float* out) {
  for (int x = 0; x < out_width; x += kLanes) {
    real a, b, c, d, e, beyond;
    hn::LoadInterleaved2(RealTag(), in + 2 * x - 2, a.v, b.v);
    hn::LoadInterleaved2(RealTag(), in + 2 * x, c.v, d.v);
    hn::LoadInterleaved2(RealTag(), in + 2 * x + 2, e.v, beyond.v);
    store(reduce_five(a, b, c, d, e), out + x);
  }
}

void ReduceColumns(const float* const* rows, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) {
    store(reduce_five(load(rows[0] + x), load(rows[1] + x), load(rows[2] + x), load(rows[3] + x), load(rows[4] + x)),
          out + x);
  }
}

void AddEdgeOfOdd(const float* edge, const float* inside, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) store(load(out + x) + edge_of_odd(load(edge + x), load(inside + x)), out + x);
}
void AddEdgeOfEven(const float* edge, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) store(load(out + x) + edge_of_even(load(edge + x)), out + x);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cvvdp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cvvdp {

HWY_EXPORT(LookUp);
HWY_EXPORT(ShowSamples);
HWY_EXPORT(ShowFloats);
HWY_EXPORT(MixChannels);
HWY_EXPORT(ReduceRow);
HWY_EXPORT(ReduceColumns);
HWY_EXPORT(AddEdgeOfOdd);
HWY_EXPORT(AddEdgeOfEven);

void mix_rows(const Photometry& photometry, const std::array<float, 9>& matrix, int width,
              const std::array<float*, kStillChannels>& rows) {
  HWY_DYNAMIC_DISPATCH(MixChannels)(photometry, matrix, width, rows[0], rows[1], rows[2]);
}

void look_up(std::span<const float> table, int width, float* samples) {
  HWY_DYNAMIC_DISPATCH(LookUp)(table.data(), static_cast<float>(table.size() - 1), width, samples);
}

void show_samples(const Photometry& photometry, int width, float* samples) {
  HWY_DYNAMIC_DISPATCH(ShowSamples)(photometry, width, samples);
}

Plane Plane::take(Arena& arena, Size size, int ring) {
  const size_t stride = row_floats(size.width), floats = stride * static_cast<size_t>(ring);
  float* first = arena.take<float>(floats);
  std::fill_n(first, floats, 0.0f);
  return {first + kBefore, stride, size, ring};
}

std::vector<float> light_table(const Photometry& photometry, int depth) {
  const int last = (1 << depth) - 1;
  std::vector<float> table;
  for (int code = 0; code <= last; ++code) table.push_back(static_cast<float>(code) / static_cast<float>(last));
  if (depth == 8) {
    for (float& value : table) value = photometry.light_of(value);
    return table;
  }
  // What floats of the same value give.
  const std::vector<float> bytes = light_table(photometry, 8);
  alignas(kAlignment) std::array<float, 256> samples;
  for (auto at = table.begin(); at != table.end(); at += samples.size()) {
    std::copy_n(at, samples.size(), samples.begin());
    HWY_DYNAMIC_DISPATCH(ShowFloats)(photometry, bytes.data(), static_cast<int>(samples.size()), samples.data());
    std::copy(samples.begin(), samples.end(), at);
  }
  return table;
}

ChannelRows PictureReader::read(int y, float* room) const {
  const int width = rows_.width();
  const size_t stride = row_floats(width);
  const std::array<float*, 3> rows = {room + kBefore, room + kBefore + stride, room + kBefore + 2 * stride};
  rows_.read(y, 0, width, rows[0], rows[1], rows[2]);
  for (float* row : rows) {
    std::fill_n(row + width, kBefore, 0.0f);
    if (photometry_.eotf() == Eotf::linear) {
      show_samples(photometry_, width, row);
    } else if (all_in_table_) {
      look_up(*table_, width, row);
    } else {
      HWY_DYNAMIC_DISPATCH(ShowFloats)(photometry_, table_->data(), width, row);
    }
  }
  mix_rows(photometry_, matrix_, width, rows);
  return {rows[0], rows[1], rows[2], nullptr};
}

// What a Reducer has room for: the rows of a picture that it needs at once, a row of zeros, and one down whose columns
// it has gone.
size_t Reducer::scratch_floats(int width) { return (kHeld * kStillChannels + 2) * row_floats(width); }

Reducer::Reducer(const ChannelReader& scale, Size size, const PlaneReader& next, int begin, float* scratch)
    : scale_(scale), size_(size), next_(next), y_(begin), read_(std::max(2 * begin - 2, 0)), scratch_(scratch) {
  std::fill_n(scratch_, 2 * row_floats(size.width), 0.0f);
}

int Reducer::makeable(int rows) const { return rows == size_.height ? (rows + 1) / 2 : std::max(rows - 1, 0) / 2; }

void Reducer::advance(int end) {
  const std::span<const Plane> planes = next_.planes();
  const size_t stride = row_floats(size_.width);
  const int last = size_.height - 1;
  const bool is_odd = size_.height % 2 != 0;
  const float* zeros = scratch_ + kBefore;
  float* column_sums = scratch_ + stride + kBefore;
  for (; y_ < end; ++y_) {
    for (; read_ <= std::min(2 * y_ + 2, last); ++read_) {
      const size_t slot = static_cast<size_t>(read_ % kHeld);
      rows_[slot] = scale_.read(read_, scratch_ + (2 + slot * kStillChannels) * stride);
    }
    for (size_t c = 0; c < planes.size(); ++c) {
      const auto row = [&](int y) { return rows_[static_cast<size_t>(y % kHeld)][c]; };
      const float* around[kHeld];
      for (int k = 0; k < kHeld; ++k) {
        const int y = 2 * y_ - 2 + k;
        around[k] = y < 0 || y > last ? zeros : row(y);
      }
      HWY_DYNAMIC_DISPATCH(ReduceColumns)(around, size_.width, column_sums);
      if (y_ == 0) HWY_DYNAMIC_DISPATCH(AddEdgeOfOdd)(row(0), row(1), size_.width, column_sums);
      if (2 * y_ + 2 > last) {
        if (is_odd) {
          HWY_DYNAMIC_DISPATCH(AddEdgeOfOdd)(row(last), row(last - 1), size_.width, column_sums);
        } else {
          HWY_DYNAMIC_DISPATCH(AddEdgeOfEven)(row(last), size_.width, column_sums);
        }
      }
      const float* ends = column_sums + size_.width;
      column_sums[size_.width] = column_sums[size_.width + 1] = 0;
      float* to = planes[c].row(y_);
      HWY_DYNAMIC_DISPATCH(ReduceRow)(column_sums, planes[c].size.width, to);
      // The reference decides by the number of rows how the right edge continues.
      to[0] += 0.25f * column_sums[0] + 0.05f * column_sums[1];
      to[planes[c].size.width - 1] += is_odd ? 0.25f * ends[-1] + 0.05f * ends[-2] : 0.05f * ends[-1];
    }
  }
}

}  // namespace acuity::cvvdp
#endif
