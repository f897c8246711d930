// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_SSIMULACRA2_METRIC_H
#define ACUITY_METRICS_SSIMULACRA2_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry ssimulacra2_entry();

}  // namespace acuity

#endif
