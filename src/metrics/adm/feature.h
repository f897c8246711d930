// SPDX-License-Identifier: BSD-2-Clause-Patent
// ADM, the detail loss and additive impairment metric, in whole numbers: libvmaf's feature "adm".
#ifndef ACUITY_METRICS_ADM_FEATURE_H
#define ACUITY_METRICS_ADM_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry adm_entry();

}  // namespace acuity

#endif
