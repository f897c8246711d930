// SPDX-License-Identifier: BSD-2-Clause-Patent
// Mean squared error of sRGB codes, and the peak signal-to-noise ratio made of it.
#ifndef ACUITY_METRICS_MSE_METRIC_H
#define ACUITY_METRICS_MSE_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry mse_entry();
MetricEntry psnr_entry();

}  // namespace acuity

#endif
