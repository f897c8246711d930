// SPDX-License-Identifier: BSD-2-Clause-Patent
// The part of 'acuity selftest' that metrics of frames have in it.
#ifndef ACUITY_CLI_SELFTEST_FRAMES_H
#define ACUITY_CLI_SELFTEST_FRAMES_H

#include <string>
#include <vector>

#include "acuity/scorer.h"
#include "cli/selftest_pictures.h"

namespace acuity::cli {

/// Scores a video whose frames are the pairs, and says what is wrong with the values; empty when nothing is.
std::vector<std::string> check_frames(const MetricInfo& metric, const std::string& device, int threads,
                                      const std::vector<DrawnPair>& pairs);

}  // namespace acuity::cli

#endif
