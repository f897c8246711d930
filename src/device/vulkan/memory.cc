// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/memory.h"

#include <fmt/format.h>

#include <optional>

namespace acuity {
namespace {

// Kernels read bytes in words, so the last word of an odd size must exist.
constexpr size_t kWord = 4;

struct Wish {
  VkMemoryPropertyFlags with;
  VkMemoryPropertyFlags without;
};

/// The first kind of memory that fulfils the first wish that can be fulfilled.
std::optional<uint32_t> choose_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed,
                                    std::initializer_list<Wish> wishes) {
  for (const Wish& wish : wishes) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
      if ((allowed >> i & 1) != 0 && (flags & wish.with) == wish.with && (flags & wish.without) == 0) return i;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> choose_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed,
                                    VulkanBuffer::Place place) {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags cached = mapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  if (place == VulkanBuffer::Place::device) {
    return choose_type(memory, allowed, {{local, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT}, {local, 0}, {0, 0}});
  }
  return choose_type(memory, allowed, {{cached, local}, {cached, 0}, {mapped, local}, {mapped, 0}});
}

}  // namespace

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::create(std::shared_ptr<VulkanContext> context, size_t bytes,
                                                           Place place) {
  auto buffer = std::make_unique<VulkanBuffer>(std::move(context));
  if (Status status = buffer->open(bytes, place); !status.ok()) return status;
  return buffer;
}

VulkanBuffer::~VulkanBuffer() {
  const VulkanDeviceFunctions& vk = context_->call();
  vk.DestroyBuffer(context_->handle(), buffer_, nullptr);
  vk.FreeMemory(context_->handle(), memory_, nullptr);
  context_->allocated(heap_) -= allocated_;
}

Status VulkanBuffer::open(size_t bytes, Place place) {
  const VulkanCandidate& candidate = context_->candidate();
  const std::string what = fmt::format("for {} bytes on {}", bytes, candidate.info.name);
  if (bytes > candidate.maximum_allocation) {
    return Status(StatusCode::device_memory, fmt::format("vulkan: {} allocates at most {} bytes at once, not {}",
                                                         candidate.info.name, candidate.maximum_allocation, bytes));
  }
  const VulkanDeviceFunctions& vk = context_->call();
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = (bytes + kWord - 1) / kWord * kWord;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (place == Place::device) {
    info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  }
  if (context_->families().size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = static_cast<uint32_t>(context_->families().size());
    info.pQueueFamilyIndices = context_->families().data();
  }
  const VkResult created = vk.CreateBuffer(context_->handle(), &info, nullptr, &buffer_);
  if (Status status = context_->check(created, "vkCreateBuffer", what); !status.ok()) return status;

  VkMemoryRequirements needs{};
  vk.GetBufferMemoryRequirements(context_->handle(), buffer_, &needs);
  const std::optional<uint32_t> type = choose_type(candidate.memory, needs.memoryTypeBits, place);
  if (!type) return Status(StatusCode::device, "vulkan: no suitable kind of memory " + what);
  heap_ = candidate.memory.memoryTypes[*type].heapIndex;
  const VkDeviceSize heap_bytes = candidate.memory.memoryHeaps[heap_].size;
  if (needs.size > heap_bytes) {
    return Status(StatusCode::device_memory, fmt::format("vulkan: {} has {} bytes of memory in all, not {}",
                                                         candidate.info.name, heap_bytes, needs.size));
  }

  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  if (place == Place::device) allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = *type;
  const VkResult allocated = vk.AllocateMemory(context_->handle(), &allocation, nullptr, &memory_);
  if (Status status = context_->check(allocated, "vkAllocateMemory", what); !status.ok()) return status;
  allocated_ = static_cast<int64_t>(needs.size);
  context_->allocated(heap_) += allocated_;
  return context_->check(vk.BindBufferMemory(context_->handle(), buffer_, memory_, 0), "vkBindBufferMemory", what);
}

Result<uint64_t> VulkanBuffer::address() const {
  VkBufferDeviceAddressInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = buffer_;
  const uint64_t address = context_->call().GetBufferDeviceAddress(context_->handle(), &info);
  if (Status status = context_->check(VK_SUCCESS, "vkGetBufferDeviceAddress"); !status.ok()) return status;
  return address;
}

/// It stays mapped until the memory is freed.
Result<std::byte*> VulkanBuffer::map() const {
  void* data = nullptr;
  const VkResult mapped = context_->call().MapMemory(context_->handle(), memory_, 0, VK_WHOLE_SIZE, 0, &data);
  if (Status status = context_->check(mapped, "vkMapMemory"); !status.ok()) return status;
  return static_cast<std::byte*>(data);
}

Result<std::unique_ptr<DeviceMemory>> VulkanDeviceMemory::create(std::shared_ptr<VulkanContext> context, size_t bytes) {
  auto buffer = VulkanBuffer::create(std::move(context), bytes, VulkanBuffer::Place::device);
  if (!buffer.ok()) return buffer.status();
  const Result<uint64_t> address = buffer.value()->address();
  if (!address.ok()) return address.status();
  auto memory = std::make_unique<VulkanDeviceMemory>();
  memory->buffer_ = std::move(buffer).value();
  memory->size_ = bytes;
  memory->address_ = address.value();
  return std::unique_ptr<DeviceMemory>(std::move(memory));
}

Result<std::unique_ptr<PinnedMemory>> VulkanPinnedMemory::create(std::shared_ptr<VulkanContext> context, size_t bytes) {
  auto buffer = VulkanBuffer::create(std::move(context), bytes, VulkanBuffer::Place::host);
  if (!buffer.ok()) return buffer.status();
  const Result<std::byte*> data = buffer.value()->map();
  if (!data.ok()) return data.status();
  auto memory = std::make_unique<VulkanPinnedMemory>();
  memory->buffer_ = std::move(buffer).value();
  memory->size_ = bytes;
  memory->data_ = data.value();
  return std::unique_ptr<PinnedMemory>(std::move(memory));
}

}  // namespace acuity
