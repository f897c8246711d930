// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/powers.h"
#include "lang/targets.h"
#include "metrics/vif/cpu.h"
#include "support/features.h"

namespace acuity {
namespace {

TEST(Vif, EqualsLibvmaf) { tests::expect_golden("vif", "vif", {}, 0); }

// libvmaf's table is of 2048 log2f(i), which is a float: that moves some entries.
TEST(Vif, LogarithmsAreThoseOfTheTable) {
  std::vector<int32_t> values, expected;
  for (int shift = 2; shift <= 15; ++shift) {
    for (int i = 32768; i < 65536; ++i) {
      const int32_t ignored = (i * 7919) & ((1 << shift) - 1);  // any bits below the 16 upper ones
      values.push_back((i << shift) | (i % 3 == 0 ? (1 << shift) - 1 : ignored));
      const auto log = static_cast<float>(exact_log2(i));
      expected.push_back(static_cast<int32_t>(std::lround(log * 2048)) + 2048 * shift);
    }
  }
  ASSERT_EQ(values.back(), INT32_MAX);
  for (const std::string& target : cpu_targets()) {
    SCOPED_TRACE(target);
    ASSERT_TRUE(limit_cpu(target).ok());
    std::vector<int32_t> logs(values.size());
    vif::scaled_logs(values.data(), values.size(), logs.data());
    EXPECT_TRUE(logs == expected);
  }
  ASSERT_TRUE(limit_cpu("").ok());
}

}  // namespace
}  // namespace acuity
