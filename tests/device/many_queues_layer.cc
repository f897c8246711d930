// SPDX-License-Identifier: BSD-2-Clause-Patent
// A Vulkan layer for tests: over a driver with one queue it shows families of queues like NVIDIA's, one of which only
// copies. Each queue has a thread of its own and is late at random, those that copy most, so that work that does not
// wait for what it needs goes wrong. It serves only the calls that Acuity makes.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "device/vulkan_layer.h"

namespace {

struct Family {
  VkQueueFlags flags;
  uint32_t queues;
  int most_late_microseconds;
};
constexpr std::array<Family, 3> kFamilies = {{
    {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 1, 0},
    {VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT, 2, 3000},
    {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 8, 300},
}};

struct Submission {
  std::vector<VkSemaphore> waits{};
  std::vector<uint64_t> wait_values{};
  std::vector<VkCommandBuffer> commands{};
  std::vector<VkSemaphore> signals{};
  std::vector<uint64_t> signal_values{};
};

struct LateDevice;

struct LateQueue {
  void* loader_data = nullptr;  // first: the loader and other layers look for theirs here
  LateDevice* device = nullptr;
  uint32_t family = 0;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<Submission> submissions{};
  bool ends = false;
  std::thread thread{};
};

/// A device and the only queue that it has in truth.
struct LateDevice {
  PFN_vkGetDeviceProcAddr next_address = nullptr;
  VkDevice handle = VK_NULL_HANDLE;
  VkQueue real = VK_NULL_HANDLE;
  std::mutex real_mutex{};
  PFN_vkQueueSubmit submit = nullptr;
  PFN_vkWaitSemaphores wait = nullptr;
  std::mutex mutex{};
  std::vector<std::unique_ptr<LateQueue>> queues{};
  std::atomic<VkResult> failure = VK_SUCCESS;

  template <typename Function>
  Function below(const char* name) const {
    return reinterpret_cast<Function>(next_address(handle, name));
  }

  void run(Submission& submission) {
    VkSemaphoreWaitInfo waited{};
    waited.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
    waited.semaphoreCount = static_cast<uint32_t>(submission.waits.size());
    waited.pSemaphores = submission.waits.data();
    waited.pValues = submission.wait_values.data();
    if (!submission.waits.empty()) wait(handle, &waited, UINT64_MAX);
    VkTimelineSemaphoreSubmitInfo timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    timeline.signalSemaphoreValueCount = static_cast<uint32_t>(submission.signal_values.size());
    timeline.pSignalSemaphoreValues = submission.signal_values.data();
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &timeline;
    info.commandBufferCount = static_cast<uint32_t>(submission.commands.size());
    info.pCommandBuffers = submission.commands.data();
    info.signalSemaphoreCount = static_cast<uint32_t>(submission.signals.size());
    info.pSignalSemaphores = submission.signals.data();
    const std::lock_guard lock(real_mutex);
    const VkResult result = submit(real, 1, &info, VK_NULL_HANDLE);
    if (result < 0) failure = result;
  }

  void serve(LateQueue& queue) {
    std::minstd_rand random(queue.family + 1);
    for (;;) {
      Submission submission;
      {
        std::unique_lock lock(queue.mutex);
        queue.changed.wait(lock, [&] { return queue.ends || !queue.submissions.empty(); });
        if (queue.submissions.empty()) return;
        submission = std::move(queue.submissions.front());
        queue.submissions.pop_front();
      }
      const int most = kFamilies[queue.family].most_late_microseconds;
      if (most > 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(most)));
      run(submission);
    }
  }
};

struct Devices {
  std::mutex mutex{};
  std::map<VkDevice, std::unique_ptr<LateDevice>> all{};
};
Devices devices;

LateDevice& device_of(VkDevice handle) {
  const std::lock_guard lock(devices.mutex);
  return *devices.all.at(handle);
}

void describe(uint32_t family, VkQueueFamilyProperties& properties) {
  properties = {};
  properties.queueFlags = kFamilies[family].flags;
  properties.queueCount = kFamilies[family].queues;
  properties.minImageTransferGranularity = {1, 1, 1};
}

VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties* properties) {
  if (properties == nullptr) {
    *count = kFamilies.size();
    return;
  }
  *count = std::min(*count, static_cast<uint32_t>(kFamilies.size()));
  for (uint32_t i = 0; i < *count; ++i) describe(i, properties[i]);
}

