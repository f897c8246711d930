// SPDX-License-Identifier: BSD-2-Clause-Patent
// All scales of VIF in whole numbers on a device.
#ifndef ACUITY_METRICS_VIF_GPU_H
#define ACUITY_METRICS_VIF_GPU_H

#include "engine/device_feature.h"

namespace acuity::vif {

/// Loads the kernels ahead of their first use.
Status prepare(Device& device);

/// Of the scales after the first, on the device.
size_t device_scratch_bytes(const FrameShape& shape);

struct DeviceTask {
  FrameShape shape;  // with the depth that is wanted
  int depth = 8;     // of the samples there are
  double gain_limit = 100;
  bool skip_scale0 = false;
};

/// Adds what measure_scale() gives for each scale to kScales Totals on the device.
Status add_totals(Queue& queue, const DeviceTask& task, const DevicePlane& reference, const DevicePlane& distorted,
                  uint64_t scratch, uint64_t totals);

}  // namespace acuity::vif

#endif
