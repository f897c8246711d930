// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work of a queue and of those that wait for it, kept as a graph of the driver.
#ifndef ACUITY_DEVICE_GPU_RECORDING_H
#define ACUITY_DEVICE_GPU_RECORDING_H

#include "device/gpu/queue.h"

namespace acuity {

/// As Device::record.
Result<std::unique_ptr<Recording>> record_graph(const std::shared_ptr<GpuContext>& context, GpuQueue& queue,
                                                const std::function<Status()>& work);

}  // namespace acuity

#endif
