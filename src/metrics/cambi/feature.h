// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_CAMBI_FEATURE_H
#define ACUITY_METRICS_CAMBI_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry cambi_entry();

}  // namespace acuity

#endif
