// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI on a device.
#ifndef ACUITY_METRICS_CAMBI_GPU_H
#define ACUITY_METRICS_CAMBI_GPU_H

#include <functional>

#include "engine/device_feature.h"
#include "metrics/cambi/meter.h"

namespace acuity::cambi {

/// Fills the values of a frame from what the distorted one and, with full_reference, the reference have.
using FillValues = std::function<void(double distorted, double reference, std::span<double> values)>;

/// `frame` has the depth that the feature is set up for.
Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const Plan& plan,
                                                                  const FrameShape& frame, FillValues fill);

}  // namespace acuity::cambi

#endif
