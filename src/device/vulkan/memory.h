// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory on the device and memory of the host that it copies from and to.
#ifndef ACUITY_DEVICE_VULKAN_MEMORY_H
#define ACUITY_DEVICE_VULKAN_MEMORY_H

#include <memory>

#include "device/vulkan/context.h"

namespace acuity {

/// A buffer with an allocation of its own.
class VulkanBuffer {
 public:
  enum class Place { device, host };
  static Result<std::unique_ptr<VulkanBuffer>> create(std::shared_ptr<VulkanContext> context, size_t bytes,
                                                      Place place);
  explicit VulkanBuffer(std::shared_ptr<VulkanContext> context) : context_(std::move(context)) {}
  ~VulkanBuffer();
  VulkanBuffer(const VulkanBuffer&) = delete;
  VulkanBuffer& operator=(const VulkanBuffer&) = delete;

  VkBuffer handle() const { return buffer_; }
  Result<uint64_t> address() const;
  Result<std::byte*> map() const;

 private:
  Status open(size_t bytes, Place place);

  std::shared_ptr<VulkanContext> context_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  uint32_t heap_ = 0;
  int64_t allocated_ = 0;
};

class VulkanDeviceMemory final : public DeviceMemory {
 public:
  static Result<std::unique_ptr<DeviceMemory>> create(std::shared_ptr<VulkanContext> context, size_t bytes);
  VkBuffer buffer() const { return buffer_->handle(); }

 private:
  std::unique_ptr<VulkanBuffer> buffer_;
};

class VulkanPinnedMemory final : public PinnedMemory {
 public:
  static Result<std::unique_ptr<PinnedMemory>> create(std::shared_ptr<VulkanContext> context, size_t bytes);
  VkBuffer buffer() const { return buffer_->handle(); }

 private:
  std::unique_ptr<VulkanBuffer> buffer_;
};

}  // namespace acuity

#endif
