// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_PSNR_HVS_FEATURE_H
#define ACUITY_METRICS_PSNR_HVS_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry psnr_hvs_entry();

}  // namespace acuity

#endif
