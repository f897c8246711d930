// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP of video; the page docs/metrics/cvvdp.md describes it.
#ifndef ACUITY_METRICS_CVVDP_VIDEO_H
#define ACUITY_METRICS_CVVDP_VIDEO_H

#include "engine/frame_metric.h"

namespace acuity {

FrameMetricEntry cvvdp_video_entry();

}  // namespace acuity

#endif
