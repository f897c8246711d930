// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_MOTION_FEATURE_H
#define ACUITY_METRICS_MOTION_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry motion_entry();
FeatureEntry motion_v2_entry();
FeatureEntry float_motion_entry();

}  // namespace acuity

#endif
