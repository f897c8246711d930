// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/table.h"

#include <cstring>

#include "base/try.h"

namespace acuity {

Result<std::unique_ptr<DeviceMemory>> send_table(Device& device, std::span<const std::byte> table) {
  std::unique_ptr<DeviceMemory> there;
  std::unique_ptr<PinnedMemory> here;
  std::unique_ptr<Queue> queue;
  ACUITY_TRY_ASSIGN(there, device.allocate(table.size()));
  ACUITY_TRY_ASSIGN(here, device.allocate_pinned(table.size()));
  ACUITY_TRY_ASSIGN(queue, device.create_queue());
  std::memcpy(here->data(), table.data(), table.size());
  ACUITY_TRY(queue->upload(*there, 0, *here, 0, table.size()));
  ACUITY_TRY(queue->wait());
  return there;
}

}  // namespace acuity
