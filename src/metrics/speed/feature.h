// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_SPEED_FEATURE_H
#define ACUITY_METRICS_SPEED_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry speed_chroma_entry();
FeatureEntry speed_temporal_entry();

}  // namespace acuity

#endif
