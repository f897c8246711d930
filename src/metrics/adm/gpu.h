// SPDX-License-Identifier: BSD-2-Clause-Patent
// All scales of ADM in whole numbers on a device.
#ifndef ACUITY_METRICS_ADM_GPU_H
#define ACUITY_METRICS_ADM_GPU_H

#include "engine/device_feature.h"
#include "metrics/adm/scaled_feature.h"
#include "metrics/adm/scale_rules.h"

namespace acuity::adm {

/// `frame` has the depth that features are set up for.
Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const Plan<IntegerOptions>& plan,
                                                                  const FrameShape& frame);

}  // namespace acuity::adm

#endif
