// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity {
namespace {

TEST(Vif, EqualsLibvmaf) { tests::expect_golden("vif", "vif", {}, 0); }

}  // namespace
}  // namespace acuity
