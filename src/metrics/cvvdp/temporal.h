// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the eye responds to change over time: filters for any frame rate.
#ifndef ACUITY_METRICS_CVVDP_TEMPORAL_H
#define ACUITY_METRICS_CVVDP_TEMPORAL_H

#include <array>
#include <vector>

#include "metrics/cvvdp/parameters.h"

namespace acuity::cvvdp {

/// For each channel the weights of a frame and of those before it. The transient channel filters the achromatic plane.
std::array<std::vector<float>, kChannels> temporal_filters(double frames_per_second);

/// How many weights there are.
int temporal_length(double frames_per_second);

}  // namespace acuity::cvvdp

#endif
