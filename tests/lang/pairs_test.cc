// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where lang/pairs.h puts sums of pairs and packed values, on every target this processor has.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lang/pairs_test.cc"
#include <hwy/foreach_target.h>

#include "lang/pairs.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::pairs_test {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

// Counts are multiples of 32, the largest number of 16-bit lanes.
void SumPairs(const int16_t* a, const int16_t* b, int32_t start, int times, int32_t* sums, size_t count) {
  const ShortTag d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    PairSums pairs(start);
    for (int k = 0; k < times; ++k) pairs.add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(pairs.sum(), LongTag(), sums + i / 2);
  }
}

// By way of pairs of a value and a zero.
void TakeApartAndPack(const int16_t* values, int16_t* packed, size_t count) {
  const ShortTag d;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Short value = hn::LoadU(d, values + i);
    const auto widened = [](Short pair) { return hn::BitCast(LongTag(), pair); };
    const Long lower = widened(hn::InterleaveLower(d, hn::Zero(d), value));
    const Long upper = widened(hn::InterleaveUpper(d, hn::Zero(d), value));
    hn::StoreU(pack(hn::ShiftRight<13>(lower), hn::ShiftRight<13>(upper)), d, packed + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::pairs_test
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "lang/targets.h"

namespace acuity::pairs_test {
namespace {

HWY_EXPORT(SumPairs);
HWY_EXPORT(TakeApartAndPack);

constexpr size_t kCount = 1024;
using Values = std::array<int16_t, kCount>;

// Undoes the choice of a target at the end of a test.
class Pairs : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(limit_cpu("").ok()); }

  Values any() {
    Values values;
    for (int16_t& value : values) value = static_cast<int16_t>(numbers_());
    return values;
  }

 private:
  std::mt19937 numbers_{1};
};

TEST_F(Pairs, AreSummedInTheirPlaceFromAnyStart) {
  const Values a = any(), b = any();
  for (const std::string& target : cpu_targets()) {
    ASSERT_TRUE(limit_cpu(target).ok());
    for (const int times : {0, 1, 3}) {
      std::array<int32_t, kCount / 2> sums;
      HWY_DYNAMIC_DISPATCH(SumPairs)(a.data(), b.data(), 1234567, times, sums.data(), kCount);
      for (size_t i = 0; i < sums.size(); ++i) {
        const int64_t pair = int64_t{a[2 * i]} * b[2 * i] + int64_t{a[2 * i + 1]} * b[2 * i + 1];
        ASSERT_EQ(sums[i], static_cast<int32_t>(1234567 + times * pair)) << target << ", pair " << i;
      }
    }
  }
}

TEST_F(Pairs, ArePackedIntoThePlacesTheyWereTakenFrom) {
  const Values values = any();
  for (const std::string& target : cpu_targets()) {
    ASSERT_TRUE(limit_cpu(target).ok());
    Values packed;
    HWY_DYNAMIC_DISPATCH(TakeApartAndPack)(values.data(), packed.data(), kCount);
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(packed[i], std::clamp(8 * values[i], -32768, 32767)) << target << ", value " << i;
    }
  }
}

}  // namespace
}  // namespace acuity::pairs_test
#endif
