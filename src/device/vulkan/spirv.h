// SPDX-License-Identifier: BSD-2-Clause-Patent
// What must be changed in a SPIR-V module before a driver sees it.
#ifndef ACUITY_DEVICE_VULKAN_SPIRV_H
#define ACUITY_DEVICE_VULKAN_SPIRV_H

#include <cstdint>
#include <span>
#include <vector>

#include "acuity/status.h"

namespace acuity {

/// The module with every floating-point arithmetic instruction decorated NoContraction, which glslang does only for
/// variables declared `precise`. Without it a driver may fuse a multiplication and an addition.
Result<std::vector<uint32_t>> forbid_contraction(std::span<const unsigned char> module);

}  // namespace acuity

#endif
