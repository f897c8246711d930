// SPDX-License-Identifier: BSD-2-Clause-Patent
// Differences that have a cause other than a codec, recognised by their samples.
#ifndef ACUITY_METRICS_ZENSIM_DIFFERENCE_H
#define ACUITY_METRICS_ZENSIM_DIFFERENCE_H

#include <string>

#include "acuity/image.h"

namespace acuity::zensim {

/// What is different, in words, if it is one of these everywhere: rounding, swapped channels, alpha handled otherwise.
/// Empty for other differences, for none, and for pictures whose samples are not integers of the same depth. Looks at
/// pixels until every explanation has failed, which for other pictures is soon.
std::string explained_difference(const ImageView& reference, const ImageView& distorted);

}  // namespace acuity::zensim

#endif
