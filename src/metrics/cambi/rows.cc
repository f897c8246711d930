// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cambi/rows.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace acuity::cambi {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<uint16_t>;
using Samples = hn::Vec<Tag>;
constexpr int kStep = static_cast<int>(HWY_LANES(uint16_t));
static_assert(kStep <= kBeyond / 2);

HWY_INLINE Samples at(const uint16_t* from) { return hn::LoadU(Tag(), from); }

void Widen(const uint8_t* from, int width, uint16_t* out) {
  const hn::Rebind<uint8_t, Tag> bytes;
  int x = 0;
  for (; x + kStep <= width; x += kStep) {
    hn::StoreU(hn::ShiftLeft<2>(hn::PromoteTo(Tag(), hn::LoadU(bytes, from + x))), Tag(), out + x);
  }
  for (; x < width; ++x) out[x] = static_cast<uint16_t>(from[x] << 2);
}

uint16_t Narrow(const uint16_t* from, int depth, int width, uint16_t* out) {
  // 9 bits are doubled; what is above 10 is rounded, and may come to 1024.
  const int up = std::max(10 - depth, 0), down = std::max(depth - 10, 0);
  const int half = down > 0 ? 1 << (down - 1) : 0;
  const Tag d;
  Samples most = hn::Zero(d);
  int x = 0;
  for (; x + kStep <= width; x += kStep) {
    const Samples sample = at(from + x);
    most = hn::Max(most, sample);
    // The sum with half a step might not fit into 16 bits; whether it carries is seen from the bit below the result.
    const Samples floor = hn::ShiftRightSame(sample, down);
    const Samples carry = hn::And(hn::ShiftRightSame(sample, std::max(down - 1, 0)), hn::Set(d, half > 0 ? 1 : 0));
    hn::StoreU(hn::ShiftLeftSame(hn::Add(floor, carry), up), d, out + x);
  }
  HWY_ALIGN uint16_t lanes[kStep];
  hn::Store(most, d, lanes);
  uint16_t largest = *std::max_element(lanes, lanes + kStep);
  for (; x < width; ++x) {
    largest = std::max(largest, from[x]);
    out[x] = static_cast<uint16_t>(((from[x] + half) >> down) << up);
  }
  return largest;
}

void AverageRightAndBelow(uint16_t* row, const uint16_t* below, int width) {
  const Tag d;
  const uint16_t corner = row[width - 1];
  if (below == nullptr) {
    for (int x = 0; x < width; x += kStep) {
      hn::StoreU(hn::ShiftRight<1>(hn::Add(at(row + x), at(row + x + 1))), d, row + x);
    }
    row[width - 1] = corner;
    return;
  }
  for (int x = 0; x < width; x += kStep) {
    const Samples upper = hn::Add(at(row + x), at(row + x + 1)), lower = hn::Add(at(below + x), at(below + x + 1));
    hn::StoreU(hn::ShiftRight<2>(hn::Add(upper, lower)), d, row + x);
  }
  row[width - 1] = static_cast<uint16_t>((corner + below[width - 1]) >> 1);
}

void CountEqual(const uint16_t* row, const uint16_t* below, int width, uint16_t* equal, uint16_t* counts) {
  const Tag d;
  const Samples one = hn::Set(d, 1);
  const uint16_t* second = below == nullptr ? row : below;
  for (int x = 0; x < width; x += kStep) {
    const Samples sample = at(row + x);
    const auto same = hn::And(hn::Eq(sample, at(row + x + 1)), hn::Eq(sample, at(second + x)));
    hn::StoreU(hn::IfThenElseZero(same, one), d, equal + x);
  }
  equal[width - 1] = row[width - 1] == second[width - 1] ? 1 : 0;
  std::fill(equal + width, equal + width + 3, uint16_t{0});
  for (int x = 0; x < width; x += kStep) {
    const uint16_t* middle = equal + x;
    const Samples left = hn::Add(hn::Add(at(middle - 3), at(middle - 2)), at(middle - 1));
    const Samples right = hn::Add(hn::Add(at(middle + 1), at(middle + 2)), at(middle + 3));
    hn::StoreU(hn::Add(hn::Add(left, right), at(middle)), d, counts + x);
  }
}

void MoveSums(const uint16_t* added, const uint16_t* removed, int width, uint16_t* sums) {
  const Tag d;
  for (int x = 0; x < width; x += kStep) {
    Samples sum = at(sums + x);
    if (added != nullptr) sum = hn::Add(sum, at(added + x));
    if (removed != nullptr) sum = hn::Sub(sum, at(removed + x));
    hn::StoreU(sum, d, sums + x);
  }
}

void MarkFlat(const uint16_t* row, const uint16_t* sums, int limit, int width, uint16_t* out) {
  const Tag d;
  const Samples bound = hn::Set(d, static_cast<uint16_t>(limit)), flat = hn::Set(d, kFlat);
  for (int x = 0; x < width; x += kStep) {
    const auto marked = hn::IfThenElseZero(hn::Gt(at(sums + x), bound), flat);
    hn::StoreU(hn::Or(at(row + x), marked), d, out + x);
  }
}

