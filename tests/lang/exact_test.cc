// SPDX-License-Identifier: BSD-2-Clause-Patent
// The mathematics of lang/exact.h and the fma of lang/cpu.h, on every target this processor has.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/slow_machine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lang/exact_test.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::exact_test {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"

// Counts are multiples of 16, the largest number of lanes.
void CubeRoot(const float* x, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) store_unaligned(cube_root(load_unaligned(x + i)), to + i);
}
void Log2(const float* x, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) store_unaligned(log_2(load_unaligned(x + i)), to + i);
}
void Exp2(const float* x, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) store_unaligned(exp_2(load_unaligned(x + i)), to + i);
}
void Exp2Minus1(const float* x, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) {
    store_unaligned(exp_2_minus_1(load_unaligned(x + i), real(0.0f)), to + i);
  }
}
void Power(const float* x, const float* y, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) {
    store_unaligned(power(load_unaligned(x + i), load_unaligned(y + i)), to + i);
  }
}
void Fma(const float* a, const float* b, const float* c, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kLanes) {
    store_unaligned(fma(load_unaligned(a + i), load_unaligned(b + i), load_unaligned(c + i)), to + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::exact_test
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "lang/targets.h"

namespace acuity::exact_test {
namespace {

HWY_EXPORT(CubeRoot);
HWY_EXPORT(Log2);
HWY_EXPORT(Exp2);
HWY_EXPORT(Exp2Minus1);
HWY_EXPORT(Power);
HWY_EXPORT(Fma);

using Floats = std::vector<float>;
using Function = void (*)(const float*, float*, size_t);

constexpr uint32_t kLargest = 0x7F7FFFFF;
constexpr uint32_t kSign = 0x80000000;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Floats padded(Floats values) {
  values.resize((values.size() + 15) / 16 * 16, values.back());
  return values;
}

// Every step-th bit pattern, on a slow machine fewer; both ends belong to it.
Floats sweep(uint32_t first, uint32_t last, uint32_t step) {
  if (tests::kSlowMachine) step *= 15;
  Floats values;
  for (uint64_t bits = first; bits < last; bits += step)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  values.push_back(std::bit_cast<float>(last));
  return padded(std::move(values));
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

// Distance in units of the last place a float has at the true value.
double distance(float got, double truth) {
  if (static_cast<double>(got) == truth) return 0;
  int exponent = 0;
  std::frexp(truth, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::abs(static_cast<double>(got) - truth) / unit;
}

Floats evaluate(Function function, const Floats& x) {
  Floats results(x.size());
  function(x.data(), results.data(), x.size());
  return results;
}

// Undoes the choice of a target at the end of a test.
class Exact : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(limit_cpu("").ok()); }

  static void check(Function function, double (*truth)(double), const Floats& x, double bound) {
    const Floats results = evaluate(function, x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = distance(results[i], truth(static_cast<double>(x[i])));
      ASSERT_LE(error, bound) << "at " << x[i];
      worst = std::max(worst, error);
    }
    RecordProperty("worst_error_in_ulp", std::to_string(worst));
  }
};

TEST_F(Exact, CubeRootIsWithinItsBound) {
  check(HWY_DYNAMIC_DISPATCH(CubeRoot), std::cbrt, sweep(0, kLargest, 997), 0.501);
  check(HWY_DYNAMIC_DISPATCH(CubeRoot), std::cbrt, sweep(bits(1.0f), bits(8.0f), 23), 0.501);
}

TEST_F(Exact, CubeRootAtTheEnds) {
  const Floats results = evaluate(HWY_DYNAMIC_DISPATCH(CubeRoot), padded({0.0f, -0.0f, 1.0f, 8.0f, 27.0f, 0x1p-149f}));
  EXPECT_EQ(results[0], 0.0f);
  EXPECT_EQ(results[1], 0.0f);
  EXPECT_EQ(results[2], 1.0f);
  EXPECT_EQ(results[3], 2.0f);
  EXPECT_EQ(results[4], 3.0f);
  EXPECT_EQ(results[5], static_cast<float>(std::cbrt(0x1p-149)));
}

TEST_F(Exact, Log2IsWithinItsBound) {
  check(HWY_DYNAMIC_DISPATCH(Log2), std::log2, sweep(1, kLargest, 997), 0.501);
  check(HWY_DYNAMIC_DISPATCH(Log2), std::log2, sweep(bits(0.7f), bits(1.4143f), 11), 0.501);
  check(HWY_DYNAMIC_DISPATCH(Log2), std::log2, sweep(bits(1.0f) - 100000, bits(1.0f) + 100000, 1), 0.501);
}

TEST_F(Exact, Log2AtTheEnds) {
  const Floats results = evaluate(HWY_DYNAMIC_DISPATCH(Log2), padded({0.0f, 1.0f, 0.5f, 0x1p127f, 0x1p-149f}));
  EXPECT_EQ(results[0], -kInfinity);
  EXPECT_EQ(results[1], 0.0f);
  EXPECT_EQ(results[2], -1.0f);
  EXPECT_EQ(results[3], 127.0f);
  EXPECT_EQ(results[4], -149.0f);
}

TEST_F(Exact, Exp2IsWithinItsBound) {
  const auto function = HWY_DYNAMIC_DISPATCH(Exp2);
  check(function, std::exp2, sweep(0, bits(127.999992f), 997), 0.65);
  check(function, std::exp2, sweep(kSign, bits(-126.0f), 997), 0.65);
  check(function, std::exp2, sweep(bits(0.01f), bits(1.0f), 37), 0.65);
  check(function, std::exp2, sweep(bits(-0.01f), bits(-1.0f), 37), 0.65);
}

TEST_F(Exact, Exp2Minus1IsWithinItsBound) {
  const auto function = HWY_DYNAMIC_DISPATCH(Exp2Minus1);
  const auto truth = [](double x) { return std::expm1(x * 0.693147180559945309417232121458); };
  check(function, truth, sweep(bits(1e-30f), bits(0.5f), 997), 1.0);
  check(function, truth, sweep(bits(-1e-30f), bits(-0.5f), 997), 1.0);
}

TEST_F(Exact, Exp2AtTheEnds) {
  const Floats x = padded({0.0f, 1.0f, -126.0f, std::nextafter(-126.0f, -200.0f), -1e30f, -kInfinity, 128.0f,
                           std::nextafter(128.0f, 0.0f), 1e30f, kInfinity, -130.5f});
  const Floats results = evaluate(HWY_DYNAMIC_DISPATCH(Exp2), x);
  const Floats expected{1.0f,      2.0f,      0x1p-126f, 0,
                        0,         0,         kInfinity, static_cast<float>(std::exp2(127.99999237060546875)),
                        kInfinity, kInfinity, 0};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(results[i], expected[i]) << x[i];
}

// Bases of all magnitudes and exponents that bring the result anywhere a float reaches.
void draw_powers(std::mt19937_64& random, Floats& x, Floats& y) {
  const auto fraction = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 2 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(1 + random() % kLargest))
                      : static_cast<float>(0.5 + fraction());
    const double logarithm = std::log2(static_cast<double>(x[i]));
    const double target = fraction() * 260 - 130;
    y[i] = logarithm == 0 ? 1
           : i % 4 < 2    ? static_cast<float>(target / logarithm)
                          : static_cast<float>(fraction() * 6 - 3);
  }
}

TEST_F(Exact, PowerIsWithinItsBound) {
  std::mt19937_64 random(1);
  Floats x(tests::kSlowMachine ? 1 << 17 : 1 << 21), y(x.size()), results(x.size());
  draw_powers(random, x, y);
  HWY_DYNAMIC_DISPATCH(Power)(x.data(), y.data(), results.data(), x.size());
  int inside = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double truth = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    if (truth < 0x1p-126) {
      // The smallest normal number may be what rounding makes of it.
      ASSERT_TRUE(results[i] == 0 || (results[i] == 0x1p-126f && truth > 0x1.fffffep-127)) << x[i] << " ^ " << y[i];
    } else if (truth >= 0x1.ffffffp127) {
      ASSERT_EQ(results[i], kInfinity) << x[i] << " ^ " << y[i];
    } else {
      ASSERT_LE(distance(results[i], truth), 0.65) << x[i] << " ^ " << y[i];
      ++inside;
    }
  }
  EXPECT_GT(inside, static_cast<int>(x.size() / 2));
}

TEST_F(Exact, PowerAtTheEnds) {
  const Floats x = padded({0, 0, 0, 1, 1, 2, 2, 0.5f, 7, 0x1p-149f, 2, 2, 3});
  const Floats y = padded({0, 0.5f, -1, 3e38f, -3e38f, 3e38f, -3e38f, 3e38f, 0, 0.5f, 127, 128, 2});
  const Floats expected{1, 0, kInfinity, 1, 1, kInfinity, 0, 0, 1, 0x1.6a09e6p-75f, 0x1p127f, kInfinity, 9};
  Floats results(x.size());
  HWY_DYNAMIC_DISPATCH(Power)(x.data(), y.data(), results.data(), x.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(results[i], expected[i]) << x[i] << " ^ " << y[i];
}

TEST_F(Exact, EveryTargetGivesTheSameBits) {
  const Floats positive = sweep(0, kLargest, 16001), negative = sweep(kSign, bits(-200.0f), 16001);
  std::mt19937_64 random(2);
  Floats x(1 << 17), y(x.size());
  draw_powers(random, x, y);

  const auto results = [&](const std::string& target) {
    EXPECT_TRUE(limit_cpu(target).ok());
    std::vector<Floats> all{evaluate(HWY_DYNAMIC_DISPATCH(CubeRoot), positive),
                            evaluate(HWY_DYNAMIC_DISPATCH(Log2), positive),
                            evaluate(HWY_DYNAMIC_DISPATCH(Exp2), positive),
                            evaluate(HWY_DYNAMIC_DISPATCH(Exp2), negative), Floats(x.size())};
    HWY_DYNAMIC_DISPATCH(Power)(x.data(), y.data(), all.back().data(), x.size());
    return all;
  };
  const std::vector<std::string> targets = cpu_targets();
  ASSERT_FALSE(targets.empty());
  const std::vector<Floats> expected = results(targets[0]);
  for (const std::string& target : targets) {
    const std::vector<Floats> got = results(target);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::memcmp(got[i].data(), expected[i].data(), got[i].size() * sizeof(float)), 0)
          << target << ", function " << i;
    }
  }
}

