// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/workspace.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"

namespace acuity {
namespace {

constexpr size_t kDeviceAlignment = 256;
constexpr size_t kMostElements = std::numeric_limits<int32_t>::max();

}  // namespace

size_t MemoryLayout::place(size_t floats) {
  const size_t at = bytes_;
  bytes_ += round_up(floats * sizeof(float), kDeviceAlignment);
  largest_array_ = std::max(largest_array_, floats);
  return at;
}

Status Workspace::allocate(const MemoryLayout& layout, size_t result_bytes, const std::string& use) {
  if (layout.largest_array() > kMostElements) {
    return Status(StatusCode::too_big,
                  fmt::format("{} needs an array of {} elements for pictures of this size, and a kernel can number {}; "
                              "use smaller strips or the device cpu",
                              use, layout.largest_array(), kMostElements));
  }
  ACUITY_TRY_ASSIGN(memory_, pool_->take(layout.bytes(), use));
  ACUITY_TRY_ASSIGN(results_, device().allocate_pinned(result_bytes));
  return {};
}

Status Workspace::prepare(std::initializer_list<KernelInfo> kernels) const {
  for (const KernelInfo& kernel : kernels) ACUITY_TRY(device().prepare(kernel));
  return {};
}

Result<Queue*> Workspace::create_queue() {
  std::unique_ptr<Queue> queue;
  ACUITY_TRY_ASSIGN(queue, device().create_queue());
  return queues_.emplace_back(std::move(queue)).get();
}

Result<Event*> Workspace::create_event() {
  std::unique_ptr<Event> event;
  ACUITY_TRY_ASSIGN(event, device().create_event());
  return events_.emplace_back(std::move(event)).get();
}

Status Workspace::send(Queue& queue, size_t offset, const std::vector<float>& numbers) {
  std::unique_ptr<PinnedMemory> staging;
  ACUITY_TRY_ASSIGN(staging, device().allocate_pinned(numbers.size() * sizeof(float)));
  std::memcpy(staging->data(), numbers.data(), staging->size());
  ACUITY_TRY(queue.upload(*memory_, offset, *staging, 0, staging->size()));
  return queue.wait();
}

}  // namespace acuity
