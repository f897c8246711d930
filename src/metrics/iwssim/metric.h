// SPDX-License-Identifier: BSD-2-Clause-Patent
// IW-SSIM, and MS-SSIM in its classic form: structural similarity of luma over five scales.
#ifndef ACUITY_METRICS_IWSSIM_METRIC_H
#define ACUITY_METRICS_IWSSIM_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry iwssim_entry();
MetricEntry msssim_entry();

}  // namespace acuity

#endif
