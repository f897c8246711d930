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

// Integer samples, as fractions of the largest, to light.
void LookUp(const float* table, float largest, int width, float* samples) {
  for (int x = 0; x < width; x += kLanes) {
    const whole index = to_whole(fma(load(samples + x), real(largest), real(0.5f)));
    store(real(hn::GatherIndex(RealTag(), table, index.v)), samples + x);
  }
}

void ShowLinear(const Photometry& photometry, int width, float* samples) {
  const real exposure = photometry.exposure(), least = photometry.least(), peak = photometry.peak();
  for (int x = 0; x < width; x += kLanes) {
    const real light = min(max(load(samples + x) * exposure, least), peak) + real(photometry.reflection());
    store(light, samples + x);
  }
}

// Light of the scene to light of the display.
void ShowHlg(const Photometry& photometry, int width, float* red, float* green, float* blue) {
  const real exposure = photometry.exposure(), range = photometry.range(), black = photometry.black();
  const bool exposed = photometry.exposure() != 1;
  for (int x = 0; x < width; x += kLanes) {
    const real r = load(red + x), g = load(green + x), b = load(blue + x);
    const real luminance = fma(real(0.0593f), b, fma(real(0.6780f), g, real(0.2627f) * r));
    const real factor = power(luminance, real(photometry.hlg_exponent()));
    const auto show = [&](real scene, float* to) {
      real fraction = factor * scene;
      if (exposed) fraction = min(max(fraction * exposure, real(0.0f)), real(1.0f));
      store((range * fraction + black) + real(photometry.reflection()), to + x);
    };
    show(r, red);
    show(g, green);
    show(b, blue);
  }
}

void MixChannels(const std::array<float, 9>& matrix, int width, float* red, float* green, float* blue) {
  for (int x = 0; x < width; x += kLanes) {
    const real r = load(red + x), g = load(green + x), b = load(blue + x);
    const auto mix = [&](size_t row) {
      return fma(real(matrix[row + 2]), b, fma(real(matrix[row + 1]), g, real(matrix[row]) * r));
    };
    const real first = mix(0), second = mix(3), third = mix(6);
    store(first, red + x);
    store(second, green + x);
    store(third, blue + x);
  }
}

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

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cvvdp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cvvdp {

HWY_EXPORT(LookUp);
HWY_EXPORT(ShowLinear);
HWY_EXPORT(ShowHlg);
HWY_EXPORT(MixChannels);
HWY_EXPORT(ReduceRow);
HWY_EXPORT(ReduceColumns);

void set_ends(float* row, int width) {
  row[-1] = row[0];
  row[-2] = row[1];
  row[width] = row[width + 1] = 0;
}

void mix_rows(const Photometry& photometry, const std::array<float, 9>& matrix, int width,
              const std::array<float*, kStillChannels>& rows) {
  if (photometry.eotf() == Eotf::hlg) HWY_DYNAMIC_DISPATCH(ShowHlg)(photometry, width, rows[0], rows[1], rows[2]);
  HWY_DYNAMIC_DISPATCH(MixChannels)(matrix, width, rows[0], rows[1], rows[2]);
}

Plane Plane::take(Arena& arena, Size size) {
  const size_t stride = row_floats(size.width), floats = stride * static_cast<size_t>(size.height);
  float* first = arena.take<float>(floats);
  std::fill_n(first, floats, 0.0f);
  return {first + kBefore, stride, size};
}

std::vector<float> light_table(const Photometry& photometry, int depth) {
  const int last = (1 << depth) - 1;
  std::vector<float> table;
  for (int code = 0; code <= last; ++code) {
    table.push_back(photometry.light_of(static_cast<float>(code) / static_cast<float>(last)));
  }
  return table;
}

// Most samples are codes even if they need not be.
float PictureReader::light_of(float sample) const {
  const float last = static_cast<float>(table_->size() - 1);
  const int code = static_cast<int>(std::clamp(sample, 0.0f, 1.0f) * last + 0.5f);
  const bool found = static_cast<float>(code) / last == sample;
  return found ? (*table_)[static_cast<size_t>(code)] : photometry_.light_of(sample);
}

ChannelRows PictureReader::read(int y, float* room) const {
  const int width = rows_.width();
  const size_t stride = row_floats(width);
  const std::array<float*, 3> rows = {room + kBefore, room + kBefore + stride, room + kBefore + 2 * stride};
  rows_.read(y, 0, width, rows[0], rows[1], rows[2]);
  for (float* row : rows) {
    std::fill_n(row + width, kBefore, 0.0f);
    if (photometry_.eotf() == Eotf::linear) {
      HWY_DYNAMIC_DISPATCH(ShowLinear)(photometry_, width, row);
    } else if (all_in_table_) {
      HWY_DYNAMIC_DISPATCH(LookUp)(table_->data(), static_cast<float>(table_->size() - 1), width, row);
    } else {
      for (int x = 0; x < width; ++x) row[x] = light_of(row[x]);
    }
  }
  mix_rows(photometry_, matrix_, width, rows);
  for (float* row : rows) set_ends(row, width);
  return {rows[0], rows[1], rows[2], nullptr};
}

constexpr int kHeld = 5;

size_t reduce_scratch_floats(int width) {
  return kStillChannels * row_floats(width) + kChannels * kHeld * row_floats((width + 1) / 2);
}

void reduce_rows(const ChannelReader& scale, Size size, int y_begin, int y_end, const PlaneReader& next,
                 float* scratch) {
  const std::span<const Plane> planes = next.planes();
  const Size out = planes[0].size;
  const size_t stride = row_floats(out.width);
  float* ring = scratch + kStillChannels * row_floats(size.width);
  // Edge rows are repeated outside.
  const auto inside = [&](int y) { return y < 0 ? -1 - y : y < size.height ? y : 2 * size.height - 1 - y; };
  const auto held = [&](size_t channel, int y) {
    return ring + (channel * kHeld + static_cast<size_t>(inside(y) % kHeld)) * stride;
  };
  int made = std::max(2 * y_begin - 2, 0);
  for (int y = y_begin; y < y_end; ++y) {
    for (; made <= std::min(2 * y + 2, size.height - 1); ++made) {
      const ChannelRows rows = scale.read(made, scratch);
      for (size_t c = 0; c < planes.size(); ++c) {
        const float* in = rows[c];
        float* to = held(c, made);
        HWY_DYNAMIC_DISPATCH(ReduceRow)(in, out.width, to);
        // The reference decides by the number of rows how the right edge continues.
        const float edge = in[size.width - 1], before = in[size.width - 2];
        to[out.width - 1] += size.height % 2 == 0 ? 0.05f * edge : 0.25f * edge + 0.05f * before;
      }
    }
    for (size_t c = 0; c < planes.size(); ++c) {
      const float* const rows[kHeld] = {held(c, 2 * y - 2), held(c, 2 * y - 1), held(c, 2 * y), held(c, 2 * y + 1),
                                        held(c, 2 * y + 2)};
      float* to = planes[c].row(y);
      HWY_DYNAMIC_DISPATCH(ReduceColumns)(rows, out.width, to);
      set_ends(to, out.width);
    }
  }
}

}  // namespace acuity::cvvdp
#endif
