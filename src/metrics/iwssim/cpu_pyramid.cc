// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstdlib>

#include "metrics/iwssim/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/iwssim/cpu_pyramid.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::iwssim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/iwssim/math.h"

HWY_INLINE void load_pairs(const float* from, real& even, real& odd) {
  hn::LoadInterleaved2(RealTag(), from, even.v, odd.v);
}

HWY_INLINE int reflected(int y, int height) {
  const int above = std::abs(y);
  return above < height ? above : 2 * (height - 1) - above;
}

void reduce_row(const float* in, int out_width, float* out) {
  for (int x = 0; x < out_width; x += kLanes) {
    real a, b, c, d, e, beyond;
    load_pairs(in + 2 * x - 2, a, b);
    load_pairs(in + 2 * x, c, d);
    load_pairs(in + 2 * x + 2, e, beyond);
    store(reduce_five(a, b, c, d, e), out + x);
  }
}

void reduce_rows(const Plane& level, int y_begin, int y_end, const Plane& next, float* scratch) {
  constexpr int kHeld = 5;
  const size_t stride = Plane::stride_of(next.size);
  const auto held = [&](int y) {
    return scratch + static_cast<size_t>(reflected(y, level.size.height) % kHeld) * stride;
  };
  int made = std::max(2 * y_begin - 2, 0);
  for (int y = y_begin; y < y_end; ++y) {
    for (; made <= std::min(2 * y + 2, level.size.height - 1); ++made) {
      reduce_row(level.row(made), next.size.width, held(made));
    }
    const float* const rows[kHeld] = {held(2 * y - 2), held(2 * y - 1), held(2 * y), held(2 * y + 1), held(2 * y + 2)};
    float* out = next.row(y);
    for (int x = 0; x < next.size.width; x += kLanes) {
      store(reduced(reduce_five(load(rows[0] + x), load(rows[1] + x), load(rows[2] + x), load(rows[3] + x),
                                load(rows[4] + x))),
            out + x);
    }
    reflect_ends(out, next.size.width);
  }
}

// A row beyond the last is the mirror image of the level above's, which may have an odd or an even length.
HWY_INLINE int expanded_end(int next_length, int length) { return length % 2 == 0 ? next_length - 1 : next_length - 2; }

void subtract_expanded(const Plane& level, int y_begin, int y_end, const Plane& next, float* scratch) {
  float* columns = scratch + Plane::kBefore;
  const int next_width = next.size.width;
  const auto row_of = [&](int y) {
    return next.row(y < 0 ? 1 : y < next.size.height ? y : expanded_end(next.size.height, level.size.height));
  };
  for (int y = y_begin; y < y_end; ++y) {
    const float* before = row_of(y / 2 - 1);
    const float* here = row_of(y / 2);
    const float* after = row_of(y / 2 + 1);
    for (int x = 0; x < next_width; x += kLanes) {
      const real expanded = y % 2 == 0 ? expand_even(load(before + x), load(here + x), load(after + x))
                                       : expand_odd(load(here + x), load(after + x));
      store(expanded, columns + x);
    }
    columns[-1] = columns[1];
    columns[next_width] = columns[expanded_end(next_width, level.size.width)];
    float* out = level.row(y);
    for (int x = 0; x < next_width; x += kLanes) {
      const real behind = load_unaligned(columns + x + 1);
      real even, odd;
      load_pairs(out + 2 * x, even, odd);
      even = subband_of(even, expand_even(load_unaligned(columns + x - 1), load(columns + x), behind));
      odd = subband_of(odd, expand_odd(load(columns + x), behind));
      hn::StoreInterleaved2(even.v, odd.v, RealTag(), out + 2 * x);
    }
  }
}

void halve_rows(const Plane& level, int y_begin, int y_end, const Plane& next) {
  for (int y = y_begin; y < y_end; ++y) {
    const float* upper = level.row(2 * y);
    const float* lower = level.row(std::min(2 * y + 1, level.size.height - 1));
    float* out = next.row(y);
    for (int x = 0; x < next.size.width; x += kLanes) {
      real a, b, c, d;
      load_pairs(upper + 2 * x, a, b);
      load_pairs(lower + 2 * x, c, d);
      store(mean_of_four(a, b, c, d), out + x);
    }
    out[next.size.width] = out[next.size.width - 1];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::iwssim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::iwssim {

HWY_EXPORT(reduce_rows);
HWY_EXPORT(subtract_expanded);
HWY_EXPORT(halve_rows);

Plane Plane::take(Arena& arena, Size size) {
  const size_t stride = stride_of(size);
  Plane plane{arena.take<float>(stride * static_cast<size_t>(size.height)) + kBefore, stride, size};
  for (int y = 0; y < size.height; ++y) {
    std::fill(plane.row(y) - kBefore, plane.row(y), 0.0f);
    std::fill(plane.row(y) + size.width, plane.row(y) - kBefore + stride, 0.0f);
  }
  return plane;
}

// Five rows of the next level; or one, with room before it.
size_t pyramid_scratch_floats(int width) { return 5 * Plane::stride_of({(width + 1) / 2, 1}); }

void reflect_ends(float* row, int width) {
  row[-1] = row[1];
  row[-2] = row[2];
  row[width] = row[width - 2];
  row[width + 1] = row[width - 3];
}

void reduce_rows(const Plane& level, int y_begin, int y_end, const Plane& next, float* scratch) {
  HWY_DYNAMIC_DISPATCH(reduce_rows)(level, y_begin, y_end, next, scratch);
}
void subtract_expanded(const Plane& level, int y_begin, int y_end, const Plane& next, float* scratch) {
  HWY_DYNAMIC_DISPATCH(subtract_expanded)(level, y_begin, y_end, next, scratch);
}
void halve_rows(const Plane& level, int y_begin, int y_end, const Plane& next) {
  HWY_DYNAMIC_DISPATCH(halve_rows)(level, y_begin, y_end, next);
}

}  // namespace acuity::iwssim
#endif
