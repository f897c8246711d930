// SPDX-License-Identifier: BSD-2-Clause-Patent
// Page-locked memory that callers fill with pixels themselves, recognised by its address so that it need not be copied
// before it is sent.
#ifndef ACUITY_DEVICE_PINNED_H
#define ACUITY_DEVICE_PINNED_H

#include <memory>

#include "device/device.h"

namespace acuity {

/// Known to find_pinned as long as it lives. The device must outlive it.
Result<std::shared_ptr<PinnedMemory>> allocate_known_pinned(Device& device, size_t bytes);

struct PinnedPlace {
  std::shared_ptr<PinnedMemory> memory;  // null: the address is ordinary memory
  size_t offset = 0;
};

/// Where `bytes` from `address` on lie in page-locked memory of that device.
PinnedPlace find_pinned(const Device& device, const void* address, size_t bytes);

}  // namespace acuity

#endif
