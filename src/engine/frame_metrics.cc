// SPDX-License-Identifier: BSD-2-Clause-Patent
// The list of metrics of frames: VMAF, and every feature by itself.
#include <algorithm>

#include "base/try.h"
#include "engine/frame_metric.h"
#include "metrics/vmaf/metric.h"

namespace acuity {
namespace {

// A feature as it is.
class SingleFeature : public FrameMetric {
 public:
  explicit SingleFeature(FeatureRequest request) { needs_.push_back(std::move(request)); }
  const std::vector<FeatureRequest>& needs() const override { return needs_; }

  Status conclude(std::span<const MeasuredFeature> measured, FrameScore& score) const override {
    const MeasuredFeature& only = measured.front();
    const std::vector<FeatureOutput>& outputs = only.feature->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      score.outputs.push_back({outputs[i].name, (*only.series)[i], outputs[i].debug_only});
    }
    score.headline = only.feature->headline();
    score.aggregates = *only.aggregates;
    return {};
  }

 private:
  std::vector<FeatureRequest> needs_;
};

Result<std::unique_ptr<FrameMetric>> create_single(const Feature::Setup& setup, const FrameMetricEntry& entry) {
  return std::unique_ptr<FrameMetric>(
      std::make_unique<SingleFeature>(FeatureRequest{entry.feature, setup.options, setup.depth}));
}

// A metric of pictures may have the name of a feature already.
std::string metric_name(const std::string& feature) { return feature == "psnr" ? "psnr_yuv" : feature; }

}  // namespace

const std::vector<FrameMetricEntry>& frame_metrics() {
  static const std::vector<FrameMetricEntry> entries = [] {
    std::vector<FrameMetricEntry> list{vmaf_entry()};
    for (const FeatureEntry& feature : features()) {
      FrameMetricEntry entry{feature.info, create_single, [](double) { return std::string(); }, &feature};
      entry.info.name = metric_name(feature.info.name);
      list.push_back(std::move(entry));
    }
    for (FrameMetricEntry& entry : list) entry.info.frames = true;
    return list;
  }();
  return entries;
}

const FrameMetricEntry* find_frame_metric(std::string_view name) {
  const auto& list = frame_metrics();
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.info.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace acuity
