// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels loaded ahead of their first launches. A driver that has to compile them takes a good part of a second for
// each file of them, and compiles those that several threads ask for side by side.
#ifndef ACUITY_DEVICE_LOAD_KERNELS_H
#define ACUITY_DEVICE_LOAD_KERNELS_H

#include <span>

#include "device/device.h"

namespace acuity {

/// Device::prepare for all of them, by as many threads as this process may use. If some fail, the failure of the first
/// in this list.
Status load_kernels(Device& device, std::span<const KernelInfo> kernels);

}  // namespace acuity

#endif
