// SPDX-License-Identifier: BSD-2-Clause-Patent
// A blur is linear, so the frames are subtracted first and their difference is blurred: downwards, rounded, then along
// the row, rounded again.
//
// Where no difference reaches half the range, which is the rule, values have 16 bits and a weighted sum has 32.
// Processors multiply such values in pairs and add up the products at once.
#include "metrics/motion/difference.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/try.h"
#include "frames/frame_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/motion/difference.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/pairs.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::motion {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

constexpr int kReach = 2;

#include "metrics/motion/math.h"

// What a row of differences holds: zeros only, or values below half the range of samples, or any.
enum class Magnitude : uint8_t { none, small, any };

// One row of before - now; `half` is half the range.
template <typename Sample, typename Difference>
HWY_INLINE Magnitude subtract(const Sample* before, const Sample* now, int width, int half, Difference* out) {
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
  auto most = hn::Zero(d);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto difference = hn::Sub(widen(before + x), widen(now + x));
    hn::Store(difference, d, out + x);
    most = hn::Max(most, hn::Abs(difference));
  }
  int most_last = 0;
  for (; x < width; ++x) {
    const int difference = before[x] - now[x];
    out[x] = static_cast<Difference>(difference);
    most_last = std::max(most_last, std::abs(difference));
  }
  if (most_last >= half || !hn::AllTrue(d, hn::Lt(most, hn::Set(d, static_cast<Difference>(half)))))
    return Magnitude::any;
  return most_last == 0 && hn::AllTrue(d, hn::Eq(most, hn::Zero(d))) ? Magnitude::none : Magnitude::small;
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

// The same for small differences.
// Two taps for each pair of values.
HWY_INLINE Short taps(int first, int second) {
  return hn::BitCast(ShortTag(), hn::Set(WholeTag(), second << 16 | first));
}

HWY_INLINE void blur_down(const std::array<const int16_t*, kRows>& rows, int width, int shift, int16_t* out) {
  const ShortTag d;
  const auto taps_of_pairs = taps(3571, 16004), tap_of_middle = taps(26386, 0);
  for (int x = 0; x < width; x += 2 * kLanes) {
    const auto outer = hn::Add(hn::Load(d, rows[0] + x), hn::Load(d, rows[4] + x));
    const auto inner = hn::Add(hn::Load(d, rows[1] + x), hn::Load(d, rows[3] + x));
    const auto middle = hn::Load(d, rows[2] + x);
    PairSums lower(1 << (shift - 1)), upper(1 << (shift - 1));
    lower.add(hn::InterleaveLower(d, outer, inner), taps_of_pairs);
    lower.add(hn::InterleaveLower(d, middle, middle), tap_of_middle);
    upper.add(hn::InterleaveUpper(d, outer, inner), taps_of_pairs);
    upper.add(hn::InterleaveUpper(d, middle, middle), tap_of_middle);
    hn::Store(pack(hn::ShiftRightSame(lower.sum(), shift), hn::ShiftRightSame(upper.sum(), shift)), d, out + x);
  }
}

HWY_INLINE uint64_t sum_blurred_along(const int16_t* row, int width) {
  const ShortTag d;
  constexpr int kAcross = 2 * kLanes;
  const auto outer_inner = taps(3571, 16004), middle_inner = taps(26386, 16004), outer_only = taps(3571, 0);
  const auto none_outer = taps(0, 3571), inner_middle = taps(16004, 26386), inner_outer = taps(16004, 3571);
  const auto blurred = [&](int x) {
    const auto before = hn::LoadU(d, row + x - 2), here = hn::Load(d, row + x), after = hn::LoadU(d, row + x + 2);
    PairSums even(1 << 15), odd(1 << 15);  // for pixels at even and at odd places
    even.add(before, outer_inner);
    even.add(here, middle_inner);
    even.add(after, outer_only);
    odd.add(before, none_outer);
    odd.add(here, inner_middle);
    odd.add(after, inner_outer);
    const auto low = hn::BitCast(d, hn::ShiftRight<16>(even.sum())), high = hn::BitCast(d, odd.sum());
    return hn::Abs(hn::OddEven(high, low));
  };
  const auto ones = hn::Set(d, 1);
  PairSums total(0);
  int x = 0;
  for (; x + kAcross <= width; x += kAcross) total.add(blurred(x), ones);
  if (x < width) total.add(hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(width - x)), blurred(x)), ones);
  return static_cast<uint32_t>(hn::GetLane(hn::SumOfLanes(WholeTag(), total.sum())));
}

