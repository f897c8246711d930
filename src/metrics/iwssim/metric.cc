// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/iwssim/metric.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "engine/opaque_reference.h"
#include "metrics/iwssim/runner.h"
#include "metrics/iwssim/scales.h"
#include "metrics/iwssim/luma_rows.h"

namespace acuity {
namespace iwssim {
namespace {

constexpr const char* kAlphaRule = "composited over black and over white; the lower of the two scores counts";

class StructuralSimilarity final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup, Kind kind) {
    const Enlarge enlarge = enlarge_by_name(setup.options.text("small"));
    const Status side = check_side(enlarge, kMinimumSide, setup.width, setup.height);
    if (!side.ok()) return side;
    const Size size{static_cast<int>(enlarge_side(enlarge, setup.width, kMinimumSide).size()),
                    static_cast<int>(enlarge_side(enlarge, setup.height, kMinimumSide).size())};
    Result<std::unique_ptr<Runner>> runner =
        setup.pool ? create_gpu_runner(setup, kind, enlarge, size) : create_cpu_runner(setup, kind, size);
    if (!runner.ok()) return runner.status();
    return std::unique_ptr<Metric>(new StructuralSimilarity(setup, kind, enlarge, size, std::move(*runner)));
  }

  size_t working_bytes() const override { return runner_->working_bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    return prepare_opaque(input, [&](OpaqueReference& reference) -> Status {
      Result<InputLuma> luma = luma_of(input, std::nullopt);
      if (!luma.ok()) return luma.status();
      reference.description = luma->luma.description();
      ACUITY_TRY_ASSIGN(reference.opaque, runner_->prepare(*luma));
      return {};
    });
  }

  Result<Measurement> score(const PreparedReference& prepared, const Input& distorted) override {
    const auto& reference = static_cast<const OpaqueReference&>(prepared);
    if (!reference.opaque) return score(reference.transparent, distorted);
    return over_backgrounds(distorted.view().has_alpha(), [&](std::optional<float> background) -> Result<Measurement> {
      Result<InputLuma> luma = luma_of(distorted, background);
      if (!luma.ok()) return luma.status();
      return measure({.luma = nullptr, .prepared = reference.opaque.get()}, reference.description, *luma);
    });
  }

  Result<Measurement> score(const Input& reference, const Input& distorted) override {
    const bool alpha = reference.view().has_alpha() || distorted.view().has_alpha();
    return over_backgrounds(alpha, [&](std::optional<float> background) -> Result<Measurement> {
      Result<InputLuma> a = luma_of(reference, background);
      if (!a.ok()) return a.status();
      Result<InputLuma> b = luma_of(distorted, background);
      if (!b.ok()) return b.status();
      return measure({.luma = &*a, .prepared = nullptr}, a->luma.description(), *b);
    });
  }

 private:
  StructuralSimilarity(const Setup& setup, Kind kind, Enlarge enlarge, Size size, std::unique_ptr<Runner> runner)
      : setup_(setup), kind_(kind), enlarge_(enlarge), size_(size), runner_(std::move(runner)) {}

  Result<InputLuma> luma_of(const Input& input, std::optional<float> background) const {
    Result<LumaRows> luma = LumaRows::create(input.view(), enlarge_, kMinimumSide, background);
    if (!luma.ok()) return luma.status();
    return InputLuma{input, std::move(*luma)};
  }

  template <typename MeasureOver>
  static Result<Measurement> over_backgrounds(bool alpha, const MeasureOver& measure_over) {
    if (!alpha) return measure_over(std::nullopt);
    Result<Measurement> dark = measure_over(0.0f);
    if (!dark.ok()) return dark;
    Result<Measurement> bright = measure_over(1.0f);
    if (!bright.ok()) return bright;
    Measurement lower = std::move(bright->value < dark->value ? *bright : *dark);
    lower.assumptions.push_back(std::string("alpha ") + kAlphaRule);
    return lower;
  }

