// SPDX-License-Identifier: BSD-2-Clause-Patent
// What ColorVideoVDP shows behind its heat maps: the distorted picture in grey.
#ifndef ACUITY_METRICS_CVVDP_CONTEXT_H
#define ACUITY_METRICS_CVVDP_CONTEXT_H

#include <vector>

#include "acuity/image.h"
#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity::cvvdp {

/// The achromatic channel of a picture, all its pixels, as grey from 0.2 to 0.8: logarithms, with more room for those
/// that are frequent.
std::vector<float> grey_context(std::vector<float> achromatic);

/// That of a still picture which was compared with a reference of that colour.
Result<std::vector<float>> context_of(const std::vector<OptionValue>& options, const Colour& reference,
                                      const ImageView& distorted);

}  // namespace acuity::cvvdp

#endif
