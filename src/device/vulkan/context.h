// SPDX-License-Identifier: BSD-2-Clause-Patent
// An open Vulkan device as its memories, queues and events share it; the last of them closes it.
#ifndef ACUITY_DEVICE_VULKAN_CONTEXT_H
#define ACUITY_DEVICE_VULKAN_CONTEXT_H

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/vulkan/candidates.h"

namespace acuity {

/// A queue of the driver, which several of ours may share.
struct VulkanDriverQueue {
  std::mutex mutex;
  VkQueue handle = VK_NULL_HANDLE;
  uint32_t family = 0;
  bool computes = true;        // otherwise it only copies
  std::atomic<int> users = 0;  // queues of ours whose recorded work it does
};

class VulkanContext {
 public:
  static Result<std::shared_ptr<VulkanContext>> open(std::shared_ptr<VulkanInstance> instance,
                                                     const VulkanCandidate& candidate);
  VulkanContext(std::shared_ptr<VulkanInstance> instance, VulkanCandidate candidate)
      : instance_(std::move(instance)), candidate_(std::move(candidate)) {}
  ~VulkanContext();
  VulkanContext(const VulkanContext&) = delete;
  VulkanContext& operator=(const VulkanContext&) = delete;

  VkDevice handle() const { return device_; }
  const VulkanDeviceFunctions& call() const { return functions_; }
  const VulkanCandidate& candidate() const { return candidate_; }
  VkPipelineLayout layout() const { return layout_; }

  /// What became of a call. A lost device and a finding of the validation layer make every later check fail, too.
  Status check(VkResult result, const char* call, const std::string& detail = {});

  /// Which target of the kernels to use, "spirv" at first. Nothing may be in flight.
  void use_target(const char* target);
  /// The compiled kernel, made when first asked for.
  Result<VkPipeline> pipeline(const KernelInfo& kernel);
  /// Writes what was compiled since the last time to the user's cache. Programs may end without closing the device, so
  /// this is called when work is done.
  void save_pipelines();

  VulkanDriverQueue& next_queue() { return queues_[queue_turn_++ % queue_count_]; }
  /// The one that does the recorded work of the fewest queues.
  VulkanDriverQueue& least_used_queue();
  /// For copies, beside all that computes; null where there is none to spare.
  VulkanDriverQueue* copy_queue() { return copy_queue_.handle == VK_NULL_HANDLE ? nullptr : &copy_queue_; }
  /// The families of all of them.
  const std::vector<uint32_t>& families() const { return families_; }

  /// Bytes this context has allocated from a heap.
  std::atomic<int64_t>& allocated(uint32_t heap) { return allocated_[heap]; }
  Result<int64_t> free_bytes();

 private:
  Status create_device();
  Status create_layout();
  Status create_pipeline_cache();
  size_t pipeline_cache_bytes() const;
  struct Pipeline {
    std::mutex mutex;  // of the handle
    VkPipeline handle = VK_NULL_HANDLE;
  };
  Pipeline& pipeline_of(const KernelInfo& kernel);
  Result<VkPipeline> create_pipeline(const KernelInfo& kernel);
  void destroy_pipelines();

  static constexpr uint32_t kMaximumQueues = 4;

  std::shared_ptr<VulkanInstance> instance_;
  VulkanCandidate candidate_;
  VkDevice device_ = VK_NULL_HANDLE;
  VulkanDeviceFunctions functions_;
  std::atomic<bool> lost_ = false;

  std::array<VulkanDriverQueue, kMaximumQueues> queues_;
  uint32_t queue_count_ = 0;
  std::atomic<uint32_t> queue_turn_ = 0;
  VulkanDriverQueue copy_queue_;
  std::vector<uint32_t> families_;

  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache pipeline_cache_ = VK_NULL_HANDLE;
  std::mutex saving_mutex_;          // of the next
  size_t pipeline_cache_bytes_ = 0;  // when it was loaded or saved last
  std::atomic<bool> new_pipelines_ = false;
  std::mutex pipelines_mutex_;  // of the map, whose entries stay where they are
  std::map<std::pair<const KernelFile*, std::string_view>, Pipeline> pipelines_;
  const char* target_ = "spirv";

  std::array<std::atomic<int64_t>, VK_MAX_MEMORY_HEAPS> allocated_{};
};

}  // namespace acuity

#endif