VKAPI_ATTR void VKAPI_CALL get_families_2(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties2* properties) {
  if (properties == nullptr) {
    *count = kFamilies.size();
    return;
  }
  *count = std::min(*count, static_cast<uint32_t>(kFamilies.size()));
  for (uint32_t i = 0; i < *count; ++i) describe(i, properties[i].queueFamilyProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* device) {
  const float priority = 0;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo one = *info;
  one.queueCreateInfoCount = 1;
  one.pQueueCreateInfos = &queue;
  VkResult result = VK_SUCCESS;
  const PFN_vkGetDeviceProcAddr device_address = create_device_below(physical, &one, allocator, device, result);
  if (result < 0) return result;
  auto made = std::make_unique<LateDevice>();
  made->next_address = device_address;
  made->handle = *device;
  made->submit = made->below<PFN_vkQueueSubmit>("vkQueueSubmit");
  made->wait = made->below<PFN_vkWaitSemaphores>("vkWaitSemaphores");
  made->below<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(*device, 0, 0, &made->real);
  const std::lock_guard lock(devices.mutex);
  devices.all[*device] = std::move(made);
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks* allocator) {
  LateDevice& own = device_of(device);
  for (const std::unique_ptr<LateQueue>& queue : own.queues) {
    {
      const std::lock_guard lock(queue->mutex);
      queue->ends = true;
    }
    queue->changed.notify_all();
    queue->thread.join();
  }
  const auto destroy = own.below<PFN_vkDestroyDevice>("vkDestroyDevice");
  {
    const std::lock_guard lock(devices.mutex);
    devices.all.erase(device);
  }
  destroy(device, allocator);
}

VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t, VkQueue* queue) {
  LateDevice& own = device_of(device);
  const std::lock_guard lock(own.mutex);
  auto made = std::make_unique<LateQueue>();
  std::memcpy(&made->loader_data, reinterpret_cast<void*>(device), sizeof(void*));
  made->device = &own;
  made->family = family;
  LateQueue* late = made.get();
  late->thread = std::thread([late] { late->device->serve(*late); });
  own.queues.push_back(std::move(made));
  *queue = reinterpret_cast<VkQueue>(late);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue handle, uint32_t count, const VkSubmitInfo* infos, VkFence) {
  auto& queue = *reinterpret_cast<LateQueue*>(handle);
  for (uint32_t i = 0; i < count; ++i) {
    const VkSubmitInfo& info = infos[i];
    const auto* timeline = static_cast<const VkTimelineSemaphoreSubmitInfo*>(info.pNext);
    Submission submission;
    submission.waits.assign(info.pWaitSemaphores, info.pWaitSemaphores + info.waitSemaphoreCount);
    submission.wait_values.assign(timeline->pWaitSemaphoreValues,
                                  timeline->pWaitSemaphoreValues + info.waitSemaphoreCount);
    submission.commands.assign(info.pCommandBuffers, info.pCommandBuffers + info.commandBufferCount);
    submission.signals.assign(info.pSignalSemaphores, info.pSignalSemaphores + info.signalSemaphoreCount);
    submission.signal_values.assign(timeline->pSignalSemaphoreValues,
                                    timeline->pSignalSemaphoreValues + info.signalSemaphoreCount);
    const std::lock_guard lock(queue.mutex);
    queue.submissions.push_back(std::move(submission));
  }
  queue.changed.notify_all();
  return queue.device->failure;
}

VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                           const VkAllocationCallbacks* allocator, VkCommandPool* pool) {
  VkCommandPoolCreateInfo of_real = *info;
  of_real.queueFamilyIndex = 0;
  return device_of(device).below<PFN_vkCreateCommandPool>("vkCreateCommandPool")(device, &of_real, allocator, pool);
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  VkBufferCreateInfo of_real = *info;
  of_real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  return device_of(device).below<PFN_vkCreateBuffer>("vkCreateBuffer")(device, &of_real, allocator, buffer);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char* name);

PFN_vkVoidFunction find_device_function(const char* name) {
  const std::array<NamedFunction, 7> functions = {{{"vkGetDeviceProcAddr", as_void(get_device_address)},
                                                   {"vkDestroyDevice", as_void(destroy_device)},
                                                   {"vkGetDeviceQueue", as_void(get_queue)},
                                                   {"vkQueueSubmit", as_void(submit)},
                                                   {"vkCreateCommandPool", as_void(create_pool)},
                                                   {"vkCreateBuffer", as_void(create_buffer)},
                                                   {"vkCreateDevice", as_void(create_device)}}};
  return find_function(functions, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char* name) {
  const PFN_vkVoidFunction own = find_device_function(name);
  return own != nullptr ? own : device_of(device).next_address(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_address(VkInstance instance, const char* name) {
  if (std::strcmp(name, "vkGetInstanceProcAddr") == 0) return as_void(get_instance_address);
  if (std::strcmp(name, "vkCreateInstance") == 0) return as_void(create_instance);
  if (std::strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties") == 0) return as_void(get_families);
  if (std::strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties2") == 0) return as_void(get_families_2);
  if (std::strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties2KHR") == 0) return as_void(get_families_2);
  const PFN_vkVoidFunction own = find_device_function(name);
  if (own != nullptr) return own;
  return next_instance_address == nullptr ? nullptr : next_instance_address(instance, name);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = get_instance_address;
  version->pfnGetDeviceProcAddr = get_device_address;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
