// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pinned.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/large_memory.h"
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

std::shared_ptr<PinnedMemory> make_known(const Device& device, std::unique_ptr<PinnedMemory> memory) {
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

}  // namespace

Result<std::shared_ptr<PinnedMemory>> allocate_known_pinned(Device& device, size_t bytes) {
  std::unique_ptr<PinnedMemory> memory;
  ACUITY_TRY_ASSIGN(memory, device.allocate_pinned(bytes));
  return make_known(device, std::move(memory));
}

void lock_samples(const std::shared_ptr<Device>& device, const void* samples) {
  const std::span<std::byte> pages = large_pages_of(samples);
  if (pages.empty() || find_pinned(*device, samples, 1).memory) return;
  struct Locked {
    std::shared_ptr<Device> device;
    std::shared_ptr<PinnedMemory> memory;
  };
  Result<std::unique_ptr<PinnedMemory>> memory = device->lock_pages(pages);
  if (!memory.ok() || *memory == nullptr) return;
  auto locked = std::make_shared<Locked>(Locked{device, make_known(*device, std::move(*memory))});
  keep_with(pages, std::move(locked));
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
