// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_DSSIM_METRIC_H
#define ACUITY_METRICS_DSSIM_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry dssim_entry();

}  // namespace acuity

#endif
