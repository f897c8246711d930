// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pinned.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/try.h"

namespace acuity {
namespace {

struct Known {
  const Device* device;
  std::weak_ptr<PinnedMemory> memory;
};

std::mutex mutex;
std::map<const std::byte*, Known>& known() {
  static std::map<const std::byte*, Known> blocks;  // by first address
  return blocks;
}

}  // namespace

Result<std::shared_ptr<PinnedMemory>> allocate_known_pinned(Device& device, size_t bytes) {
  std::unique_ptr<PinnedMemory> memory;
  ACUITY_TRY_ASSIGN(memory, device.allocate_pinned(bytes));
  std::shared_ptr<PinnedMemory> shared(memory.release(), [](PinnedMemory* gone) {
    {
      const std::lock_guard lock(mutex);
      known().erase(gone->data());
    }
    delete gone;
  });
  const std::lock_guard lock(mutex);
  known()[shared->data()] = {&device, shared};
  return shared;
}

PinnedPlace find_pinned(const Device& device, const void* address, size_t bytes) {
  const std::byte* begin = static_cast<const std::byte*>(address);
  const std::lock_guard lock(mutex);
  auto block = known().upper_bound(begin);
  if (block == known().begin()) return {};
  --block;
  std::shared_ptr<PinnedMemory> memory = block->second.memory.lock();
  if (!memory || block->second.device != &device) return {};
  const size_t offset = static_cast<size_t>(begin - memory->data());
  if (offset > memory->size() || bytes > memory->size() - offset) return {};
  return {std::move(memory), offset};
}

}  // namespace acuity
