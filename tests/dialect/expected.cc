// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "dialect/expected.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace acuity::tests {
namespace {

using Q = const Question&;

// The parts of a question.
int32_t x(Q q) { return static_cast<int32_t>(q.a); }
int32_t y(Q q) { return static_cast<int32_t>(q.b); }
uint32_t p(Q q) { return static_cast<uint32_t>(q.a); }
uint32_t q(Q q) { return static_cast<uint32_t>(q.b); }
int64_t v(Q q) { return static_cast<int64_t>(q.a); }
int64_t w(Q q) { return static_cast<int64_t>(q.b); }
float r(Q n) { return std::bit_cast<float>(p(n)); }
float s(Q n) { return std::bit_cast<float>(q(n)); }
double d(Q q) { return std::bit_cast<double>(q.a); }
double e(Q q) { return std::bit_cast<double>(q.b); }
int count(Q q) { return static_cast<int>(q.b & 31); }
int count64(Q q) { return static_cast<int>(q.b & 63); }

// Answers.
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }
uint64_t bits(float value) { return static_cast<uint64_t>(int64_t{std::bit_cast<int32_t>(value)}); }
int64_t cut(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

// Where they are defined.
bool fits(int64_t value) { return value == cut(value); }
bool can_add(Q q) {
  int64_t sum = 0;
  return !__builtin_add_overflow(v(q), w(q), &sum);
}
bool can_subtract(Q q) {
  int64_t sum = 0;
  return !__builtin_sub_overflow(v(q), w(q), &sum);
}
bool can_multiply(Q q) {
  int64_t product = 0;
  return !__builtin_mul_overflow(v(q), w(q), &product);
}
/// No kernel is to depend on numbers that are smaller, or on infinity.
bool usual(double value) { return value == 0 || std::isnormal(value); }
bool usual(float value) { return value == 0 || std::isnormal(value); }
bool usual_numbers(Q q) { return usual(d(q)) && usual(e(q)); }
bool fits_real(Q q) { return usual_numbers(q) && std::abs(d(q)) < 0x1p127 && usual(static_cast<float>(d(q))); }
bool ordered(Q q) { return usual_numbers(q) && !(d(q) == 0 && e(q) == 0); }
bool within(double value, double low, double high) { return value > low && value < high; }
bool ordinary(float value) { return within(std::abs(value), 0x1p-100, 0x1p100); }

uint64_t times_and_plus(Q q) {
  const double product = d(q) * e(q);
  return bits(product + d(q));
}
uint64_t tenths(Q q) {
  const double product = d(q) * 1.6;
  return bits(product - 0.1);
}

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

const Operation kSharedIntegers[] = {
    {"whole +", [](Q n) { return bits(int64_t{x(n)} + y(n)); }, [](Q n) { return fits(int64_t{x(n)} + y(n)); }},
    {"whole -", [](Q n) { return bits(int64_t{x(n)} - y(n)); }, [](Q n) { return fits(int64_t{x(n)} - y(n)); }},
    {"whole *", [](Q n) { return bits(int64_t{x(n)} * y(n)); }, [](Q n) { return fits(int64_t{x(n)} * y(n)); }},
    {"whole & ^ |", [](Q n) { return bits(int64_t{x(n) ^ y(n)}); }},
    {"whole <", [](Q n) { return bits(int64_t{x(n) < y(n)}); }},
    {"whole >", [](Q n) { return bits(int64_t{x(n) > y(n)}); }},
    {"whole ==", [](Q n) { return bits(int64_t{x(n) == y(n)}); }},
    {"min whole", [](Q n) { return bits(int64_t{std::min(x(n), y(n))}); }},
    {"max whole", [](Q n) { return bits(int64_t{std::max(x(n), y(n))}); }},
    {"abs whole", [](Q n) { return bits(std::abs(int64_t{x(n)})); }, [](Q n) { return fits(-int64_t{x(n)}); }},
    {"SHIFT_LEFT whole", [](Q n) { return bits(cut(int64_t{x(n)} * 8)); }},
    {"SHIFT_RIGHT whole", [](Q n) { return bits(int64_t{x(n) >> 5}); }},
    {"shift_left whole", [](Q n) { return bits(cut(int64_t{x(n)} << n.bits)); }},
    {"shift_right whole", [](Q n) { return bits(int64_t{x(n)} >> n.bits); }},
    {"shift_left whole by natural", [](Q n) { return bits(cut(int64_t{x(n)} << count(n))); }},
    {"shift_right whole by natural", [](Q n) { return bits(int64_t{x(n)} >> count(n)); }},
    {"to_real whole", [](Q n) { return bits(static_cast<float>(x(n))); }},
    {"to_whole real", [](Q n) { return bits(static_cast<int64_t>(r(n))); },
     [](Q n) { return within(r(n), -2147483648.5, 2147483648.0); }},
    {"natural +", [](Q n) { return uint64_t{p(n) + q(n)}; }},
    {"natural -", [](Q n) { return uint64_t{p(n) - q(n)}; }},
    {"natural *", [](Q n) { return uint64_t{p(n) * q(n)}; }},
    {"natural & ^ |", [](Q n) { return uint64_t{p(n) ^ q(n)}; }},
    {"natural <", [](Q n) { return uint64_t{p(n) < q(n)}; }},
    {"natural >", [](Q n) { return uint64_t{p(n) > q(n)}; }},
    {"natural ==", [](Q n) { return uint64_t{p(n) == q(n)}; }},
    {"min natural", [](Q n) { return uint64_t{std::min(p(n), q(n))}; }},
    {"max natural", [](Q n) { return uint64_t{std::max(p(n), q(n))}; }},
    {"SHIFT_LEFT natural", [](Q n) { return uint64_t{p(n) * 8}; }},
    {"SHIFT_RIGHT natural", [](Q n) { return uint64_t{p(n) / 32}; }},
    {"shift_left natural", [](Q n) { return uint64_t{p(n) << n.bits}; }},
    {"shift_right natural", [](Q n) { return uint64_t{p(n) >> n.bits}; }},
    {"shift_left natural by natural", [](Q n) { return uint64_t{p(n) << count(n)}; }},
    {"shift_right natural by natural", [](Q n) { return uint64_t{p(n) >> count(n)}; }},
    {"two halves in one", [](Q n) { return uint64_t{p(n) % 65536 + q(n) % 65536 * 65536}; }},
    {"the lower half with its sign", [](Q n) { return bits(int64_t{static_cast<int16_t>(n.a)}); }},
    {"natural64 +", [](Q n) { return n.a + n.b; }},
    {"natural64 -", [](Q n) { return n.a - n.b; }},
    {"natural64 & ^ |", [](Q n) { return n.a ^ n.b; }},
    {"natural64 <", [](Q n) { return uint64_t{n.a < n.b}; }},
    {"natural64 ==", [](Q n) { return uint64_t{n.a == n.b}; }},
    {"min natural64", [](Q n) { return std::min(n.a, n.b); }},
    {"max natural64", [](Q n) { return std::max(n.a, n.b); }},
    {"SHIFT_LEFT natural64", [](Q n) { return n.a * 8192; }},
    {"SHIFT_RIGHT natural64", [](Q n) { return n.a / 536870912; }},
    {"shift_left natural64", [](Q n) { return n.a << n.bits; }},
    {"shift_right natural64", [](Q n) { return n.a >> n.bits; }},
    {"shift_left natural64 by natural", [](Q n) { return n.a << count64(n); }},
    {"shift_right natural64 by natural", [](Q n) { return n.a >> count64(n); }},
    {"a natural64 of 64 bits", [](Q n) { return n.a + 1311768467463790320u; }},
    {"whole64 +", [](Q n) { return n.a + n.b; }, can_add},
    {"whole64 -", [](Q n) { return n.a - n.b; }, can_subtract},
    {"whole64 <", [](Q n) { return uint64_t{v(n) < w(n)}; }},
    {"min whole64", [](Q n) { return bits(std::min(v(n), w(n))); }},
    {"max whole64", [](Q n) { return bits(std::max(v(n), w(n))); }},
    {"abs whole64", [](Q n) { return bits(std::abs(v(n))); }, [](Q n) { return v(n) != kSmallest; }},
    {"SHIFT_RIGHT whole64", [](Q n) { return bits(v(n) >> 29); }},
    {"shift_right whole64", [](Q n) { return bits(v(n) >> n.bits); }},
    {"shift_right whole64 by natural", [](Q n) { return bits(v(n) >> count64(n)); }},
    {"multiply_64 whole", [](Q n) { return bits(int64_t{x(n)} * y(n)); }},
    {"multiply_64 natural", [](Q n) { return uint64_t{p(n)} * q(n); }},
    {"to_natural64 natural", [](Q n) { return uint64_t{p(n)}; }},
    {"to_whole64 of natural and whole", [](Q n) { return bits(int64_t{p(n)} - x(n)); }},
    {"a rounded upper product", [](Q n) { return uint64_t{(uint64_t{p(n)} * q(n) + 2147483648u) >> 32}; }},
    {"divide_ordinary", [](Q n) { return bits(r(n) / s(n)); },
     [](Q n) { return ordinary(r(n)) && ordinary(s(n)) && ordinary(r(n) / s(n)); }},
    {"sqrt_ordinary", [](Q n) { return bits(std::sqrt(r(n))); }, [](Q n) { return ordinary(r(n)) && r(n) > 0; }},
};

const Operation kSharedWides[] = {
    {"wide +", [](Q n) { return bits(d(n) + e(n)); }, [](Q n) { return usual_numbers(n) && usual(d(n) + e(n)); }},
    {"wide -", [](Q n) { return bits(d(n) - e(n)); }, [](Q n) { return usual_numbers(n) && usual(d(n) - e(n)); }},
    {"wide *", [](Q n) { return bits(d(n) * e(n)); }, [](Q n) { return usual_numbers(n) && usual(d(n) * e(n)); }},
    {"divide wide", [](Q n) { return bits(d(n) / e(n)); },
     [](Q n) { return usual_numbers(n) && e(n) != 0 && usual(d(n) / e(n)); }},
    {"sqrt abs wide", [](Q n) { return bits(std::sqrt(std::abs(d(n)))); }, usual_numbers},
    {"- wide", [](Q n) { return bits(-d(n)); }, usual_numbers},
    {"min wide", [](Q n) { return bits(std::min(d(n), e(n))); }, ordered},
    {"max wide", [](Q n) { return bits(std::max(d(n), e(n))); }, ordered},
    {"wide <", [](Q n) { return bits(d(n) < e(n) ? 1.0 : 0.0); }, usual_numbers},
    {"wide >", [](Q n) { return bits(d(n) > e(n) ? 1.0 : 0.0); }, usual_numbers},
    {"wide <=", [](Q n) { return bits(d(n) <= e(n) ? 1.0 : 0.0); }, usual_numbers},
    {"wide >=", [](Q n) { return bits(d(n) >= e(n) ? 1.0 : 0.0); }, usual_numbers},
    {"wide ==", [](Q n) { return bits(d(n) == e(n) ? 1.0 : 0.0); }, usual_numbers},
    {"wide * +, not fused", times_and_plus,
     [](Q n) { return usual_numbers(n) && usual(d(n) * e(n)) && usual(std::bit_cast<double>(times_and_plus(n))); }},
    {"WIDE", tenths, [](Q n) { return usual_numbers(n) && usual(std::bit_cast<double>(tenths(n))); }},
    {"a whole number by 1.5 * 2^52", [](Q n) { return bits(std::nearbyint(d(n)) + 0.0); },
     [](Q n) { return usual_numbers(n) && within(d(n), -0x1p50, 0x1p50); }},
    {"to_real wide", [](Q n) { return bits(static_cast<float>(d(n))); }, fits_real},
    {"to_wide real", [](Q n) { return bits(static_cast<double>(r(n))); }, [](Q n) { return usual(r(n)); }},
    {"to_wide whole", [](Q n) { return bits(static_cast<double>(x(n))); }},
    {"to_wide natural", [](Q n) { return bits(static_cast<double>(p(n))); }},
    {"to_wide whole64", [](Q n) { return bits(static_cast<double>(v(n))); }},
    {"to_whole wide", [](Q n) { return bits(static_cast<int64_t>(d(n))); },
     [](Q n) { return within(d(n), -2147483649.0, 2147483648.0); }},
    {"to_whole64 wide", [](Q n) { return bits(static_cast<int64_t>(d(n))); },
     [](Q n) { return within(d(n), -0x1p63, 0x1p63); }},
    {"to_wide to_real wide", [](Q n) { return bits(static_cast<double>(static_cast<float>(d(n)))); }, fits_real},
    {"bits_of_wide", [](Q n) { return bits(v(n) >> 52); }, usual_numbers},
};

uint64_t order_of(auto a, auto b) { return a < b ? 1 : 2; }

const Operation kKernelIntegers[] = {
    {"whole /", [](Q n) { return bits(int64_t{x(n)} / y(n)); },
     [](Q n) { return y(n) != 0 && fits(int64_t{x(n)} / y(n)); }},
    {"whole %", [](Q n) { return bits(int64_t{x(n) % y(n)}); }, [](Q n) { return x(n) >= 0 && y(n) > 0; }},
    {"clamp whole", [](Q n) { return bits(int64_t{std::clamp(x(n), -1000, 1000000)}); }},
    {"whole <= >= !=", [](Q n) { return order_of(x(n), y(n)); }},
    {"natural /", [](Q n) { return uint64_t{p(n) / q(n)}; }, [](Q n) { return q(n) != 0; }},
    {"natural %", [](Q n) { return uint64_t{p(n) % q(n)}; }, [](Q n) { return q(n) != 0; }},
    {"clamp natural", [](Q n) { return uint64_t{std::clamp(p(n), 1000u, 3000000000u)}; }},
    {"natural <= >= !=", [](Q n) { return order_of(p(n), q(n)); }},
    {"natural ~", [](Q n) { return uint64_t{~p(n)}; }},
    {"leading_zeros natural", [](Q n) { return static_cast<uint64_t>(std::countl_zero(p(n))); }},
    {"leading_zeros natural64", [](Q n) { return static_cast<uint64_t>(std::countl_zero(n.a)); }},
    {"count_ones", [](Q n) { return static_cast<uint64_t>(std::popcount(p(n))); }},
    {"natural64 *", [](Q n) { return n.a * n.b; }},
    {"natural64 /", [](Q n) { return n.a / n.b; }, [](Q n) { return n.b != 0; }},
    {"natural64 %", [](Q n) { return n.a % n.b; }, [](Q n) { return n.b != 0; }},
    {"whole64 *", [](Q n) { return bits(v(n) * w(n)); }, can_multiply},
    {"whole64 /", [](Q n) { return bits(v(n) / w(n)); },
     [](Q n) { return w(n) != 0 && (w(n) != -1 || v(n) != kSmallest); }},
    {"clamp whole64", [](Q n) { return bits(std::clamp(v(n), int64_t{-5000000000}, int64_t{6000000000})); }},
    {"whole64 <= >= !=", [](Q n) { return order_of(v(n), w(n)); }},
    {"to_real natural", [](Q n) { return bits(static_cast<float>(p(n))); }},
    {"to_real whole64", [](Q n) { return bits(static_cast<float>(v(n))); }},
    {"to_real natural64", [](Q n) { return bits(static_cast<float>(n.a)); }},
    {"to_natural real", [](Q n) { return uint64_t{static_cast<uint32_t>(r(n))}; },
     [](Q n) { return within(r(n), -0.5, 0x1p32); }},
    {"to_whole64 real", [](Q n) { return bits(static_cast<int64_t>(r(n))); },
     [](Q n) { return within(r(n), -0x1p63, 0x1p63); }},
    {"to_natural64 real", [](Q n) { return static_cast<uint64_t>(r(n)); },
     [](Q n) { return within(r(n), -0.5, 0x1p64); }},
    {"natural64 += *=", [](Q n) { return (n.a + n.b) * 3; }},
    {"natural64 -= |=", [](Q n) { return (n.a - n.b) | 1; }},
    {"natural64 ~", [](Q n) { return ~n.a; }},
};

uint64_t plus_and_times(Q q) {
  const double sum = d(q) + e(q);
  return bits(sum * d(q));
}

const Operation kKernelWides[] = {
    {"to_wide natural64", [](Q n) { return bits(static_cast<double>(n.a)); }},
    {"to_natural wide", [](Q n) { return uint64_t{static_cast<uint32_t>(d(n))}; },
     [](Q n) { return usual_numbers(n) && within(d(n), -0.5, 0x1p32); }},
    {"to_natural64 wide", [](Q n) { return static_cast<uint64_t>(d(n)); },
     [](Q n) { return usual_numbers(n) && within(d(n), -0.5, 0x1p64); }},
    {"wide !=", [](Q n) { return uint64_t{d(n) != e(n)}; }, usual_numbers},
    {"wide += *=", plus_and_times,
     [](Q n) { return usual_numbers(n) && usual(d(n) + e(n)) && usual(std::bit_cast<double>(plus_and_times(n))); }},
};

/// Every one with every other, then others as `draw` makes them.
template <typename Draw>
std::vector<uint64_t> pairs(const std::vector<uint64_t>& chosen, size_t wanted, const Draw& draw) {
  std::vector<uint64_t> numbers;
  for (const uint64_t a : chosen) {
    for (const uint64_t b : chosen) numbers.insert(numbers.end(), {a, b});
  }
  while (numbers.size() < 2 * wanted) numbers.push_back(draw());
  numbers.resize(2 * wanted);
  return numbers;
}

}  // namespace

