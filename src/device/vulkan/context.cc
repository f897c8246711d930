// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "device/vulkan/pipeline_file.h"

namespace acuity {
namespace {

/// Null if there is none.
const KernelCode* find_code(const KernelInfo& kernel, std::string_view target) {
  const auto code = std::find_if(kernel.file->codes.begin(), kernel.file->codes.end(), [&](const KernelCode& one) {
    return one.backend == Backend::vulkan && one.target == target && std::string_view(one.kernel) == kernel.name;
  });
  return code == kernel.file->codes.end() ? nullptr : &*code;
}

}  // namespace

Result<std::shared_ptr<VulkanContext>> VulkanContext::open(std::shared_ptr<VulkanInstance> instance,
                                                           const VulkanCandidate& candidate) {
  auto context = std::make_shared<VulkanContext>(std::move(instance), candidate);
  if (Status status = context->create_device(); !status.ok()) return status;
  if (Status status = context->create_layout(); !status.ok()) return status;
  if (Status status = context->create_pipeline_cache(); !status.ok()) return status;
  return context;
}

VulkanContext::~VulkanContext() {
  if (functions_.DestroyDevice == nullptr) return;
  destroy_pipelines();
  if (pipeline_cache_ != VK_NULL_HANDLE) functions_.DestroyPipelineCache(device_, pipeline_cache_, nullptr);
  if (layout_ != VK_NULL_HANDLE) functions_.DestroyPipelineLayout(device_, layout_, nullptr);
  functions_.DestroyDevice(device_, nullptr);
}

Status VulkanContext::create_device() {
  const std::array<float, kMaximumQueues + 1> priorities{};
  std::array<VkDeviceQueueCreateInfo, 2> queues{};
  const uint32_t taken = std::min(candidate_.queue_count, kMaximumQueues + 1);
  queues[0].sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queues[0].queueFamilyIndex = candidate_.queue_family;
  queues[0].queueCount = candidate_.copy_family ? std::min(taken, kMaximumQueues) : taken;
  queues[0].pQueuePriorities = priorities.data();
  families_ = {candidate_.queue_family};
  if (candidate_.copy_family) {
    queues[1] = queues[0];
    queues[1].queueFamilyIndex = *candidate_.copy_family;
    queues[1].queueCount = 1;
    families_.push_back(*candidate_.copy_family);
  }

  const auto wanted = [this](Need what) { return candidate_.has(what) ? VK_TRUE : VK_FALSE; };
  VkPhysicalDeviceVulkan11Features features11{};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features11.storageBuffer16BitAccess = wanted(needs_storage16);
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.pNext = &features11;
  features12.bufferDeviceAddress = VK_TRUE;
  features12.timelineSemaphore = VK_TRUE;
  features12.scalarBlockLayout = VK_TRUE;
  features12.storageBuffer8BitAccess = wanted(needs_storage8);
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  features.features.shaderInt64 = wanted(needs_int64);
  features.features.shaderFloat64 = wanted(needs_double);

  const char* budget_extension = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = static_cast<uint32_t>(families_.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = candidate_.has_memory_budget ? 1 : 0;
  info.ppEnabledExtensionNames = &budget_extension;
  const VulkanInstanceFunctions& vk = instance_->call();
  const VkResult created = vk.CreateDevice(candidate_.handle, &info, nullptr, &device_);
  if (Status status = check(created, "vkCreateDevice", "on " + candidate_.info.name); !status.ok()) return status;

#define ACUITY_VULKAN_LOAD(function)                                                                       \
  functions_.function = reinterpret_cast<PFN_vk##function>(vk.GetDeviceProcAddr(device_, "vk" #function)); \
  if (functions_.function == nullptr) {                                                                    \
    return Status(StatusCode::device, "vulkan: " + candidate_.info.name + " has no vk" #function);         \
  }
  ACUITY_VULKAN_DEVICE_FUNCTIONS(ACUITY_VULKAN_LOAD)
#undef ACUITY_VULKAN_LOAD

  // Where no family only copies, a queue that computes is spared for it.
  queue_count_ = candidate_.copy_family || taken == 1 ? queues[0].queueCount : queues[0].queueCount - 1;
  for (uint32_t i = 0; i < queue_count_; ++i) {
    functions_.GetDeviceQueue(device_, candidate_.queue_family, i, &queues_[i].handle);
    queues_[i].family = candidate_.queue_family;
  }
  if (candidate_.copy_family) {
    functions_.GetDeviceQueue(device_, *candidate_.copy_family, 0, &copy_queue_.handle);
    copy_queue_.family = *candidate_.copy_family;
    copy_queue_.computes = false;
  } else if (taken > 1) {
    functions_.GetDeviceQueue(device_, candidate_.queue_family, queue_count_, &copy_queue_.handle);
    copy_queue_.family = candidate_.queue_family;
  }
  return Status();
}

VulkanDriverQueue& VulkanContext::least_used_queue() {
  return *std::min_element(queues_.begin(), queues_.begin() + queue_count_,
                           [](const auto& a, const auto& b) { return a.users < b.users; });
}

/// One layout serves every kernel: the arguments are push constants, buffers are reached by address.
Status VulkanContext::create_layout() {
  VkPushConstantRange range{};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = kMaximumArgumentBytes;
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  return check(functions_.CreatePipelineLayout(device_, &info, nullptr, &layout_), "vkCreatePipelineLayout");
}

/// Begins with what earlier processes compiled. A driver may ignore that, or refuse it.
Status VulkanContext::create_pipeline_cache() {
  const std::vector<std::byte> kept = PipelineFile(candidate_.pipeline_key).load();
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = kept.size();
  info.pInitialData = kept.data();
  VkResult created = functions_.CreatePipelineCache(device_, &info, nullptr, &pipeline_cache_);
  if (created < 0 && !kept.empty()) {
    info.initialDataSize = 0;
    created = functions_.CreatePipelineCache(device_, &info, nullptr, &pipeline_cache_);
  }
  if (Status status = check(created, "vkCreatePipelineCache"); !status.ok()) return status;
  pipeline_cache_bytes_ = pipeline_cache_bytes();
  return Status();
}

/// 0 if the driver does not tell.
size_t VulkanContext::pipeline_cache_bytes() const {
  size_t bytes = 0;
  const VkResult asked = functions_.GetPipelineCacheData(device_, pipeline_cache_, &bytes, nullptr);
  return asked == VK_SUCCESS ? bytes : 0;
}

void VulkanContext::save_pipelines() {
  if (!new_pipelines_.exchange(false)) return;
  const std::lock_guard lock(saving_mutex_);
  size_t bytes = pipeline_cache_bytes();
  // A driver that keeps nothing writes the header alone; if all of them were in the file, there is no more than before.
  if (bytes <= sizeof(VkPipelineCacheHeaderVersionOne) || bytes <= pipeline_cache_bytes_) return;
  std::vector<std::byte> data(bytes);
  if (functions_.GetPipelineCacheData(device_, pipeline_cache_, &bytes, data.data()) != VK_SUCCESS) return;
  pipeline_cache_bytes_ = bytes;
  PipelineFile(candidate_.pipeline_key).save(std::span(data).first(bytes));
}

Status VulkanContext::check(VkResult result, const char* call, const std::string& detail) {
  if (result == VK_ERROR_DEVICE_LOST) lost_ = true;
  if (result < 0) return vulkan_failure(call, result, detail);
  if (lost_) {
    return Status(StatusCode::device_lost,
                  fmt::format("vulkan: {} was lost earlier; open it again", candidate_.info.name));
  }
  return vulkan_validation();
}

void VulkanContext::use_target(const char* target) {
  const std::lock_guard lock(pipelines_mutex_);
  destroy_pipelines();
  target_ = target;
}

void VulkanContext::destroy_pipelines() {
  for (const auto& [kernel, pipeline] : pipelines_) functions_.DestroyPipeline(device_, pipeline.handle, nullptr);
  pipelines_.clear();
}

Result<VkPipeline> VulkanContext::pipeline(const KernelInfo& kernel) {
  Pipeline& pipeline = pipeline_of(kernel);
  // Compiled under a lock of its own: several kernels are compiled at once, each of them by one thread.
  const std::lock_guard lock(pipeline.mutex);
  if (pipeline.handle != VK_NULL_HANDLE) return pipeline.handle;
  ACUITY_TRY_ASSIGN(pipeline.handle, create_pipeline(kernel));
  new_pipelines_ = true;
  return pipeline.handle;
}

VulkanContext::Pipeline& VulkanContext::pipeline_of(const KernelInfo& kernel) {
  const std::lock_guard lock(pipelines_mutex_);
  return pipelines_[{kernel.file, kernel.name}];
}

Result<VkPipeline> VulkanContext::create_pipeline(const KernelInfo& kernel) {
  const std::string what = fmt::format("for kernel {} of {}", kernel.name, kernel.file->name);
  const KernelCode* plain = find_code(kernel, "spirv");
  const KernelCode* code = find_code(kernel, target_);
  if (plain == nullptr || code == nullptr) {
    return Status(StatusCode::device, fmt::format("vulkan: this build has no {} code {}", target_, what));
  }
  // The other target has double precision of its own.
  const Result<uint32_t> needs = module_needs(plain->data);
  if (!needs.ok()) return Status(needs.status().code(), fmt::format("vulkan: {} ({})", needs.status().message(), what));
  if ((*needs & ~kernel.needs) != 0) {
    return Status(StatusCode::internal, fmt::format("vulkan: the code {} needs {:#x} of Need, but NEEDS_{} says {:#x}",
                                                    what, *needs, kernel.name, kernel.needs));
  }
  Result<std::vector<uint32_t>> words = make_exact(code->data, candidate_.float_modes);
  if (!words.ok()) return words.status();

  VkShaderModuleCreateInfo module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = words->size() * sizeof(uint32_t);
  module_info.pCode = words->data();
  VkShaderModule module = VK_NULL_HANDLE;
  const VkResult loaded = functions_.CreateShaderModule(device_, &module_info, nullptr, &module);
  if (Status status = check(loaded, "vkCreateShaderModule", what); !status.ok()) {
    functions_.DestroyShaderModule(device_, module, nullptr);
    return status;
  }

  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult made = functions_.CreateComputePipelines(device_, pipeline_cache_, 1, &info, nullptr, &pipeline);
  functions_.DestroyShaderModule(device_, module, nullptr);
  if (Status status = check(made, "vkCreateComputePipelines", what); !status.ok()) {
    functions_.DestroyPipeline(device_, pipeline, nullptr);
    return status;
  }
  return pipeline;
}

Result<int64_t> VulkanContext::free_bytes() {
  if (Status status = check(VK_SUCCESS, ""); !status.ok()) return status;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  if (candidate_.has_memory_budget) memory.pNext = &budget;
  instance_->call().GetPhysicalDeviceMemoryProperties2(candidate_.handle, &memory);

  int64_t most = 0;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) continue;
    const int64_t free = candidate_.has_memory_budget
                             ? static_cast<int64_t>(budget.heapBudget[i]) - static_cast<int64_t>(budget.heapUsage[i])
                             : static_cast<int64_t>(heap.size) - allocated_[i];
    most = std::max(most, free);
  }
  return most;
}

}  // namespace acuity
