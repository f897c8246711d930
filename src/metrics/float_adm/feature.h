// SPDX-License-Identifier: BSD-2-Clause-Patent
// ADM, the detail loss and additive impairment metric, in float: libvmaf's feature "float_adm".
#ifndef ACUITY_METRICS_FLOAT_ADM_FEATURE_H
#define ACUITY_METRICS_FLOAT_ADM_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry float_adm_entry();

}  // namespace acuity

#endif
