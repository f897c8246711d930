// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/library_power.h"

#include <cmath>

#include <gtest/gtest.h>

namespace acuity {
namespace {

constexpr float kThird = 1.0f / 3.0f;

// What powf of glibc 2.36 gives on an x86 processor with fused multiply-add, and not the nearest floats.
TEST(LibraryPower, IsNotTheNearestFloatWhereTheLibraryIsNot) {
  EXPECT_EQ(library_power(0x1.3276eap-15f, kThird), 0x1.0fd2c4p-5f);
  EXPECT_EQ(library_power(0x1.c19d9ap-18f, kThird), 0x1.34de5cp-6f);
  EXPECT_EQ(library_power(0x1.a1624ap-6f, kThird), 0x1.2d4dep-2f);
  EXPECT_EQ(library_power(0x1.aad682p+6f, kThird), 0x1.2f8fecp+2f);
  EXPECT_EQ(library_power(0x1.8d93dp-4f, kThird), 0x1.d69a24p-2f);
}

TEST(LibraryPower, Ends) {
  EXPECT_EQ(library_power(0, kThird), 0);
  EXPECT_EQ(library_power(1, 20), 1);
  EXPECT_EQ(library_power(8, 3), 512);
  EXPECT_EQ(library_power(0x1p-149f, 0.5f), 0x1.6a09e6p-75f);
  EXPECT_EQ(library_power(0x1p-20f, 10), 0);
  EXPECT_TRUE(std::isinf(library_power(0x1p20f, 10)));
}

TEST(LibraryPower, IsCloseEverywhere) {
  for (float x = 0x1p-100f; x < 0x1p100f; x *= 1.37f) {
    for (const float y : {0.05f, kThird, 0.4f, 1.0f}) {
      const double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_NEAR(static_cast<double>(library_power(x, y)), exact, exact * 0x1p-23) << x << " " << y;
    }
  }
}

}  // namespace
}  // namespace acuity
