// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_MSE_GPU_H
#define ACUITY_METRICS_MSE_GPU_H

#include <array>

#include "base/threads.h"
#include "colour/rows.h"
#include "device/device.h"

namespace acuity::mse {

/// What sum_squared_differences gives, to the last bit, from a GPU.
Result<std::array<double, 3>> sum_on_device(Device& device, const Threads& threads, const Rows& reference,
                                            const Rows& distorted);

}  // namespace acuity::mse

#endif
