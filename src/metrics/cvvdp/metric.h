// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP; the page docs/metrics/cvvdp.md describes it.
#ifndef ACUITY_METRICS_CVVDP_METRIC_H
#define ACUITY_METRICS_CVVDP_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry cvvdp_entry();

}  // namespace acuity

#endif
