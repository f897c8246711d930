// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which metrics GPUs compute.
#ifndef ACUITY_CLI_GPU_METRICS_H
#define ACUITY_CLI_GPU_METRICS_H

#include <cstdint>
#include <string>

#include "acuity/scorer.h"

namespace acuity::cli {

/// Whether there is a GPU version; of a metric that is made of features, whether all features have one.
bool has_gpu_version(const MetricInfo& metric);

/// What a device lacks, in words, from DeviceInfo::lacks; empty where it lacks nothing.
std::string lacks_in_words(uint32_t lacks);

}  // namespace acuity::cli

#endif
