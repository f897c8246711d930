// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli, the psychovisual difference of libjxl: see docs/metrics/butteraugli.md.
#ifndef ACUITY_METRICS_BUTTERAUGLI_METRIC_H
#define ACUITY_METRICS_BUTTERAUGLI_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry butteraugli_entry();

}  // namespace acuity

#endif
