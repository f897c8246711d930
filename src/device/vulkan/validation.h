// SPDX-License-Identifier: BSD-2-Clause-Patent
// What Khronos's validation layer says of our calls, when ACUITY_VULKAN_VALIDATION=1 asks for it.
#ifndef ACUITY_DEVICE_VULKAN_VALIDATION_H
#define ACUITY_DEVICE_VULKAN_VALIDATION_H

#include <string_view>

#include "acuity/status.h"

namespace acuity {

void report_vulkan_validation(std::string_view message);

/// The first thing reported in this process, as a failure. It stays, because what follows it is in doubt.
Status vulkan_validation();

}  // namespace acuity

#endif
