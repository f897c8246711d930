// SPDX-License-Identifier: BSD-2-Clause-Patent
// In place of the backend where its headers or its compiler were missing.
#include "device/backends.h"

namespace acuity {
namespace {

constexpr const char* kReason = "vulkan: not part of this build, which lacked the Vulkan headers, glslang or clang";

}  // namespace

DeviceList list_vulkan_devices() { return {{}, {{Backend::vulkan, kReason}}}; }

Result<std::shared_ptr<Device>> open_vulkan_device(int) { return Status(StatusCode::unknown_device, kReason); }

}  // namespace acuity
