// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity {
namespace {

TEST(FloatVif, EqualsLibvmaf) { tests::expect_golden("float_vif", "float_vif", {}, 0); }

}  // namespace
}  // namespace acuity
