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

/// Page-locks the memory that samples are in, so that find_pinned knows it, until it is freed. Only memory of
/// allocate_large() of some size; other memory stays as it is, and so does that of a device that cannot or will not.
/// Not for two callers with the same memory at a time.
void lock_samples(const std::shared_ptr<Device>& device, const void* samples);

struct PinnedPlace {
  std::shared_ptr<PinnedMemory> memory;  // null: the address is ordinary memory
  size_t offset = 0;
};

/// Where `bytes` from `address` on lie in page-locked memory of that device.
PinnedPlace find_pinned(const Device& device, const void* address, size_t bytes);

}  // namespace acuity

#endif
