// SPDX-License-Identifier: BSD-2-Clause-Patent
// A feature made of scales, each with its options: what adm and float_adm do alike.
#ifndef ACUITY_METRICS_ADM_SCALED_FEATURE_H
#define ACUITY_METRICS_ADM_SCALED_FEATURE_H

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/try.h"
#include "engine/feature.h"
#include "metrics/adm/outputs.h"
#include "metrics/adm/scales.h"

namespace acuity::adm {

template <class Options>
struct Plan {
  int width = 0;
  int height = 0;
  Options options;
  Combination combination;
};

template <class Scale, class Options>
class ScaledWorker final : public FeatureWorker {
 public:
  Status prepare(const Plan<Options>& plan) {
    plan_ = plan;
    const ScaleShapes shapes = scale_shapes(plan.width, plan.height);
    for (size_t s = 0; s < kScales; ++s) {
      Scale* next = s + 1 < kScales ? &scales_[s + 1] : nullptr;
      ACUITY_TRY(scales_[s].prepare(static_cast<int>(s), shapes[s], plan.options, next));
    }
    return {};
  }

  size_t bytes() const override {
    size_t total = 0;
    for (const Scale& scale : scales_) total += scale.bytes();
    return total;
  }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    for (Scale& scale : scales_) scale.begin(*window.reference[0], *window.distorted[0]);
    make_all_rows(scales_);
    std::array<ScaleNumbers, kScales> numbers;
    for (size_t s = 0; s < kScales; ++s) numbers[s] = scales_[s].finish();
    combine(numbers, plan_.width, plan_.height, plan_.combination, values);
    return {};
  }

 private:
  Plan<Options> plan_;
  std::array<Scale, kScales> scales_;
};

template <class Scale, class Options>
class ScaledFeature : public Feature {
 public:
  ScaledFeature(const Plan<Options>& plan, std::vector<FeatureOutput> outputs)
      : plan_(plan), outputs_(std::move(outputs)) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    auto worker = std::make_unique<ScaledWorker<Scale, Options>>();
    ACUITY_TRY(worker->prepare(plan_));
    return std::unique_ptr<FeatureWorker>(std::move(worker));
  }

  bool reads(Role, int plane) const override { return plane == 0; }

 protected:
  const Plan<Options>& plan() const { return plan_; }

 private:
  Plan<Options> plan_;
  std::vector<FeatureOutput> outputs_;
};

}  // namespace acuity::adm

#endif
