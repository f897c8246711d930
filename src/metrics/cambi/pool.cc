// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#ifndef ACUITY_METRICS_CAMBI_BUCKETS
#define ACUITY_METRICS_CAMBI_BUCKETS
namespace acuity::cambi {

// Floats that are not negative are ordered as their bits are; the upper ones tell them apart roughly.
constexpr int kLowBits = 16;
constexpr int32_t upper_bits(float value) { return std::bit_cast<int32_t>(value) >> kLowBits; }
constexpr int32_t kFirst = upper_bits(0.5f) - 1;  // zeros are taken for this
constexpr int32_t kBuckets = upper_bits(16384.0f) - kFirst;

// Contrasts are 0, or 0.5 and more: whole numbers of these units.
constexpr double kUnits = 0x1p24;

using BucketCounts = std::array<uint32_t, kBuckets>;

struct Above {
  uint64_t sum = 0;
  size_t inside = 0;
};

}  // namespace acuity::cambi
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cambi/pool.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace acuity::cambi {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
constexpr size_t kLanes = HWY_LANES(float);
// Sums of so many values are exact in double, in whichever order.
constexpr size_t kExact = 8192;

HWY_INLINE auto bucket_of(hn::Vec<Tag> values) {
  const hn::RebindToSigned<Tag> di;
  const auto upper = hn::ShiftRight<kLowBits>(hn::BitCast(di, values));
  return hn::Sub(hn::Max(upper, hn::Set(di, kFirst)), hn::Set(di, kFirst));
}

void CountBuckets(const float* values, size_t count, BucketCounts& counts) {
  const hn::RebindToSigned<Tag> di;
  // Several tables, because the same bucket again and again would wait for itself.
  std::array<BucketCounts, 4> tables{};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    HWY_ALIGN int32_t buckets[kLanes];
    hn::Store(bucket_of(hn::LoadU(Tag(), values + i)), di, buckets);
    for (size_t lane = 0; lane < kLanes; ++lane) ++tables[lane % 4][static_cast<size_t>(buckets[lane])];
  }
  for (; i < count; ++i) ++tables[0][static_cast<size_t>(std::max(upper_bits(values[i]), kFirst) - kFirst)];
  for (size_t b = 0; b < counts.size(); ++b) counts[b] = tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}

// The sum of what is in higher buckets; what is in this one is moved to the front.
Above SumAbove(float* values, size_t count, int bucket) {
  const Tag d;
  const hn::Half<Tag> half;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<double, hn::Half<Tag>> dd;
  const auto middle = hn::Set(di, bucket);
  Above above;
  for (size_t begin = 0; begin < count; begin += kExact) {
    const size_t end = std::min(begin + kExact, count);
    auto sum = hn::Zero(dd);
    size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      const auto value = hn::LoadU(d, values + i);
      const auto place = bucket_of(value);
      const auto higher = hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(place, middle)), value);
      sum = hn::Add(sum, hn::PromoteTo(dd, hn::LowerHalf(half, higher)));
      sum = hn::Add(sum, hn::PromoteTo(dd, hn::UpperHalf(half, higher)));
      const auto here = hn::RebindMask(d, hn::Eq(place, middle));
      if (hn::AllFalse(d, here)) continue;
      // Not CompressStore, which takes some processors hundreds of cycles. What is overwritten has been read.
      hn::StoreU(hn::Compress(value, here), d, values + above.inside);
      above.inside += hn::CountTrue(d, here);
    }
    double rest = hn::GetLane(hn::SumOfLanes(dd, sum));
    for (; i < end; ++i) {
      const int place = std::max(upper_bits(values[i]), kFirst) - kFirst;
      if (place > bucket) rest += static_cast<double>(values[i]);
      if (place == bucket) values[above.inside++] = values[i];
    }
    above.sum += static_cast<uint64_t>(rest * kUnits);
  }
  return above;
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cambi
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cambi {

HWY_EXPORT(CountBuckets);
HWY_EXPORT(SumAbove);

double mean_of(uint64_t sum, int64_t count) { return static_cast<double>(sum) / kUnits / static_cast<double>(count); }

uint64_t sum_of_largest(std::span<float> values, int64_t most) {
  const auto wanted = static_cast<size_t>(most);
  const auto sum_above = [](std::span<float> of, int bucket) {
    return HWY_DYNAMIC_DISPATCH(SumAbove)(of.data(), of.size(), bucket);
  };
  if (values.size() <= wanted) return sum_above(values, -1).sum;
  BucketCounts counts{};
  HWY_DYNAMIC_DISPATCH(CountBuckets)(values.data(), values.size(), counts);
  size_t bucket = counts.size(), higher = 0;
  while (higher + counts[--bucket] < wanted) higher += counts[bucket];
  const Above above = sum_above(values, static_cast<int>(bucket));
  const std::span<float> inside = values.first(above.inside), taken = inside.first(wanted - higher);
  if (taken.size() < inside.size()) {
    std::nth_element(inside.begin(), inside.begin() + static_cast<ptrdiff_t>(taken.size()), inside.end(),
                     std::greater<float>());
  }
  return above.sum + sum_above(taken, -1).sum;
}

}  // namespace acuity::cambi
#endif
