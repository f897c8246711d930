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

class FrameMetric {
 public:
  virtual ~FrameMetric() = default;
  virtual const std::vector<FeatureRequest>& needs() const = 0;
  /// Called once, before all that follows, with the features of needs(), which outlive the metric.
  virtual Status begin(std::span<const Feature* const> features) = 0;
  virtual const std::vector<FeatureOutput>& outputs() const = 0;
  virtual size_t headline() const { return 0; }
  /// The outputs of one frame, from the values of the features.
  virtual void conclude(std::span<const std::span<const double>> features, std::span<double> outputs) const = 0;
  /// What there is one of for the whole video, from what the features have of that.
  virtual std::vector<NamedValue> aggregates(std::span<const std::vector<NamedValue>>) const { return {}; }
  /// As Feature::map().
  virtual std::optional<FrameMap> map() const { return {}; }
  /// What was taken for granted, for people.
  virtual std::vector<std::string> assumptions() const { return {}; }
};

/// A row of the list of metrics of frames. The options and the name are those of `info`.
struct FrameMetricEntry {
  MetricInfo info;
  /// Of `setup` the options are those of `info`.
  Result<std::unique_ptr<FrameMetric>> (*create)(const Feature::Setup& setup, const FrameMetricEntry& entry);
  std::string (*meaning)(double value);
  const FeatureEntry* feature = nullptr;  // where the metric is a feature by itself
  /// With which options the videos may have different sizes and subsamplings; null: never.
  bool (*resizes)(const OptionValues& options) = nullptr;
  bool reads_rgb = false;                                          // frames may be Matrix::rgb
  Status (*check_options)(const OptionValues& options) = nullptr;  // as in MetricEntry
};

/// Every metric of frames, in the order lists show them; engine/frame_metrics.cc names them.
const std::vector<FrameMetricEntry>& frame_metrics();
const FrameMetricEntry* find_frame_metric(std::string_view name);

}  // namespace acuity

#endif
