// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which metrics GPUs compute.
#ifndef ACUITY_CLI_GPU_METRICS_H
#define ACUITY_CLI_GPU_METRICS_H

#include <cstdint>
#include <string>
#include <vector>

#include "acuity/scorer.h"
#include "lang/kernel.h"

namespace acuity::cli {

/// Whether there is a GPU version; of a metric that is made of features, whether all features have one.
bool has_gpu_version(const MetricInfo& metric);

/// The kernels it runs on GPUs, with the default options.
std::vector<KernelInfo> gpu_kernels(const MetricInfo& metric);

/// What they need that only some GPUs have, as bits of lang/kernel.h.
uint32_t gpu_needs(const MetricInfo& metric);

/// Such bits, or what a device lacks (DeviceInfo::lacks), in words; empty where there are none.
std::string needs_in_words(uint32_t needs);

}  // namespace acuity::cli

#endif
