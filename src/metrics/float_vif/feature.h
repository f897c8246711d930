// SPDX-License-Identifier: BSD-2-Clause-Patent
// The feature "float_vif": visual information fidelity in floats, equal to libvmaf's.
#ifndef ACUITY_METRICS_FLOAT_VIF_FEATURE_H
#define ACUITY_METRICS_FLOAT_VIF_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry float_vif_entry();

}  // namespace acuity

#endif
