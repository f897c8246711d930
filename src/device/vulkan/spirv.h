// SPDX-License-Identifier: BSD-2-Clause-Patent
// What must be changed in a SPIR-V module before a driver sees it.
#ifndef ACUITY_DEVICE_VULKAN_SPIRV_H
#define ACUITY_DEVICE_VULKAN_SPIRV_H

#include <cstdint>
#include <span>
#include <vector>

#include "acuity/status.h"

namespace acuity {

/// What a driver need not do with 32-bit numbers unless told, by SPIR-V's number for it.
enum class FloatMode : uint32_t {
  preserve_subnormals = 4459,  // DenormPreserve
  preserve_specials = 4461,    // SignedZeroInfNanPreserve
  round_to_nearest = 4462,     // RoundingModeRTE
};

/// The module with those modes demanded, and with every floating-point arithmetic instruction and conversion decorated
/// NoContraction, which glslang does only for variables declared `precise`: a driver may otherwise fuse a
/// multiplication and an addition, or leave out a conversion to fewer digits and back. All pointers are said to point
/// to arrays that do not overlap, as the dialect demands.
Result<std::vector<uint32_t>> make_exact(std::span<const unsigned char> module, std::span<const FloatMode> modes);

/// Bytes of memory that the threads of a group share.
Result<uint64_t> module_shared_bytes(std::span<const unsigned char> module);

/// What the module demands of a device, as bits of Need; what no device is asked for is an error.
Result<uint32_t> module_needs(std::span<const unsigned char> module);

}  // namespace acuity

#endif
