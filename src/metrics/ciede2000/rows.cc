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

void find_linear_light(const PixelRow& row, int begin, int count, float scale, Pixels& pixels) {
  for (int x = 0; x < count; x += kLanes) {
    const auto value = [&](size_t plane) { return load(row[plane] + begin + x) * real(scale); };
    const real luma = value(0), cb = value(1), cr = value(2);
    store(linear_red(luma, cr), pixels.linear[0] + x);
    store(linear_green(luma, cb, cr), pixels.linear[1] + x);
    store(linear_blue(luma, cb), pixels.linear[2] + x);
  }
}

void find_labs(int count, Pixels& pixels) {
  for (int x = 0; x < count; x += kLanes) {
    real l, a, b;
    find_lab(load(pixels.linear[0] + x), load(pixels.linear[1] + x), load(pixels.linear[2] + x), l, a, b);
    store(l, pixels.l + x);
    store(a, pixels.a + x);
    store(b, pixels.b + x);
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
void add_chunk(Pixels& p, Pixels& q, int count, int inside, Parts& parts) {
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
    double* part = parts.data() + x % 16;
    store(load(part) + keep_first(to_wide(difference), inside - x), part);
  }
}

void AddDifferences(const PixelRow& reference, const PixelRow& distorted, float scale, int begin, int inside,
                    Parts& parts) {
  Pixels p, q;
  const int count = (inside + kLanes - 1) / kLanes * kLanes;
  find_linear_light(reference, begin, count, scale, p);
  find_labs(count, p);
  find_linear_light(distorted, begin, count, scale, q);
  find_labs(count, q);
  add_chunk(p, q, count, inside, parts);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::ciede2000
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::ciede2000 {

HWY_EXPORT(AddDifferences);

double sum_of_differences(const PixelRow& reference, const PixelRow& distorted, int depth, int begin, int count) {
  alignas(64) Parts parts{};
  HWY_DYNAMIC_DISPATCH(AddDifferences)
  (reference, distorted, 1.0f / static_cast<float>(1 << (depth - 8)), begin, count, parts);
  for (size_t half = parts.size() / 2; half >= 1; half /= 2) {
    for (size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  }
  return parts[0];
}

}  // namespace acuity::ciede2000
#endif
