// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_CIEDE2000_FEATURE_H
#define ACUITY_METRICS_CIEDE2000_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry ciede_entry();

}  // namespace acuity

#endif
