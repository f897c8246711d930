// SPDX-License-Identifier: BSD-2-Clause-Patent
// The process's connection to Vulkan, and what it is told there.
#ifndef ACUITY_DEVICE_VULKAN_INSTANCE_H
#define ACUITY_DEVICE_VULKAN_INSTANCE_H

#include <memory>
#include <string>

#include "acuity/status.h"
#include "device/vulkan/functions.h"
#include "device/vulkan/validation.h"

namespace acuity {

class VulkanInstance {
 public:
  /// The process's only one, which is never closed: drivers are slow to load, and leak or worse when they are unloaded.
  /// ACUITY_VULKAN_VALIDATION=1 at the first call adds Khronos's validation layer.
  static Result<std::shared_ptr<VulkanInstance>> get();
  explicit VulkanInstance(PFN_vkGetInstanceProcAddr get_address) : get_address_(get_address) {}
  ~VulkanInstance();
  VulkanInstance(const VulkanInstance&) = delete;
  VulkanInstance& operator=(const VulkanInstance&) = delete;

  VkInstance handle() const { return instance_; }
  const VulkanInstanceFunctions& call() const { return functions_; }

 private:
  Status open(bool validate);
  template <typename Function>
  bool load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(get_address_(instance_, name));
    return function != nullptr;
  }

  PFN_vkGetInstanceProcAddr get_address_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VulkanInstanceFunctions functions_;
};

/// "vulkan: vkCreateDevice failed: VK_ERROR_DEVICE_LOST (-4)", with `detail` after it where there is one.
Status vulkan_failure(const char* call, VkResult result, const std::string& detail = {});

}  // namespace acuity

#endif
