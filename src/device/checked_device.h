// SPDX-License-Identifier: BSD-2-Clause-Patent
// Every check of what callers pass, once for all backends, and the rule that after a failure a queue repeats it.
#ifndef ACUITY_DEVICE_CHECKED_DEVICE_H
#define ACUITY_DEVICE_CHECKED_DEVICE_H

#include "device/device.h"

namespace acuity {

/// The same device behind those checks. Backends see only calls that make sense. `info` says what is known
/// of it by now.
std::shared_ptr<Device> check_calls(std::shared_ptr<Device> device, DeviceInfo info);

}  // namespace acuity

#endif
