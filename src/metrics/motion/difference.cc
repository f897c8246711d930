// SPDX-License-Identifier: BSD-2-Clause-Patent
// A blur is linear, so the frames are subtracted first and their difference is blurred: downwards, rounded, then along
// the row, rounded again. The taps are 3571, 16004, 26386, 16004, 3571 in 65536ths.
//
// A weighted sum T of five values of 17 bits has 34 bits. Only its shifted form is wanted, floor((T + half) / 2^n), and
// for that floor(T / 2) does as well as T, which fits 32 bits: all taps but 3571 are even, so that its product alone
// has to be rounded.
#include "metrics/motion/difference.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/try.h"
#include "metrics/frame_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/motion/difference.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::motion {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

constexpr int kReach = 2;

// floor(T / 2), given the values the same taps belong to already added up.
HWY_INLINE whole half_sum(whole outer, whole inner, whole middle) {
  return SHIFT_RIGHT(outer * whole(3571), 1) + inner * whole(8002) + middle * whole(13193);
}

// One row of before - now. Whether any of it is not zero.
template <typename Sample, typename Difference>
HWY_INLINE bool subtract(const Sample* before, const Sample* now, int width, Difference* out) {
  const hn::ScalableTag<Difference> d;
  const hn::Rebind<Sample, decltype(d)> samples;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto widen = [&](const Sample* from) {
    const auto loaded = hn::LoadU(samples, from);
    if constexpr (sizeof(Sample) == sizeof(Difference)) {
      return hn::BitCast(d, loaded);
    } else {
      return hn::PromoteTo(d, loaded);
    }
  };
  auto seen = hn::Zero(d);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto difference = hn::Sub(widen(before + x), widen(now + x));
    hn::Store(difference, d, out + x);
    seen = hn::Or(seen, difference);
  }
  int seen_last = 0;
  for (; x < width; ++x) {
    const int difference = before[x] - now[x];
    out[x] = static_cast<Difference>(difference);
    seen_last |= difference;
  }
  return seen_last != 0 || !hn::AllTrue(d, hn::Eq(seen, hn::Zero(d)));
}

// Five rows of differences blurred downwards.
template <typename Difference>
HWY_INLINE void blur_down(const std::array<const Difference*, kRows>& rows, int width, int shift, int32_t* out) {
  const WholeTag d;
  const hn::Rebind<Difference, WholeTag> narrow;
  const auto half = hn::Set(d, 1 << (shift - 2));
  const auto widen = [&](auto value) {
    if constexpr (sizeof(Difference) == 4) {
      return whole(value);
    } else {
      return whole(hn::PromoteTo(d, value));
    }
  };
  for (int x = 0; x < width; x += kLanes) {
    const auto outer = hn::Add(hn::Load(narrow, rows[0] + x), hn::Load(narrow, rows[4] + x));
    const auto inner = hn::Add(hn::Load(narrow, rows[1] + x), hn::Load(narrow, rows[3] + x));
    const whole sum = half_sum(widen(outer), widen(inner), widen(hn::Load(narrow, rows[2] + x)));
    hn::Store(hn::ShiftRightSame(hn::Add(sum.v, half), shift - 1), d, out + x);
  }
}

// That row blurred along, and its absolute values added up. Two values before and after it are mirrored ones.
HWY_INLINE uint64_t sum_blurred_along(const int32_t* row, int width) {
  const WholeTag d;
  const auto blurred = [&](int x) {
    const auto load = [&](int i) { return whole(hn::LoadU(d, row + x + i)); };
    const whole sum = half_sum(load(-2) + load(2), load(-1) + load(1), load(0));
    return hn::Abs(hn::ShiftRight<15>(hn::Add(sum.v, hn::Set(d, 1 << 14))));
  };
  auto total = hn::Zero(d);
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) total = hn::Add(total, blurred(x));
  if (x < width) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(width - x));
    total = hn::Add(total, hn::IfThenElseZero(inside, blurred(x)));
  }
  return static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(d, total)));
}

template <typename Sample, typename Difference>
uint64_t sum_rows(const FrameView& before, const FrameView& now, const Scratch& scratch) {
  const int width = now.width, height = now.height;
  std::array<Difference*, kRows> ring;
  std::array<bool, kRows> moved{};
  for (size_t i = 0; i < ring.size(); ++i) {
    ring[i] = reinterpret_cast<Difference*>(scratch.differences) + i * scratch.row_values;
    std::fill(ring[i] + width, ring[i] + scratch.row_values, Difference{0});
  }
  const auto row_of = [](const FrameView& frame, int y) {
    return reinterpret_cast<const Sample*>(frame.planes[0] + y * frame.row_strides[0]);
  };
  const auto slot = [](int y) { return static_cast<size_t>(y % kRows); };
  int32_t* blurred = scratch.blurred;
  uint64_t total = 0;
  for (int y = -kReach; y < height; ++y) {
    const int next = y + kReach;
    if (next < height) {
      moved[slot(next)] = subtract(row_of(before, next), row_of(now, next), width, ring[slot(next)]);
    }
    if (y < 0) continue;
    std::array<const Difference*, kRows> rows;
    bool any = false;
    for (int k = 0; k < kRows; ++k) {
      const size_t at = slot(mirrored(y + k - kReach, height));
      rows[static_cast<size_t>(k)] = ring[at];
      any |= moved[at];
    }
    if (!any) continue;
    blur_down(rows, width, now.depth, blurred);
    for (int i = 1; i <= kReach; ++i) {
      blurred[-i] = blurred[i];
      blurred[width - 1 + i] = blurred[width - 1 - i];
    }
    total += sum_blurred_along(blurred, width);
  }
  return total;
}

uint64_t SumBlurredDifference(const FrameView& before, const FrameView& now, const Scratch& scratch) {
  if (now.depth == 8) return sum_rows<uint8_t, int16_t>(before, now, scratch);
  // Two differences of up to 14 bits are added in 16.
  if (now.depth <= 14) return sum_rows<uint16_t, int16_t>(before, now, scratch);
  return sum_rows<uint16_t, int32_t>(before, now, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::motion
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::motion {
HWY_EXPORT(SumBlurredDifference);

Result<BlurredDifference> BlurredDifference::create(int width) {
  constexpr size_t kMargin = 16;   // before the blurred row, for mirrored values; keeps it aligned
  constexpr size_t kOverrun = 64;  // after any row, for those and for what the last vector reaches
  BlurredDifference result;
  result.scratch_.row_values = round_up(static_cast<size_t>(width), 64) + kOverrun;
  const size_t differences = size_t{kRows} * result.scratch_.row_values, blurred = kMargin + result.scratch_.row_values;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(Arena::cost<int32_t>(differences) + Arena::cost<int32_t>(blurred)));
  result.scratch_.differences = result.memory_.take<int32_t>(differences);
  result.scratch_.blurred = result.memory_.take<int32_t>(blurred) + kMargin;
  std::fill_n(result.scratch_.blurred - kMargin, blurred, 0);
  return result;
}

uint64_t BlurredDifference::sum(const FrameView& before, const FrameView& now) {
  return HWY_DYNAMIC_DISPATCH(SumBlurredDifference)(before, now, scratch_);
}

}  // namespace acuity::motion
#endif
