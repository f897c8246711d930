// SPDX-License-Identifier: BSD-2-Clause-Patent
// VMAF as a metric of frames.
#ifndef ACUITY_METRICS_VMAF_METRIC_H
#define ACUITY_METRICS_VMAF_METRIC_H

#include "engine/frame_metric.h"
#include "metrics/vmaf/model.h"

namespace acuity {

FrameMetricEntry vmaf_entry();

namespace vmaf {

/// The features a model is made of, in the order of its inputs, each once.
Result<std::vector<FeatureRequest>> features_of(const Model& model, int depth);
/// The feature that gives an output of that long name; null where none does.
const FeatureEntry* feature_with_output(std::string_view output);
/// "FEATURE.OPTION=VALUE", several with a ';' between, in place of what the model says.
Status apply_overrides(std::string_view overrides, ModelSet& set);

}  // namespace vmaf

}  // namespace acuity

#endif
