// SPDX-License-Identifier: BSD-2-Clause-Patent
// How frames of Y'CbCr become red, green and blue.
#ifndef ACUITY_METRICS_CVVDP_READING_H
#define ACUITY_METRICS_CVVDP_READING_H

#include "acuity/frame.h"
#include "colour/yuv.h"

namespace acuity::cvvdp {

/// As the reference reads frames of limited range, which is all that it knows. `clips` as limited_equations_of().
YuvEquations reading_of(const FrameFormat& format, bool clips);

}  // namespace acuity::cvvdp

#endif
