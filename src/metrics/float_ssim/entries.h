// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_FLOAT_SSIM_ENTRIES_H
#define ACUITY_METRICS_FLOAT_SSIM_ENTRIES_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry float_ssim_entry();
FeatureEntry float_ms_ssim_entry();

}  // namespace acuity

#endif
