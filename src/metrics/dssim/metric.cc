// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/dssim/metric.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/alpha.h"
#include "colour/rows.h"
#include "metrics/dssim/pooling.h"
#include "metrics/dssim/runner.h"

namespace acuity {
namespace dssim {
namespace {

constexpr WorkingSpace kSpace{.encoding = WorkingSpace::Encoding::linear,
                              .srgb_curve = WorkingSpace::SrgbCurve::single};
constexpr const char* kAlphaRule = "composited in linear light over a pattern of colours that depends on the position";

// A picture as the runners take it.
struct Opened {
  Input input;
  std::optional<Rows> rows;

  static Result<Opened> create(const Input& input) {
    Opened opened{input, std::nullopt};
    ACUITY_TRY_ASSIGN(opened.rows, Rows::create(without_alpha(input.view()), kSpace, std::nullopt));
    return opened;
  }
  bool has_alpha() const { return input.view().has_alpha(); }
  Picture picture() const { return {&*rows, has_alpha() ? &input.view() : nullptr, &input}; }
};

// What is prepared of a reference.
class Reference final : public PreparedReference {
 public:
  std::shared_ptr<const PreparedReference> prepared;
  std::string description;
  bool has_alpha = false;

  size_t bytes() const override { return prepared->bytes(); }
};

class Dssim final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    Result<std::unique_ptr<Runner>> runner = setup.pool ? create_gpu_runner(setup) : create_cpu_runner(setup);
    if (!runner.ok()) return runner.status();
    return std::unique_ptr<Metric>(new Dssim(setup, std::move(*runner)));
  }

  size_t working_bytes() const override { return runner_->working_bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    Result<Opened> opened = Opened::create(input);
    if (!opened.ok()) return opened.status();
    auto reference = std::make_shared<Reference>();
    reference->description = opened->rows->description();
    reference->has_alpha = opened->has_alpha();
    ACUITY_TRY_ASSIGN(reference->prepared, runner_->prepare(opened->picture()));
    return std::shared_ptr<const PreparedReference>(std::move(reference));
  }

  Result<Measurement> score(const PreparedReference& prepared, const Input& distorted) override {
    const auto& reference = static_cast<const Reference&>(prepared);
    return measure({.picture = nullptr, .prepared = reference.prepared.get()}, distorted, reference.description,
                   reference.has_alpha);
  }

  Result<Measurement> score(const Input& reference, const Input& distorted) override {
    Result<Opened> opened = Opened::create(reference);
    if (!opened.ok()) return opened.status();
    const Picture picture = opened->picture();
    return measure({.picture = &picture, .prepared = nullptr}, distorted, opened->rows->description(),
                   opened->has_alpha());
  }

 private:
  Dssim(const Setup& setup, std::unique_ptr<Runner> runner) : setup_(setup), runner_(std::move(runner)) {}

  Result<Measurement> measure(const ReferencePicture& reference, const Input& distorted, const std::string& description,
                              bool reference_alpha) {
    Result<Opened> opened = Opened::create(distorted);
    if (!opened.ok()) return opened.status();
    Result<Similarities> found = runner_->run(reference, opened->picture());
    if (!found.ok()) return found.status();
    Measurement measured;
    measured.value = score_of(found->scales);
    for (size_t s = 0; s < found->scales.size(); ++s) {
      measured.outputs.push_back({fmt::format("ssim_scale{}", s), found->scales[s]});
    }
    if (setup_.want_map) {
      measured.map = combined_map(found->errors);
      measured.scale_maps = std::move(found->errors);
    }
    measured.assumptions = {"reference: " + description, "distorted: " + opened->rows->description()};
    if (reference_alpha || opened->has_alpha()) {
      measured.assumptions.push_back(std::string("alpha: ") + kAlphaRule);
    }
    return measured;
  }

  Setup setup_;
  std::unique_ptr<Runner> runner_;
};

// Nobody published anchors; docs/metrics/dssim.md tells what values occur.
std::string no_meaning(double) { return ""; }

}  // namespace
}  // namespace dssim

MetricEntry dssim_entry() {
  MetricInfo info;
  info.name = "dssim";
  info.version = "3.5";
  info.title = "DSSIM: structural dissimilarity in Lab over five scales, as of dssim-core";
  info.better = Better::lower;
  info.identical = 0;
  info.minimum_side = 1;
  info.has_map = true;
  info.alpha_rule = dssim::kAlphaRule;
  return {std::move(info), dssim::Dssim::create, dssim::no_meaning, true};
}

}  // namespace acuity
