// SPDX-License-Identifier: BSD-2-Clause-Patent
// How long threads of this process have been busy sending pictures to devices.
#ifndef ACUITY_DEVICE_PIXELS_SENDING_TIME_H
#define ACUITY_DEVICE_PIXELS_SENDING_TIME_H

namespace acuity {

/// In milliseconds: copying samples to where the device fetches them, and submitting that. Not while the device does.
double sending_ms();

}  // namespace acuity

#endif
