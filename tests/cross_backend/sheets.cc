// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cross_backend/sheets.h"

#include <cstring>
#include <utility>

#include "device/pinned.h"

namespace acuity::tests {

Result<PinnedSheet> pinned_sheet(Device& device, const Sheet& sheet) {
  Result<std::shared_ptr<PinnedMemory>> memory = allocate_known_pinned(device, sheet.memory.size());
  if (!memory.ok()) return memory.status();
  std::memcpy((*memory)->data(), sheet.memory.data(), sheet.memory.size());
  PinnedSheet pinned{*memory, sheet.view};
  for (size_t c = 0; c < static_cast<size_t>(sheet.view.channel_count()); ++c) {
    pinned.view.planes[c] = pinned.memory->data() + (sheet.view.planes[c] - sheet.memory.data());
  }
  return pinned;
}

Result<DeviceSheet> device_sheet(Device& device, const PinnedSheet& sheet) {
  Result<std::unique_ptr<DeviceMemory>> memory = device.allocate(sheet.memory->size() + 16);
  if (!memory.ok()) return memory.status();
  Result<std::unique_ptr<Queue>> queue = device.create_queue();
  if (!queue.ok()) return queue.status();
  constexpr size_t kOff = 4;  // not at a round address
  Status sent = (*queue)->upload(**memory, kOff, *sheet.memory, 0, sheet.memory->size());
  if (sent.ok()) sent = (*queue)->wait();
  if (!sent.ok()) return sent;
  DeviceSheet there{std::move(*memory), sheet.view};
  for (size_t c = 0; c < static_cast<size_t>(sheet.view.channel_count()); ++c) {
    const auto offset = static_cast<uint64_t>(sheet.view.planes[c] - sheet.memory->data());
    there.view.planes[c] = reinterpret_cast<const std::byte*>(there.memory->address() + kOff + offset);
  }
  return there;
}

}  // namespace acuity::tests