// Five rows of differences to the sum of the one they surround.
template <typename Difference, typename Blurred>
HWY_INLINE uint64_t sum_row(const std::array<const Difference*, kRows>& rows, int width, int depth, Blurred* blurred) {
  blur_down(rows, width, depth, blurred);
  for (int i = 1; i <= kReach; ++i) {
    blurred[-i] = blurred[i];
    blurred[width - 1 + i] = blurred[width - 1 - i];
  }
  return sum_blurred_along(blurred, width);
}

template <typename Sample, typename Difference>
uint64_t sum_rows(const FrameView& before, const FrameView& now, const Scratch& scratch) {
  const int width = now.width, height = now.height;
  std::array<Difference*, kRows> ring;
  std::array<Magnitude, kRows> magnitudes{};
  for (size_t i = 0; i < ring.size(); ++i) {
    ring[i] = static_cast<Difference*>(scratch.differences) + i * scratch.row_values;
    std::fill(ring[i] + width, ring[i] + scratch.row_values, Difference{0});
  }
  const auto row_of = [](const FrameView& frame, int y) {
    return reinterpret_cast<const Sample*>(frame.planes[0] + y * frame.row_strides[0]);
  };
  const auto slot = [](int y) { return static_cast<size_t>(y) % kRows; };
  uint64_t total = 0;
  for (int y = -kReach; y < height; ++y) {
    const int next = y + kReach;
    if (next < height) {
      magnitudes[slot(next)] =
          subtract(row_of(before, next), row_of(now, next), width, 1 << (now.depth - 1), ring[slot(next)]);
    }
    if (y < 0) continue;
    std::array<const Difference*, kRows> rows;
    Magnitude magnitude = Magnitude::none;
    for (size_t k = 0; k < kRows; ++k) {
      const size_t at = slot(mirrored(y + static_cast<int>(k) - kReach, height));
      rows[k] = ring[at];
      magnitude = std::max(magnitude, magnitudes[at]);
    }
    if (magnitude == Magnitude::none) continue;
    if constexpr (sizeof(Difference) == 2) {
      if (magnitude == Magnitude::small) {
        total += sum_row(rows, width, now.depth, static_cast<int16_t*>(scratch.blurred));
        continue;
      }
    }
    total += sum_row(rows, width, now.depth, static_cast<int32_t*>(scratch.blurred));
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
  constexpr size_t kMargin = kAlignment;  // bytes before the blurred row, for mirrored values
  constexpr size_t kOverrun = 64;         // values after any row, for those and for what the last vector reaches
  BlurredDifference result;
  result.scratch_.row_values = round_up(static_cast<size_t>(width), 64) + kOverrun;
  const size_t blurred = kMargin + result.scratch_.row_values * sizeof(int32_t);
  const size_t differences = kRows * result.scratch_.row_values * sizeof(int32_t);
  ACUITY_TRY_ASSIGN(result.memory_,
                    Arena::create(Arena::cost<std::byte>(differences) + Arena::cost<std::byte>(blurred)));
  result.scratch_.differences = result.memory_.take<std::byte>(differences);
  std::byte* row = result.memory_.take<std::byte>(blurred);
  std::fill_n(row, blurred, std::byte{0});
  result.scratch_.blurred = row + kMargin;
  return result;
}

uint64_t BlurredDifference::sum(const FrameView& before, const FrameView& now) {
  return HWY_DYNAMIC_DISPATCH(SumBlurredDifference)(before, now, scratch_);
}

}  // namespace acuity::motion
#endif
