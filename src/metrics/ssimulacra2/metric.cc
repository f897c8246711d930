// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/metric.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/image_copy.h"
#include "colour/rows.h"
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
    Result<std::unique_ptr<Runner>> runner =
        setup.device != nullptr ? create_gpu_runner(setup) : create_cpu_runner(setup);
    if (!runner.ok()) return runner.status();
    return std::unique_ptr<Metric>(new Ssimulacra2(setup, std::move(*runner)));
  }

  size_t working_bytes() const override { return runner_->working_bytes() + (copied_ ? copied_->memory.size() : 0); }

  Status set_reference(const ImageView& reference) override {
    runner_->forget();
    copied_.reset();
    // A transparent reference is scored over two backgrounds. Preparing both would take more memory than it is worth.
    if (reference.has_alpha()) {
      Result<ImageCopy> copy = copy_image(reference);
      if (!copy.ok()) return copy.status();
      copied_ = std::move(*copy);
      return {};
    }
    Result<Rows> rows = Rows::create(reference, kSpace, std::nullopt);
    if (!rows.ok()) return rows.status();
    prepared_description_ = rows->description();
    return runner_->prepare(*rows);
  }

  Result<Measurement> score(const ImageView& distorted) override {
    if (copied_) return score(copied_->view, distorted);
    Result<Rows> rows = Rows::create(distorted, kSpace, 0.5f);
    if (!rows.ok()) return rows.status();
    return measure(nullptr, *rows, 0.5f);
  }

  // The reference tool looks at the reference's alpha alone: with it, two backgrounds and the lower score; without,
  // mid-grey.
  Result<Measurement> score(const ImageView& reference, const ImageView& distorted) override {
    if (!reference.has_alpha()) return score_over(reference, distorted, 0.5f);
    Result<Measurement> dark = score_over(reference, distorted, 0.1f);
    if (!dark.ok()) return dark;
    Result<Measurement> bright = score_over(reference, distorted, 0.9f);
    if (!bright.ok()) return bright;
    return bright->value < dark->value ? std::move(bright) : std::move(dark);
  }

 private:
  Ssimulacra2(const Setup& setup, std::unique_ptr<Runner> runner) : setup_(setup), runner_(std::move(runner)) {}

  Result<Measurement> score_over(const ImageView& reference, const ImageView& distorted, float background) {
    Result<Rows> reference_rows = Rows::create(reference, kSpace, background);
    if (!reference_rows.ok()) return reference_rows.status();
    Result<Rows> distorted_rows = Rows::create(distorted, kSpace, background);
    if (!distorted_rows.ok()) return distorted_rows.status();
    return measure(&*reference_rows, *distorted_rows, background);
  }

  // Against the prepared reference where `reference` is null.
  Result<Measurement> measure(const Rows* reference, const Rows& distorted, float background) {
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
    const std::string& description = reference != nullptr ? reference->description() : prepared_description_;
    measured.assumptions = {"reference: " + description, "distorted: " + distorted.description()};
    if ((reference != nullptr && reference->view().has_alpha()) || distorted.view().has_alpha()) {
      measured.assumptions.push_back(fmt::format("alpha: composited over grey {} in the encoded space", background));
    }
    return measured;
  }

  Setup setup_;
  std::unique_ptr<Runner> runner_;
  std::string prepared_description_;
  std::optional<ImageCopy> copied_;
};

// The anchors of the reference's own help text.
std::string meaning(double value) {
  if (value >= 100) return "identical, or differing only where no eye looks";
  if (value >= 90) return "visually lossless: not to be told apart side by side at normal distance";
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
  info.alpha_rule = "with a transparent reference, over grey 0.1 and 0.9 and the lower score; otherwise over grey 0.5";
  return {.info = std::move(info),
          .create = ssimulacra2::Ssimulacra2::create,
          .meaning = ssimulacra2::meaning,
          .on_gpu = true,
          .cpu_ns = 21};
}

}  // namespace acuity
