// SPDX-License-Identifier: BSD-2-Clause-Patent
// For test programs that use Vulkan: includes this once, and Khronos's validation layer watches all their calls.
#ifndef ACUITY_TESTS_SUPPORT_VULKAN_VALIDATION_H
#define ACUITY_TESTS_SUPPORT_VULKAN_VALIDATION_H

#include <gtest/gtest.h>

#include <cstdlib>

#include "device/vulkan/validation.h"

/// The layer does not free all of its own memory.
extern "C" [[gnu::used]] inline const char* __lsan_default_suppressions() {
  return "leak:libVkLayer_khronos_validation.so\n";
}

namespace acuity {

/// The layer is on unless the environment says otherwise, and must have found nothing by the end.
class VulkanValidation : public testing::Environment {
 public:
  void SetUp() override { setenv("ACUITY_VULKAN_VALIDATION", "1", 0); }
  void TearDown() override { EXPECT_TRUE(vulkan_validation().ok()) << vulkan_validation().message(); }
};
inline const testing::Environment* const vulkan_validation_environment =
    testing::AddGlobalTestEnvironment(new VulkanValidation);

}  // namespace acuity

#endif
