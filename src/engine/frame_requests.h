// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the caller of a FrameScorer asked for, checked.
#ifndef ACUITY_ENGINE_FRAME_REQUESTS_H
#define ACUITY_ENGINE_FRAME_REQUESTS_H

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/feature_list.h"
#include "engine/frame_metric.h"

namespace acuity {

/// A frame metric that was asked for.
struct RequestedFrameMetric {
  const FrameMetricEntry* entry = nullptr;
  OptionValues options;
  std::unique_ptr<FrameMetric> metric;
  std::vector<size_t> places;  // of its needs in the list of features

  /// The features it needs that have no GPU version.
  std::vector<std::string> cpu_only() const;
};

struct FrameRequests {
  std::vector<RequestedFrameMetric> metrics;
  FeatureList list;
};

/// The metrics of the options, all of which can score such videos, and the features they need.
Result<FrameRequests> find_frame_requests(const FrameScorerOptions& options);

/// Whether all features of the metrics run on GPUs, and frames of that size can be numbered there.
Status check_gpu_can(const FrameScorerOptions& options, const FrameRequests& requests);

/// Of the reference and the distorted video.
std::array<FrameShape, 2> shapes_of(const FrameScorerOptions& options);
Feature::Setup setup_of(const FrameScorerOptions& options);

}  // namespace acuity

#endif
