// SPDX-License-Identifier: BSD-2-Clause-Patent
// The feature "vif": visual information fidelity in whole numbers, equal to libvmaf's integer_vif.
#ifndef ACUITY_METRICS_VIF_FEATURE_H
#define ACUITY_METRICS_VIF_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry vif_entry();

}  // namespace acuity

#endif
