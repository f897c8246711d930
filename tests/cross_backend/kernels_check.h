// SPDX-License-Identifier: BSD-2-Clause-Patent
// What all metrics share on a device, checked before any of them: each function returns what was compared, and prints
// what differs.
#ifndef ACUITY_TESTS_CROSS_BACKEND_KERNELS_CHECK_H
#define ACUITY_TESTS_CROSS_BACKEND_KERNELS_CHECK_H

#include "device/device.h"

namespace acuity::tests {

/// How much is compared: everything, for devices; every way through the code with few pictures, for each change; and
/// once through the host's code, under a sanitizer that makes it slow and does not look into kernels.
enum class Amount { all, quick, brief };

struct Tally {
  int comparisons = 0;
  int failures = 0;
};

/// Every form of samples and colour that can be sent to the device, == what Rows::read makes of it.
Tally check_pixels(const std::shared_ptr<Device>& device);

/// Every kind of Y'CbCr frame, == what Rows::read makes of what convert_frame() makes of it.
Tally check_frame_pixels(const std::shared_ptr<Device>& device);

}  // namespace acuity::tests

#endif