std::span<const Operation> shared_integer_operations() { return kSharedIntegers; }
std::span<const Operation> shared_wide_operations() { return kSharedWides; }
std::span<const Operation> kernel_integer_operations() { return kKernelIntegers; }
std::span<const Operation> kernel_wide_operations() { return kKernelWides; }

std::vector<uint64_t> integer_pairs(size_t wanted) {
  // About each power of two, with either sign; ties between two floats; floats as bits.
  std::vector<uint64_t> chosen;
  for (const int power : {0, 1, 7, 15, 16, 24, 25, 31, 32, 33, 40, 53, 54, 62, 63}) {
    const uint64_t number = uint64_t{1} << power;
    chosen.insert(chosen.end(), {number - 1, number, number + 1, -number, ~number});
  }
  for (const uint64_t tie : {0x1000001u, 0x1000003u, 0xFFFFFF80u, 0x7FFFFFC0u, 0x3FFFFFF1u}) {
    chosen.insert(chosen.end(), {tie, tie << 30, (tie << 30) + 1, -(tie << 30), tie << 31});
  }
  for (const float real : {0.5f, -0.5f, 0.99999994f, -1.5f, 2147483520.0f, -2147483648.0f, 0x1.fffffep31f, 0x1p62f}) {
    chosen.push_back(std::bit_cast<uint32_t>(real));
  }
  std::mt19937_64 random(1);
  return pairs(chosen, wanted, [&] { return random() >> random() % 64; });
}

std::vector<uint64_t> wide_pairs(size_t wanted) {
  std::vector<uint64_t> chosen;
  for (const double number : {0.0,
                              0.1,
                              0.5,
                              0x1.fffffffffffffp-1,
                              1.0,
                              0x1.0000000000001p0,
                              1.5,
                              2.5,
                              3.0,
                              0x1.000001p0,
                              0x1.000003p0,
                              0x1.0000010000001p0,
                              0x1.0000030000001p0,
                              0x1.fffffffp30,
                              0x1p31,
                              0x1.fffffffep31,
                              0x1p32,
                              0x1p50,
                              0x1.8p52,
                              0x1p53,
                              0x1.fffffffffffffp62,
                              0x1p63,
                              0x1.fffffffffffffp63,
                              1e-300,
                              1e300}) {
    chosen.insert(chosen.end(), {bits(number), bits(-number)});
  }
  // A quarter of them as they come, the rest with exponents that lie close together.
  std::mt19937_64 random(2);
  return pairs(chosen, wanted, [&] {
    const uint64_t number = random(), exponent = 1023 - 32 + random() % 64;
    return random() % 4 == 0 ? number : (number & 0x800FFFFFFFFFFFFF) | exponent << 52;
  });
}

}  // namespace acuity::tests
