// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether a device has what a kernel needs.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/device.h"
#include "device/vulkan/spirv.h"

namespace acuity {
namespace {

constexpr int kMostSharedBytes = 48 << 10;  // of any kernel: CUDA compiles none with more

// Of all targets the most.
uint64_t read_shared_bytes(const KernelInfo& kernel) {
  uint64_t most = 0;
  for (const KernelCode& code : kernel.file->codes) {
    if (code.backend != Backend::vulkan || std::string_view(code.kernel) != kernel.name) continue;
    const Result<uint64_t> bytes = module_shared_bytes(code.data);  // a damaged module is refused when it is loaded
    if (bytes.ok()) most = std::max(most, *bytes);
  }
  return most;
}

// Only SPIR-V shows them. Every launch asks, so each module is read once.
uint64_t shared_bytes_of(const KernelInfo& kernel) {
  static std::mutex mutex;
  static auto& known = *new std::map<const KernelFile*, std::map<std::string, uint64_t, std::less<>>>;
  const std::lock_guard lock(mutex);
  auto& of_file = known[kernel.file];
  auto found = of_file.find(std::string_view(kernel.name));
  if (found == of_file.end()) found = of_file.emplace(kernel.name, read_shared_bytes(kernel)).first;
  return found->second;
}

}  // namespace

std::string missing_needs(const DeviceInfo& device, const KernelInfo& kernel) {
  const uint32_t missing = kernel.needs & device.lacks;
  std::vector<std::string> names;
  if ((missing & needs_int64) != 0) names.emplace_back("64-bit integers");
  if ((missing & needs_double) != 0) names.emplace_back("exact doubles");
  if ((missing & needs_storage16) != 0) names.emplace_back("16-bit integers in buffers");
  if ((missing & needs_storage8) != 0) names.emplace_back("bytes in buffers");
  const int threads = kernel.group_width * kernel.group_height;
  if (threads > device.group_threads) {
    names.push_back(fmt::format("groups of {} threads (at most {})", threads, device.group_threads));
  } else if (kernel.group_width > device.group_width || kernel.group_height > device.group_height) {
    names.push_back(fmt::format("groups of {} x {} threads (at most {} x {})", kernel.group_width, kernel.group_height,
                                device.group_width, device.group_height));
  }
  if (device.shared_bytes < kMostSharedBytes) {
    const uint64_t bytes = shared_bytes_of(kernel);
    if (bytes > static_cast<uint64_t>(device.shared_bytes)) {
      names.push_back(fmt::format("{} bytes of shared memory (at most {})", bytes, device.shared_bytes));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Status check_needs(const DeviceInfo& device, const KernelInfo& kernel) {
  const std::string missing = missing_needs(device, kernel);
  if (missing.empty()) return {};
  return {StatusCode::device,
          fmt::format("{} ({}, {}) lacks {}, which kernel {} of {} needs; use another device", device.id, device.name,
                      device.driver, missing, kernel.name, kernel.file->name)};
}

}  // namespace acuity
