// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/metric.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "engine/opaque_reference.h"
#include "metrics/ssimulacra2/pooling.h"
#include "metrics/ssimulacra2/runner.h"

namespace acuity {
namespace ssimulacra2 {
namespace {

// libjxl scales its opsin matrix so that 1.0 is 255 nit.
constexpr WorkingSpace kSpace{
    .encoding = WorkingSpace::Encoding::linear, .srgb_curve = WorkingSpace::SrgbCurve::libjxl, .nits_of_one = 255};

class Ssimulacra2 final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    Result<std::unique_ptr<Runner>> runner = setup.pool ? create_gpu_runner(setup) : create_cpu_runner(setup);
    if (!runner.ok()) return runner.status();
    return std::unique_ptr<Metric>(new Ssimulacra2(setup, std::move(*runner)));
  }

  size_t working_bytes() const override { return runner_->working_bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    return prepare_opaque(input, [&](OpaqueReference& reference) -> Status {
      Result<InputRows> rows = InputRows::create(input, kSpace, std::nullopt);
      if (!rows.ok()) return rows.status();
      reference.description = rows->rows.description();
      ACUITY_TRY_ASSIGN(reference.opaque, runner_->prepare(*rows));
      return {};
    });
  }

  Result<Measurement> score(const PreparedReference& prepared, const Input& distorted) override {
    const auto& reference = static_cast<const OpaqueReference&>(prepared);
    if (!reference.opaque) return score(reference.transparent, distorted);
    Result<InputRows> rows = InputRows::create(distorted, kSpace, 0.5f);
    if (!rows.ok()) return rows.status();
    return measure({.rows = nullptr, .prepared = reference.opaque.get()}, reference.description, *rows, 0.5f);
  }

  // The reference tool looks at the reference's alpha alone: with it, two backgrounds and the lower score; without,
  // mid-grey.
  Result<Measurement> score(const Input& reference, const Input& distorted) override {
    if (!reference.view().has_alpha()) return score_over(reference, distorted, 0.5f);
    Result<Measurement> dark = score_over(reference, distorted, 0.1f);
    if (!dark.ok()) return dark;
    Result<Measurement> bright = score_over(reference, distorted, 0.9f);
    if (!bright.ok()) return bright;
    return bright->value < dark->value ? std::move(bright) : std::move(dark);
  }

 private:
  Ssimulacra2(const Setup& setup, std::unique_ptr<Runner> runner) : setup_(setup), runner_(std::move(runner)) {}

  Result<Measurement> score_over(const Input& reference, const Input& distorted, float background) {
    Result<InputRows> reference_rows = InputRows::create(reference, kSpace, background);
    if (!reference_rows.ok()) return reference_rows.status();
    Result<InputRows> distorted_rows = InputRows::create(distorted, kSpace, background);
    if (!distorted_rows.ok()) return distorted_rows.status();
    return measure({.rows = &*reference_rows, .prepared = nullptr}, reference_rows->rows.description(), *distorted_rows,
                   background);
  }

  Result<Measurement> measure(const ReferencePicture& reference, const std::string& description,
                              const InputRows& distorted, float background) {
    Result<std::vector<ScaleErrors>> errors = runner_->run(reference, distorted);
    if (!errors.ok()) return errors.status();
    Measurement measured;
    measured.value = score_of(*errors);
    measured.outputs = named_errors(*errors);
    if (setup_.want_map) {
      Result<DifferenceMap> map = runner_->map(reference, distorted, *errors);
      if (!map.ok()) return map.status();
      measured.map = std::move(*map);
    }
    const bool finite = std::all_of(measured.outputs.begin(), measured.outputs.end(),
                                    [](const NamedValue& error) { return std::isfinite(error.value); });
    // The score would be 100.
    if (!finite) {
      return Status(StatusCode::input,
                    "the pictures are so bright that their difference is not a finite number; scale them down");
    }
    measured.assumptions = {"reference: " + description, "distorted: " + distorted.rows.description()};
    if ((reference.rows != nullptr && reference.rows->view().has_alpha()) || distorted.view().has_alpha()) {
      measured.assumptions.push_back(fmt::format("alpha: composited over grey {} in the encoded space", background));
    }
    return measured;
  }

  Setup setup_;
  std::unique_ptr<Runner> runner_;
};

// The anchors of the reference's own help text.
std::string meaning(double value) {
  if (value >= 100) return "identical, or different only where nobody can see it";
  if (value >= 90) return "visually lossless: cannot be told apart side by side at normal distance";
  if (value >= 70) return "high quality: differences are hard to notice without a flicker test";
  if (value >= 50) return "medium quality: differences are visible but not annoying";
  if (value >= 30) return "low quality: differences are annoying";
  return "very low quality: strong distortion";
}

}  // namespace
}  // namespace ssimulacra2

MetricEntry ssimulacra2_entry() {
  MetricInfo info;
  info.name = "ssimulacra2";
  info.version = "2.1";
  info.title = "SSIMULACRA 2: structural similarity in XYB over six scales, tuned on human ratings";
  info.better = Better::higher;
  info.identical = 100;
  info.minimum_side = ssimulacra2::kMinimumSide;
  info.has_map = true;
  info.map_root = 4;  // most of its values are fourth powers of errors
  info.alpha_rule =
      "with a transparent reference, the lower score over grey 0.1 and grey 0.9; with an opaque one, over grey 0.5";
  return {.info = std::move(info),
          .create = ssimulacra2::Ssimulacra2::create,
          .meaning = ssimulacra2::meaning,
          .on_gpu = true,
          .cpu_ns = 21};
}

}  // namespace acuity
