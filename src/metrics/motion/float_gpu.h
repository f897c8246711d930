// SPDX-License-Identifier: BSD-2-Clause-Patent
// The sums of float_difference.h on a device.
#ifndef ACUITY_METRICS_MOTION_FLOAT_GPU_H
#define ACUITY_METRICS_MOTION_FLOAT_GPU_H

#include "engine/device_feature.h"
#include "metrics/motion/float_difference.h"

namespace acuity::motion {

/// Loads the kernels ahead of their first use. `at_half_size`: that for planes at half their size too.
Status prepare_float(Device& device, bool at_half_size);

/// The sums of rows of absolute differences of two planes of width x height samples of `depth` bits, blurred: floats,
/// one a row, or with `at_half_size` one a row of both planes at half their size.
Status sum_blurred_rows(Queue& queue, int width, int height, int depth, const Taps& taps, const DevicePlane& before,
                        const DevicePlane& now, bool at_half_size, uint64_t sums);

}  // namespace acuity::motion

#endif
