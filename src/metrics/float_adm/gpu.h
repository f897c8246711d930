// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_FLOAT_ADM_GPU_H
#define ACUITY_METRICS_FLOAT_ADM_GPU_H

#include "engine/device_feature.h"
#include "metrics/adm/scaled_feature.h"
#include "metrics/float_adm/scale.h"

namespace acuity::float_adm {

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const adm::Plan<Options>& plan);

}  // namespace acuity::float_adm

#endif
