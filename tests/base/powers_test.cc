// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/powers.h"

#include <cmath>

#include <gtest/gtest.h>

namespace acuity {
namespace {

TEST(Powers, Log2AgreesWithLongDouble) {
  for (double x = 1e-12; x < 1e12; x *= 1.000137) {
    const long double expected = std::log2(static_cast<long double>(x));
    EXPECT_LE(std::abs(static_cast<double>(exact_log2(x) - expected)),
              4e-16 + 2e-16 * std::abs(static_cast<double>(expected)))
        << x;
  }
  EXPECT_EQ(exact_log2(1), 0);
  EXPECT_EQ(exact_log2(0.125), -3);
}

TEST(Powers, Exp2AgreesWithLongDouble) {
  for (double x = -300; x < 300; x += 0.00731) {
    const long double expected = std::exp2(static_cast<long double>(x));
    EXPECT_LE(std::abs(static_cast<double>(exact_exp2(x) / expected - 1)), 1e-15) << x;
  }
  EXPECT_EQ(exact_exp2(0), 1);
  EXPECT_EQ(exact_exp2(10), 1024);
  EXPECT_EQ(exact_exp2(-2000), 0);
  EXPECT_TRUE(std::isinf(exact_exp2(1024)));
}

// The C library here is one of those meant, but for a few arguments whose logarithm it does not round correctly.
TEST(Powers, LibmLog10IsTheCLibrarys) {
  int arguments = 0, others = 0;
  for (double x = 1e-12; x < 1e12; x *= 1.000137) {
    ++arguments;
    if (libm_log10(x) == std::log10(x)) continue;
    ++others;
    EXPECT_LE(std::abs(libm_log10(x) / std::log10(x) - 1), 4e-16) << x;
  }
  EXPECT_LE(others, arguments / 2000);
  EXPECT_EQ(libm_log10(1), 0);
  EXPECT_EQ(libm_log10(1000), 3);
}

TEST(Powers, PowerAgreesWithLongDouble) {
  for (double y : {0.6276336467831387, 2.4, 1 / 2.4, 78.84375, 0.1593017578125}) {
    for (double x = 1e-6; x < 1e3; x *= 1.0031) {
      if (std::abs(y * std::log2(x)) > 1000) continue;  // beyond what a double holds
      const long double expected = std::pow(static_cast<long double>(x), static_cast<long double>(y));
      const double bound = 1e-15 * (1 + std::abs(y * std::log2(x)));
      EXPECT_LE(std::abs(static_cast<double>(exact_power(x, y) / expected - 1)), bound) << x << "^" << y;
    }
  }
  EXPECT_EQ(exact_power(0, 2.4), 0);
  EXPECT_EQ(exact_power(1, 2.4), 1);
}

}  // namespace
}  // namespace acuity
