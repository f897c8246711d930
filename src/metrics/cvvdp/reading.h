// SPDX-License-Identifier: BSD-2-Clause-Patent
// How frames become red, green and blue, and which of them hold the codes of pictures.
#ifndef ACUITY_METRICS_CVVDP_READING_H
#define ACUITY_METRICS_CVVDP_READING_H

#include <vector>

#include "acuity/frame.h"
#include "colour/yuv.h"
#include "metrics/cvvdp/display.h"

namespace acuity::cvvdp {

/// As the reference reads frames of limited range, which is all that it knows. `clips` as limited_equations_of().
YuvEquations reading_of(const FrameFormat& format, bool clips);

/// The light of all codes, as of a picture's, if frames are codes of red, green and blue, or of grey; empty otherwise.
std::vector<float> table_of(const FrameFormat& format, const Photometry& photometry);

}  // namespace acuity::cvvdp

#endif
