// SPDX-License-Identifier: BSD-2-Clause-Patent
// Cards that several drivers show.
#ifndef ACUITY_DEVICE_ONE_CARD_H
#define ACUITY_DEVICE_ONE_CARD_H

#include "device/device.h"

namespace acuity {

/// Whether they are one card behind two drivers. Two devices of Vulkan may be that; those of CUDA or of HIP are parts
/// of a card.
bool show_one_card(const DeviceInfo& a, const DeviceInfo& b);

}  // namespace acuity

#endif
