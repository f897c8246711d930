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
constexpr const char* kAlphaRule = "composited in linear light on a pattern of colours keyed by the place";

// A view as the runners take it.
struct Input {
  ImageView view;
  std::optional<Rows> rows;

  static Result<Input> create(const ImageView& view) {
    Input input{view, std::nullopt};
    ACUITY_TRY_ASSIGN(input.rows, Rows::create(without_alpha(view), kSpace, std::nullopt));
    return input;
  }
  Picture picture() const { return {&*rows, view.has_alpha() ? &view : nullptr}; }
};

class Dssim final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    Result<std::unique_ptr<Runner>> runner =
        setup.device != nullptr ? create_gpu_runner(setup) : create_cpu_runner(setup);
    if (!runner.ok()) return runner.status();
    return std::unique_ptr<Metric>(new Dssim(setup, std::move(*runner)));
  }

  size_t working_bytes() const override { return runner_->working_bytes(); }

  Status set_reference(const ImageView& reference) override {
    runner_->forget();
    Result<Input> input = Input::create(reference);
    if (!input.ok()) return input.status();
    prepared_description_ = input->rows->description();
    prepared_alpha_ = reference.has_alpha();
    return runner_->prepare(input->picture());
  }

  Result<Measurement> score(const ImageView& distorted) override {
    return measure(nullptr, distorted, prepared_description_, prepared_alpha_);
  }

  Result<Measurement> score(const ImageView& reference, const ImageView& distorted) override {
    Result<Input> input = Input::create(reference);
    if (!input.ok()) return input.status();
    const Picture picture = input->picture();
    return measure(&picture, distorted, input->rows->description(), reference.has_alpha());
  }

 private:
  Dssim(const Setup& setup, std::unique_ptr<Runner> runner) : setup_(setup), runner_(std::move(runner)) {}

  // Against the prepared reference where `reference` is null.
  Result<Measurement> measure(const Picture* reference, const ImageView& distorted, const std::string& description,
                              bool reference_alpha) {
    Result<Input> input = Input::create(distorted);
    if (!input.ok()) return input.status();
    Result<Similarities> found = runner_->run(reference, input->picture());
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
    measured.assumptions = {"reference: " + description, "distorted: " + input->rows->description()};
    if (reference_alpha || distorted.has_alpha()) {
      measured.assumptions.push_back(std::string("alpha: ") + kAlphaRule);
    }
    return measured;
  }

  Setup setup_;
  std::unique_ptr<Runner> runner_;
  std::string prepared_description_;
  bool prepared_alpha_ = false;
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
