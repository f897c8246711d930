// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/instance.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

namespace acuity {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                            const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  report_vulkan_validation(data->pMessage == nullptr ? "(no message)" : data->pMessage);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = take_message;
  return info;
}

const char* result_name(VkResult result) {
#define ACUITY_VULKAN_NAME(name) \
  case name:                     \
    return #name;
  switch (result) {
    ACUITY_VULKAN_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    ACUITY_VULKAN_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    ACUITY_VULKAN_NAME(VK_ERROR_INITIALIZATION_FAILED)
    ACUITY_VULKAN_NAME(VK_ERROR_DEVICE_LOST)
    ACUITY_VULKAN_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    ACUITY_VULKAN_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    ACUITY_VULKAN_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    ACUITY_VULKAN_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    ACUITY_VULKAN_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    ACUITY_VULKAN_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    ACUITY_VULKAN_NAME(VK_ERROR_INVALID_SHADER_NV)
    ACUITY_VULKAN_NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    default:
      return "a VkResult without a name here";
  }
#undef ACUITY_VULKAN_NAME
}

Status unusable(std::string reason) { return Status(StatusCode::unknown_device, "vulkan: " + std::move(reason)); }

StatusCode code_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return StatusCode::out_of_memory;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return StatusCode::device_memory;
    case VK_ERROR_DEVICE_LOST:
      return StatusCode::device_lost;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return StatusCode::unknown_device;
    default:
      return StatusCode::device;
  }
}

Status load_loader(PFN_vkGetInstanceProcAddr& get_address) {
  void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unusable(fmt::format("libvulkan.so.1 cannot be loaded: {}", dlerror()));
  get_address = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  return get_address == nullptr ? unusable("libvulkan.so.1 has no vkGetInstanceProcAddr") : Status();
}

}  // namespace

Status vulkan_failure(const char* call, VkResult result, const std::string& detail) {
  return {code_of(result), fmt::format("vulkan: {} failed: {} ({}){}{}", call, result_name(result),
                                       static_cast<int>(result), detail.empty() ? "" : " ", detail)};
}

Result<std::shared_ptr<VulkanInstance>> VulkanInstance::get() {
  static std::mutex mutex;
  static auto& kept = *new std::shared_ptr<VulkanInstance>;
  const std::lock_guard lock(mutex);
  if (kept != nullptr) return kept;
  PFN_vkGetInstanceProcAddr get_address = nullptr;
  if (Status status = load_loader(get_address); !status.ok()) return status;
  auto instance = std::make_shared<VulkanInstance>(get_address);
  const char* validate = std::getenv("ACUITY_VULKAN_VALIDATION");
  if (Status status = instance->open(validate != nullptr && std::string_view(validate) == "1"); !status.ok()) {
    return status;
  }
  kept = instance;
  return kept;
}

Status VulkanInstance::open(bool validate) {
  PFN_vkEnumerateInstanceVersion enumerate_version = nullptr;
  PFN_vkCreateInstance create = nullptr;
  uint32_t version = VK_API_VERSION_1_0;
  if (load(enumerate_version, "vkEnumerateInstanceVersion")) enumerate_version(&version);
  if (version < VK_API_VERSION_1_2) return unusable("the Vulkan loader is older than 1.2; install a newer libvulkan1");
  if (!load(create, "vkCreateInstance")) return unusable("libvulkan.so.1 has no vkCreateInstance");

  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "acuity";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;

  const VkDebugUtilsMessengerCreateInfoEXT messages = messenger_info();
  const VkValidationFeatureEnableEXT enabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.pNext = &messages;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enabled;
  if (validate) {
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 2;
    info.ppEnabledExtensionNames = extensions;
  }
  const VkResult created = create(&info, nullptr, &instance_);
  if (created == VK_ERROR_INCOMPATIBLE_DRIVER)
    return vulkan_failure("vkCreateInstance", created, "(no Vulkan driver is installed)");
  if (created < 0) return vulkan_failure("vkCreateInstance", created);

#define ACUITY_VULKAN_LOAD(name) \
  if (!load(functions_.name, "vk" #name)) return unusable("the Vulkan loader has no vk" #name);
  ACUITY_VULKAN_INSTANCE_FUNCTIONS(ACUITY_VULKAN_LOAD)
#undef ACUITY_VULKAN_LOAD

  if (!validate) return Status();
  PFN_vkCreateDebugUtilsMessengerEXT create_messenger = nullptr;
  if (!load(create_messenger, "vkCreateDebugUtilsMessengerEXT")) return unusable("VK_EXT_debug_utils is missing");
  const VkResult listening = create_messenger(instance_, &messages, nullptr, &messenger_);
  return listening < 0 ? vulkan_failure("vkCreateDebugUtilsMessengerEXT", listening) : vulkan_validation();
}

VulkanInstance::~VulkanInstance() {
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger = nullptr;
  if (messenger_ != VK_NULL_HANDLE && load(destroy_messenger, "vkDestroyDebugUtilsMessengerEXT")) {
    destroy_messenger(instance_, messenger_, nullptr);
  }
  if (functions_.DestroyInstance != nullptr) functions_.DestroyInstance(instance_, nullptr);
}

}  // namespace acuity
