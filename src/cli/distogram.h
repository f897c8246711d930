// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP's distogram: what is seen of each subband over time, as a picture.
#ifndef ACUITY_CLI_DISTOGRAM_H
#define ACUITY_CLI_DISTOGRAM_H

#include <string>

#include "cli/pairs.h"

namespace acuity::cli {

/// Writes that of a video's score and says, for people, how to read it. `largest_loss` is what the brightest colour
/// stands for, in JOD; 0: the largest there is, rounded up to a whole number.
Result<std::string> write_distogram(const std::string& path, double largest_loss, const MetricScore& entry);

}  // namespace acuity::cli

#endif
