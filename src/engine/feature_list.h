// SPDX-License-Identifier: BSD-2-Clause-Patent
// The features that the metrics of one FrameScorer need.
#ifndef ACUITY_ENGINE_FEATURE_LIST_H
#define ACUITY_ENGINE_FEATURE_LIST_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "engine/frame_metric.h"
#include "engine/frame_pipeline.h"

namespace acuity {

/// Measures each feature that some metric needs once, however many do.
class FeatureList {
 public:
  size_t place(const FeatureRequest& request) {
    const std::string key = fmt::format("{} {}", request.options.label(request.entry->info), request.depth);
    const auto [known, is_new] = places_.emplace(key, requests_.size());
    if (is_new) {
      requests_.push_back(request);
    } else if (!request.enough) {
      requests_[known->second].enough.reset();
    }
    return known->second;
  }

  const std::vector<FeatureRequest>& requests() const { return requests_; }

  Result<std::vector<PipelineFeature>> create(const Feature::Setup& both) const {
    std::vector<PipelineFeature> list;
    for (const FeatureRequest& request : requests_) {
      Feature::Setup setup = both;
      setup.format.depth = setup.distorted.depth = request.depth;
      setup.options = request.enough.value_or(request.options);
      std::unique_ptr<Feature> feature;
      ACUITY_TRY_ASSIGN(feature, request.entry->create(setup));
      list.push_back({std::move(feature), request.depth, request.entry->info.name});
    }
    return list;
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<FeatureRequest> requests_;
};

}  // namespace acuity

#endif
