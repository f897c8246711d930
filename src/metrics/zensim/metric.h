// SPDX-License-Identifier: BSD-2-Clause-Patent
// zensim: structure, edges and error of three colour planes over four scales, up to 372 features, and scores of them.
#ifndef ACUITY_METRICS_ZENSIM_METRIC_H
#define ACUITY_METRICS_ZENSIM_METRIC_H

#include "engine/metric.h"

namespace acuity {

MetricEntry zensim_entry();

}  // namespace acuity

#endif
