// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_PSNR_YUV_FEATURE_H
#define ACUITY_METRICS_PSNR_YUV_FEATURE_H

#include "engine/feature.h"

namespace acuity {

FeatureEntry psnr_yuv_entry();  // libvmaf's name for it is psnr
FeatureEntry float_psnr_entry();
FeatureEntry float_ansnr_entry();
FeatureEntry float_moment_entry();

}  // namespace acuity

#endif
