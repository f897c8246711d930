// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric for FrameScorer must offer: which features it is made of, and what it makes of them.
#ifndef ACUITY_ENGINE_FRAME_METRIC_H
#define ACUITY_ENGINE_FRAME_METRIC_H

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/frame_scorer.h"
#include "engine/feature.h"

namespace acuity {

/// A feature with its settings, and how many bits the samples have that it is measured on.
struct FeatureRequest {
  const FeatureEntry* entry = nullptr;
  OptionValues options;
  int depth = 8;
  /// Options that do where no other metric asks for the same feature: outputs this one needs are the same, and cheaper.
  std::optional<OptionValues> enough{};
};

/// A feature at work and what it measured.
struct MeasuredFeature {
  const Feature* feature = nullptr;
  const FeatureSeries* series = nullptr;
  const std::vector<NamedValue>* aggregates = nullptr;
};

class FrameMetric {
 public:
  virtual ~FrameMetric() = default;
  virtual const std::vector<FeatureRequest>& needs() const = 0;
  /// Fills in the outputs, the headline and the aggregates, and adds to the assumptions; `measured` are its needs.
  virtual Status conclude(std::span<const MeasuredFeature> measured, FrameScore& score) const = 0;
};

/// A row of the list of metrics of frames. The options and the name are those of `info`.
struct FrameMetricEntry {
  MetricInfo info;
  /// Of `setup` the options are those of `info`.
  Result<std::unique_ptr<FrameMetric>> (*create)(const Feature::Setup& setup, const FrameMetricEntry& entry);
  std::string (*meaning)(double value);
  const FeatureEntry* feature = nullptr;  // where the metric is a feature by itself
};

/// Every metric of frames, in the order lists show them; engine/frame_metrics.cc names them.
const std::vector<FrameMetricEntry>& frame_metrics();
const FrameMetricEntry* find_frame_metric(std::string_view name);

}  // namespace acuity

#endif