// Triples that a fused multiply-add is hard on, among plain random ones.
void draw_fma(std::mt19937_64& random, Floats& a, Floats& b, Floats& c) {
  const auto any = [&random] { return std::bit_cast<float>(static_cast<uint32_t>(random())); };
  const auto near_one = [&random] { return std::bit_cast<float>(0x3F800000u + static_cast<uint32_t>(random() >> 41)); };
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = any();
    b[i] = any();
    c[i] = any();
    switch (i % 8) {
      case 1:  // cancellation: c is nearly the product
        c[i] = -(a[i] * b[i]);
        break;
      case 2:
        a[i] = near_one();
        b[i] = near_one();
        c[i] = std::nextafter(-(a[i] * b[i]), any());
        break;
      case 3:  // halfway: a product that ends in half a unit of the sum's last place, plus next to nothing
        a[i] = near_one();
        b[i] = 0x1p-24f;
        c[i] = near_one() * (random() % 2 == 0 ? 1.0f : -1.0f);
        break;
      case 4:
        a[i] = 1.0f + static_cast<float>(random() % 4) * 0x1p-23f;
        b[i] = (1.0f - static_cast<float>(random() % 4) * 0x1p-24f) * 0x1p-24f;
        c[i] = near_one() * (random() % 2 == 0 ? 1.0f : -1.0f);
        break;
      case 5:  // subnormal results
        a[i] = near_one() * 0x1p-70f;
        b[i] = near_one() * 0x1p-70f * static_cast<float>(random() % 3);
        c[i] = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0x80FFFFFFu);
        break;
      case 6:  // around overflow
        a[i] = near_one() * 0x1p63f;
        b[i] = near_one() * 0x1p63f;
        c[i] = std::bit_cast<float>((static_cast<uint32_t>(random()) & 0x80FFFFFFu) | 0x7E800000u);
        break;
      case 7:  // a small addend decides the rounding
        a[i] = near_one();
        b[i] = near_one();
        c[i] = std::ldexp(any() > 0 ? 1.0f : -1.0f, -static_cast<int>(random() % 150));
        break;
      default:
        break;
    }
  }
  const Floats special{0.0f,       -0.0f,     1.0f,       -1.0f,           kInfinity,
                       -kInfinity, 0x1p-149f, -0x1p-149f, 0x1.fffffep127f, 0x1p-126f};
  const size_t count = special.size();
  for (size_t i = 0; i < count * count * count; ++i) {
    a[i] = special[i % count];
    b[i] = special[i / count % count];
    c[i] = special[i / count / count];
  }
}

TEST_F(Exact, FmaRoundsOnceOnEveryTarget) {
  std::mt19937_64 random(3);
  Floats a(tests::kSlowMachine ? 1 << 16 : 1 << 20), b(a.size()), c(a.size()), results(a.size());
  draw_fma(random, a, b, c);
  for (const std::string& target : cpu_targets()) {
    ASSERT_TRUE(limit_cpu(target).ok());
    HWY_DYNAMIC_DISPATCH(Fma)(a.data(), b.data(), c.data(), results.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const float expected = std::fma(a[i], b[i], c[i]);
      // A NaN may carry any payload.
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(results[i])) << target << ": " << a[i] << " * " << b[i] << " + " << c[i];
      } else {
        ASSERT_EQ(bits(results[i]), bits(expected)) << target << ": " << a[i] << " * " << b[i] << " + " << c[i];
      }
    }
  }
}

}  // namespace
}  // namespace acuity::exact_test

#endif