void Halve(const uint16_t* row, int width, uint16_t* out) {
  const hn::RepartitionToWide<Tag> pairs;
  const hn::RebindToSigned<decltype(pairs)> numbers;
  const hn::Rebind<uint16_t, decltype(pairs)> half;
  for (int x = 0; x < width; x += kStep / 2) {
    const auto low = hn::And(hn::BitCast(pairs, at(row + 2 * x)), hn::Set(pairs, 0xFFFF));
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(numbers, low)), half, out + x);
  }
}

HWY_INLINE Samples mode_of(Samples a, Samples b, Samples c) {
  const Samples least = hn::Min(hn::Min(a, b), c);
  return hn::IfThenElse(hn::Or(hn::Eq(a, b), hn::Eq(a, c)), a, hn::IfThenElse(hn::Eq(b, c), b, least));
}

void ModeAcross(const uint16_t* row, int width, uint16_t* out) {
  const Tag d;
  const Samples value = hn::Set(d, static_cast<uint16_t>(~kFlat));
  for (int x = 1; x < width - 1; x += kStep) {
    const auto sample = [&](int place) { return hn::And(at(row + place), value); };
    hn::StoreU(mode_of(sample(x - 1), sample(x), sample(x + 1)), d, out + x);
  }
  out[0] = row[0] & static_cast<uint16_t>(~kFlat);
  out[width - 1] = row[width - 1] & static_cast<uint16_t>(~kFlat);
}

void ModeDown(const uint16_t* above, const uint16_t* row, const uint16_t* below, const uint16_t* marks, int width,
              uint16_t* out) {
  const Tag d;
  const Samples flat = hn::Set(d, kFlat);
  for (int x = 0; x < width; x += kStep) {
    const Samples mode = mode_of(at(above + x), at(row + x), at(below + x));
    hn::StoreU(hn::Or(mode, hn::And(at(marks + x), flat)), d, out + x);
  }
}

void ToLevels(const uint16_t* row, const Levels& levels, int width, uint16_t* out) {
  const Tag d;
  const Samples first = hn::Set(d, static_cast<uint16_t>(kFlat + levels.first));
  const Samples count = hn::Set(d, static_cast<uint16_t>(levels.count));
  const Samples raise = hn::Set(d, static_cast<uint16_t>(levels.first_level));
  const Samples none = hn::Set(d, static_cast<uint16_t>(levels.none));
  for (int x = 0; x < width; x += kStep) {
    // Without kFlat the difference wraps around and is no level.
    const Samples level = hn::Sub(at(row + x), first);
    hn::StoreU(hn::IfThenElse(hn::Lt(level, count), hn::Add(level, raise), none), d, out + x);
  }
  std::fill(out + width, out + width + kBeyond / 2, static_cast<uint16_t>(levels.none));
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cambi
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cambi {

HWY_EXPORT(Widen);
HWY_EXPORT(Narrow);
HWY_EXPORT(AverageRightAndBelow);
HWY_EXPORT(CountEqual);
HWY_EXPORT(MoveSums);
HWY_EXPORT(MarkFlat);
HWY_EXPORT(Halve);
HWY_EXPORT(ModeAcross);
HWY_EXPORT(ModeDown);
HWY_EXPORT(ToLevels);

uint16_t to_ten_bits(const void* from, int depth, int width, uint16_t* out) {
  if (depth > 8) return HWY_DYNAMIC_DISPATCH(Narrow)(static_cast<const uint16_t*>(from), depth, width, out);
  HWY_DYNAMIC_DISPATCH(Widen)(static_cast<const uint8_t*>(from), width, out);
  return 0;
}

void average_right_and_below(uint16_t* row, const uint16_t* below, int width) {
  HWY_DYNAMIC_DISPATCH(AverageRightAndBelow)(row, below, width);
}

void count_equal(const uint16_t* row, const uint16_t* below, int width, uint16_t* equal, uint16_t* counts) {
  HWY_DYNAMIC_DISPATCH(CountEqual)(row, below, width, equal, counts);
}

void move_sums(const uint16_t* added, const uint16_t* removed, int width, uint16_t* sums) {
  HWY_DYNAMIC_DISPATCH(MoveSums)(added, removed, width, sums);
}

void mark_flat(const uint16_t* row, const uint16_t* sums, int limit, int width, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(MarkFlat)(row, sums, limit, width, out);
}

void halve(const uint16_t* row, int width, uint16_t* out) { HWY_DYNAMIC_DISPATCH(Halve)(row, width, out); }

void mode_across(const uint16_t* row, int width, uint16_t* out) { HWY_DYNAMIC_DISPATCH(ModeAcross)(row, width, out); }

void mode_down(const uint16_t* above, const uint16_t* row, const uint16_t* below, const uint16_t* marks, int width,
               uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(ModeDown)(above, row, below, marks, width, out);
}

void to_levels(const uint16_t* row, const Levels& levels, int width, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(ToLevels)(row, levels, width, out);
}

}  // namespace acuity::cambi
#endif
