// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ciede2000/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/ciede2000/rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/wide.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::ciede2000 {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/ciede2000/functions.h"
#include "metrics/ciede2000/math.h"

// Some pixels, from step to step. Short loops over all of them keep the processor busier than one long chain of
// operations a pixel.
struct alignas(64) Pixels {
  double linear[3][kChunk];
  float l[kChunk], a[kChunk], b[kChunk], chroma[kChunk], hue[kChunk];
};

void find_linear_light(const PixelRow& row, int begin, int count, const Channels& channels, Pixels& pixels) {
  for (int x = 0; x < count; x += kLanes) {
    const real luma = load(row[0] + begin + x), cb = load(row[1] + begin + x), cr = load(row[2] + begin + x);
    const wide wide_luma = to_wide(luma), wide_cb = to_wide(cb), wide_cr = to_wide(cr);
    // Red has no Cb in it, and blue no Cr.
    const auto convert = [&](const Channels::Sample& of, bool has_cb, bool has_cr, double* to) {
      wide fine = wide_luma * wide(of.luma) + wide(of.offset);
      real rough = fma(luma, real(static_cast<float>(of.luma)), real(static_cast<float>(of.offset)));
      if (has_cb) fine = fine + wide_cb * wide(of.cb), rough = fma(cb, real(static_cast<float>(of.cb)), rough);
      if (has_cr) fine = fine + wide_cr * wide(of.cr), rough = fma(cr, real(static_cast<float>(of.cr)), rough);
      store(linear_light(fine, rough), to + x);
    };
    convert(channels.of[0], false, true, pixels.linear[0]);
    convert(channels.of[1], true, true, pixels.linear[1]);
    convert(channels.of[2], true, false, pixels.linear[2]);
  }
}

void find_lab(int count, Pixels& pixels) {
  constexpr double kScale = 1.0 / POWER_SCALE, kX = kScale / 0.95047, kZ = kScale / 1.08883;
  for (int x = 0; x < count; x += kLanes) {
    const wide red = load(pixels.linear[0] + x), green = load(pixels.linear[1] + x), blue = load(pixels.linear[2] + x);
    const auto mix = [&](double r, double g, double b) {
      return lightness(red * wide(r) + green * wide(g) + blue * wide(b));
    };
    const real fx = mix(0.4124564390896921 * kX, 0.357576077643909 * kX, 0.18043748326639894 * kX);
    const real fy = mix(0.21267285140562248 * kScale, 0.715152155287818 * kScale, 0.07217499330655958 * kScale);
    const real fz = mix(0.019333895582329317 * kZ, 0.119192025881303 * kZ, 0.9503040785363677 * kZ);
    store(fma(real(116.0f), fy, real(-16.0f)), pixels.l + x);
    store(scaled_difference(real(500.0f), fx, fy), pixels.a + x);
    store(scaled_difference(real(200.0f), fy, fz), pixels.b + x);
  }
}

void find_polar(int count, Pixels& pixels) {
  for (int x = 0; x < count; x += kLanes) {
    const real a = load(pixels.a + x), b = load(pixels.b + x);
    store(length(a, b), pixels.chroma + x);
    store(hue_of(a, b), pixels.hue + x);
  }
}

// Pixels past `inside` are computed, and do not count.
void add_chunk(Pixels& p, Pixels& q, int count, int inside, Sums& sums) {
  alignas(64) float least_chroma[kChunk];
  for (int x = 0; x < count; x += kLanes) {
    real a1 = load(p.a + x), a2 = load(q.a + x), least;
    widen(a1, load(p.b + x), a2, load(q.b + x), least);
    store(a1, p.a + x);
    store(a2, q.a + x);
    store(least, least_chroma + x);
  }
  find_polar(count, p);
  find_polar(count, q);
  for (int x = 0; x < count; x += kLanes) {
    const real difference = colour_difference(load(p.l + x), load(q.l + x), load(p.chroma + x), load(q.chroma + x),
                                              load(p.hue + x), load(q.hue + x), load(least_chroma + x));
    double* parts = sums.parts.data() + x % 16;
    store(load(parts) + keep_first(to_wide(difference), inside - x), parts);
  }
}

void AddDifferences(const PixelRow& reference, const PixelRow& distorted, const Channels& channels, int begin,
                    int inside, Sums& sums) {
  Pixels p, q;
  const int count = (inside + kLanes - 1) / kLanes * kLanes;
  find_linear_light(reference, begin, count, channels, p);
  find_lab(count, p);
  find_linear_light(distorted, begin, count, channels, q);
  find_lab(count, q);
  add_chunk(p, q, count, inside, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::ciede2000
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::ciede2000 {

HWY_EXPORT(AddDifferences);

double Sums::total() const {
  std::array<double, 16> sums = parts;
  for (size_t half = 8; half >= 1; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

Channels::Channels(int depth) {
  const double step = 1 << (depth - 8);
  const double luma = 1.0 / (219.0 * step * 1.055), chroma = 1.0 / (224.0 * step * 1.055);
  of = {{{luma, 0, 1.28033 * chroma, 0},
         {luma, -0.21482 * chroma, -0.38059 * chroma, 0},
         {luma, 2.12798 * chroma, 0, 0}}};
  for (Sample& channel : of) {
    channel.offset = 0.055 / 1.055 - 16.0 * step * channel.luma - 128.0 * step * (channel.cb + channel.cr);
  }
}

void add_differences(const PixelRow& reference, const PixelRow& distorted, const Channels& channels, int begin,
                     int count, Sums& sums) {
  HWY_DYNAMIC_DISPATCH(AddDifferences)(reference, distorted, channels, begin, count, sums);
}

}  // namespace acuity::ciede2000
#endif
