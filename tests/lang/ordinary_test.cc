// SPDX-License-Identifier: BSD-2-Clause-Patent
// lang/ordinary.h with the worst reciprocal roots that a device may give.
#include <bit>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "support/slow_machine.h"

namespace acuity {
namespace {

#define FUNCTION inline
#define UNROLL
using real = float;
using whole = int32_t;
using std::fma;
whole bits_of(real a) { return std::bit_cast<whole>(a); }
real from_bits(whole a) { return std::bit_cast<real>(a); }
#include "lang/ordinary.h"

constexpr uint32_t kDigits = 1 << 23;
constexpr uint32_t kStep = tests::kSlowMachine ? 997 : 1;
constexpr int kWorst = 2;  // units in the last place that Vulkan allows a reciprocal root

real number(int exponent, uint32_t digits) { return from_bits(static_cast<whole>((127 + exponent) << 23 | digits)); }
real root_near(real a, int units) { return from_bits(bits_of(static_cast<real>(1.0 / std::sqrt(double{a}))) + units); }

// Two neighbouring exponents, because a root halves them. The last numbers are those whose digits are nearly all ones.
template <typename Check>
void for_all_digits(const Check& check) {
  for (const int exponent : {0, 1, -71, 70}) {
    const uint32_t step = exponent == 0 || exponent == 1 ? kStep : 1009;
    for (uint32_t digits = 0; digits < kDigits; digits += step) check(number(exponent, digits));
    for (uint32_t digits = kDigits - 64; digits < kDigits; ++digits) check(number(exponent, digits));
  }
}

TEST(Ordinary, ReciprocalsAreRight) {
  int64_t wrong = 0;
  for_all_digits([&](real b) {
    const real expected = 1.0f / b;
    for (int units = -kWorst; units <= kWorst; ++units) {
      wrong += quotient_from_root(1.0f, b, root_near(b, units)) != expected;
      wrong += quotient_from_root(1.0f, -b, root_near(b, units)) != -expected;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// 2^shift * a = b * middle + rest, where `middle` lies halfway between two floats and `rest` is as small as can be: no
// quotients are harder to round.
TEST(Ordinary, QuotientsNextToTheMiddleOfTwoFloatsAreRight) {
  int64_t wrong = 0, count = 0;
  for (uint64_t b = kDigits + 1; b < 2 * kDigits; b += 2 * kStep) {
    uint64_t inverse = b;  // modulo 2^64, by Newton's steps
    for (int i = 0; i < 6; ++i) inverse *= 2 - b * inverse;
    for (const int shift : {24, 25}) {
      for (const int rest : {-3, -1, 1, 3}) {
        const uint64_t middle = (static_cast<uint64_t>(-int64_t{rest}) * inverse & ((uint64_t{1} << shift) - 1)) |
                                (shift == 24 ? uint64_t{1} << 24 : 0);
        const uint64_t a = (b * middle + static_cast<uint64_t>(int64_t{rest})) >> shift;
        if (middle < 2 * kDigits || a < kDigits || a >= 2 * kDigits) continue;
        const real dividend = static_cast<real>(a), divisor = static_cast<real>(b);
        ++count;
        wrong += quotient_from_root(dividend, divisor, root_near(divisor, 0)) != dividend / divisor;
      }
    }
  }
  EXPECT_GT(count, kDigits / kStep / 2);
  EXPECT_EQ(wrong, 0);
}

TEST(Ordinary, NothingDividedIsNothing) { EXPECT_EQ(quotient_from_root(0.0f, 3.0f, root_near(3.0f, 1)), 0.0f); }

TEST(Ordinary, RootsAreRight) {
  int64_t wrong = 0;
  for_all_digits([&](real a) {
    for (int units = -kWorst; units <= kWorst; ++units) {
      wrong += root_from_root(a, root_near(a, units)) != std::sqrt(a);
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace acuity
