// SPDX-License-Identifier: BSD-2-Clause-Patent
// The list of metrics of frames: VMAF, and every feature by itself.
#include <algorithm>

#include "base/try.h"
#include "engine/frame_metric.h"
#include "metrics/cvvdp/video.h"
#include "metrics/vmaf/metric.h"

namespace acuity {
namespace {

// A feature as it is.
class SingleFeature : public FrameMetric {
 public:
  explicit SingleFeature(FeatureRequest request) { needs_.push_back(std::move(request)); }
  const std::vector<FeatureRequest>& needs() const override { return needs_; }

  Status begin(std::span<const Feature* const> features) override {
    feature_ = features.front();
    return {};
  }
  const std::vector<FeatureOutput>& outputs() const override { return feature_->outputs(); }
  size_t headline() const override { return feature_->headline(); }

  void conclude(std::span<const std::span<const double>> features, std::span<double> outputs) const override {
    std::copy_n(features.front().begin(), outputs.size(), outputs.begin());
  }
  std::vector<NamedValue> aggregates(std::span<const std::vector<NamedValue>> features) const override {
    return features.front();
  }

 private:
  std::vector<FeatureRequest> needs_;
  const Feature* feature_ = nullptr;
};

Result<std::unique_ptr<FrameMetric>> create_single(const Feature::Setup& setup, const FrameMetricEntry& entry) {
  return std::unique_ptr<FrameMetric>(
      std::make_unique<SingleFeature>(FeatureRequest{entry.feature, setup.options, setup.format.depth}));
}

// A metric of pictures may have the name of a feature already.
std::string metric_name(const std::string& feature) { return feature == "psnr" ? "psnr_yuv" : feature; }

}  // namespace

const std::vector<FrameMetricEntry>& frame_metrics() {
  static const std::vector<FrameMetricEntry> entries = [] {
    std::vector<FrameMetricEntry> list{vmaf_entry(), cvvdp_video_entry()};
    for (const FeatureEntry& feature : features()) {
      FrameMetricEntry entry{feature.info, create_single, [](double) { return std::string(); }, &feature};
      entry.info.name = metric_name(feature.info.name);
      list.push_back(std::move(entry));
    }
    for (FrameMetricEntry& entry : list) entry.info.is_frame_metric = true;
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
