// SPDX-License-Identifier: BSD-2-Clause-Patent
// What metrics give frame by frame, and what becomes of it when the last frame is scored.
#ifndef ACUITY_CLI_FRAME_VALUES_H
#define ACUITY_CLI_FRAME_VALUES_H

#include "cli/pairs.h"

namespace acuity::cli {

/// Adds the score of a frame to those before it: the values at the end of each series, and the times to the sums. The
/// time for converting samples goes to `convert_ms`.
void add_frame(MetricScore& entry, Score score, double& convert_ms);

/// The warnings of all metrics, with the files in front, each once: metrics that share a device that failed warn of the
/// same.
void add_warnings_of_metrics(PairResult& result, const std::string& files);

/// Metrics of frames and of pictures may have come to different places; only frames that all of them scored count.
/// Fails with result.cut_short if nothing is left, or if a value for all frames together would be one for others.
Status keep_common_frames(PairResult& result);

/// One value for all frames: the mean, unless the metric has its own way.
void pool_frames(PairResult& result);

}  // namespace acuity::cli

#endif