  Result<Measurement> measure(const ReferencePicture& reference, const std::string& description,
                              const InputLuma& distorted) {
    Result<std::array<ScaleSums, kScales>> sums = runner_->run(reference, distorted);
    if (!sums.ok()) return sums.status();
    std::array<double, kScales> values{};
    for (size_t s = 0; s < kScales; ++s) values[s] = scale_value((*sums)[s], scale_sizes(size_.width, size_.height)[s]);
    Measurement measured;
    measured.value = score_of(kind_, values);
    measured.outputs = named_values(values);
    if (setup_.want_map) ACUITY_TRY_ASSIGN(measured.map, map_of(*sums));
    measured.assumptions = {"reference: " + description, "distorted: " + distorted.luma.description()};
    if (distorted.luma.enlarged()) {
      measured.assumptions.push_back(fmt::format("small: {} x {} pixels enlarged to {} x {} by small={}", setup_.width,
                                                 setup_.height, size_.width, size_.height,
                                                 setup_.options.text("small")));
    }
    return measured;
  }

  // The share of each pixel in the losses of all scales. Where the window does not fit, the nearest place where it does
  // stands in.
  Result<DifferenceMap> map_of(const std::array<ScaleSums, kScales>& sums) {
    DifferenceMap map{setup_.width, setup_.height, {}};
    map.values.assign(static_cast<size_t>(setup_.width) * static_cast<size_t>(setup_.height), 0.0f);
    const int step_x = enlarge_ == Enlarge::upscale ? size_.width / setup_.width : 1;
    const int step_y = enlarge_ == Enlarge::upscale ? size_.height / setup_.height : 1;
    std::vector<float> losses;
    for (int s = 0; s < kScales; ++s) {
      const Size places = loss_size(scale_sizes(size_.width, size_.height)[static_cast<size_t>(s)]);
      const double count = static_cast<double>(places.width) * places.height;
      const double weight = sums[static_cast<size_t>(s)].weight;
      const float share = static_cast<float>(exponent(s) * (weight > 0 ? count / weight : 1));
      losses.resize(static_cast<size_t>(places.width) * static_cast<size_t>(places.height));
      ACUITY_TRY(runner_->loss_map(s, losses.data()));
      const auto place = [s](int i, int step, int length) {
        return static_cast<size_t>(std::clamp(((i * step + step / 2) >> s) - kBorder, 0, length - 1));
      };
      for (int y = 0; y < setup_.height; ++y) {
        const float* from = losses.data() + place(y, step_y, places.height) * static_cast<size_t>(places.width);
        float* to = map.values.data() + static_cast<size_t>(y) * static_cast<size_t>(setup_.width);
        for (int x = 0; x < setup_.width; ++x) to[x] += share * from[place(x, step_x, places.width)];
      }
    }
    return map;
  }

  Setup setup_;
  Kind kind_;
  Enlarge enlarge_;
  Size size_;  // of the pictures, a small one enlarged
  std::unique_ptr<Runner> runner_;
};

Result<std::unique_ptr<Metric>> create_iwssim(const Metric::Setup& setup) {
  const bool weighted = setup.options.text("weights") == "information";
  return StructuralSimilarity::create(setup, weighted ? Kind::information : Kind::laplacian);
}

Result<std::unique_ptr<Metric>> create_msssim(const Metric::Setup& setup) {
  return StructuralSimilarity::create(setup, Kind::classic);
}

// Neither has published anchors.
std::string no_meaning(double) { return ""; }

MetricInfo info_of(std::string name, std::string title) {
  return {.name = std::move(name),
          .version = "1",
          .title = std::move(title),
          .better = Better::higher,
          .identical = 1,
          .minimum_side = 1,
          .has_map = true,
          .alpha_rule = kAlphaRule,
          .options = {enlarge_option(kMinimumSide)}};
}

}  // namespace
}  // namespace iwssim

MetricEntry iwssim_entry() {
  MetricInfo info = iwssim::info_of(
      "iwssim", "IW-SSIM: structural similarity over five scales, weighted by the information each place carries");
  info.options.push_back({.name = "weights",
                          .help = "what weights the places of a scale; none: the reference's own MS-SSIM",
                          .default_value = "information",
                          .words = {"information", "none"}});
  return {.info = std::move(info),
          .create = iwssim::create_iwssim,
          .meaning = iwssim::no_meaning,
          .on_gpu = true,
          .cpu_ns = 17};
}

MetricEntry msssim_entry() {
  return {.info = iwssim::info_of("msssim",
                                  "MS-SSIM: structural similarity of luma over five scales, as published in 2003"),
          .create = iwssim::create_msssim,
          .meaning = iwssim::no_meaning,
          .on_gpu = true,
          .cpu_ns = 6};
}

}  // namespace acuity
