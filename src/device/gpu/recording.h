// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work of a stream and of those that wait for it, kept as a graph of the driver.
#ifndef ACUITY_DEVICE_GPU_RECORDING_H
#define ACUITY_DEVICE_GPU_RECORDING_H

#include "device/gpu/context.h"

namespace acuity {

/// As Device::record.
Result<std::unique_ptr<Recording>> record_graph(std::shared_ptr<GpuContext> context, void* stream,
                                                const std::function<Status()>& work);

}  // namespace acuity

#endif
