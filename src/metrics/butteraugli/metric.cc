// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/metric.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "metrics/butteraugli/runner.h"

namespace acuity {
namespace butteraugli {
namespace {

constexpr const char* kAlphaRule =
    "with a transparent picture, over black and over white; for each pixel the larger difference counts";

// What libjxl takes 1.0 of a file to be, for comparing files that disagree.
constexpr double kSdrTarget = 255;
// What it takes sRGB white to be when it is looked at.
constexpr double kSdrNits = 80;

bool is_hdr(const ImageView& view) {
  return !view.colour.icc && (view.colour.transfer == Transfer::pq || view.colour.transfer == Transfer::hlg);
}

double own_target(const ImageView& view) {
  if (!is_hdr(view)) return kSdrTarget;
  return view.colour.transfer == Transfer::pq ? 10000 : view.colour.peak_nits;
}

// How bright a reference is shown.
struct Viewing {
  double target = kSdrTarget;  // the reference's own
  double nits = kSdrNits;      // of 1.0
  std::string description;
};

// What is prepared of a reference.
class Reference final : public PreparedReference {
 public:
  Input small;  // all of one that is too small to be looked at
  Viewing viewing;
  bool transparent = false;
  std::string description;
  std::array<std::shared_ptr<const PreparedReference>, kMostPrepared>
      prepared;  // over each background; opaque ones have the first

  size_t bytes() const override {
    size_t bytes = small.has_picture() ? bytes_of(small) : 0;
    for (const std::shared_ptr<const PreparedReference>& one : prepared) bytes += one ? one->bytes() : 0;
    return bytes;
  }
};

// A reference to be compared with: one of the two.
struct Original {
  const Input* input = nullptr;
  const Reference* prepared = nullptr;
};

class Butteraugli final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    std::unique_ptr<Runner> runner;
    if (large_enough({setup.width, setup.height})) {
      const Parameters parameters = make_parameters(static_cast<float>(*setup.options.number("hf_asymmetry")),
                                                    static_cast<float>(*setup.options.number("xmul")));
      const double p = setup.options.number("pnorm").value_or(0);
      const auto create_runner = setup.pool ? create_gpu_runner : create_cpu_runner;
      ACUITY_TRY_ASSIGN(runner, create_runner(setup, parameters, static_cast<float>(p)));
    }
    return std::unique_ptr<Metric>(new Butteraugli(setup, std::move(runner)));
  }

  size_t working_bytes() const override { return runner_ ? runner_->working_bytes() : 0; }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    auto reference = std::make_shared<Reference>();
    // One too small to be looked at needs no preparation.
    if (!runner_) {
      ACUITY_TRY_ASSIGN(reference->small, keep_input(input));
      return std::shared_ptr<const PreparedReference>(std::move(reference));
    }
    reference->viewing = viewing_of(input.view());
    reference->transparent = input.view().has_alpha();
    for (const size_t background : {kBlack, kWhite}) {
      if (background == kWhite && !reference->transparent) continue;
      Result<InputRows> rows = InputRows::create(input, space_of(reference->viewing), static_cast<float>(background));
      if (!rows.ok()) return rows.status();
      reference->description = rows->rows.description();
      ACUITY_TRY_ASSIGN(reference->prepared[background],
                        runner_->prepare({&*rows, nullptr, static_cast<float>(reference->viewing.nits)}));
    }
    return std::shared_ptr<const PreparedReference>(std::move(reference));
  }

  Result<Measurement> score(const PreparedReference& prepared, const Input& distorted) override {
    const auto& reference = static_cast<const Reference&>(prepared);
    if (reference.small.has_picture()) return score(reference.small, distorted);
    return measure({nullptr, &reference}, distorted, reference.viewing);
  }

  Result<Measurement> score(const Input& reference, const Input& distorted) override {
    return measure({&reference, nullptr}, distorted, viewing_of(reference.view()));
  }

 private:
  Butteraugli(const Setup& setup, std::unique_ptr<Runner> runner) : setup_(setup), runner_(std::move(runner)) {}

  size_t pixels() const { return static_cast<size_t>(setup_.width) * static_cast<size_t>(setup_.height); }

  Viewing viewing_of(const ImageView& reference) const {
    Viewing viewing;
    viewing.target = own_target(reference);
    const std::optional<double> asked = setup_.options.number("intensity_target");
    viewing.nits = asked ? *asked : is_hdr(reference) ? viewing.target : kSdrNits;
    viewing.description = fmt::format("intensity target: {:.6g} nit{}", viewing.nits,
                                      asked               ? ", as requested"
                                      : is_hdr(reference) ? ", the reference's own"
                                                          : ", for SDR");
    return viewing;
  }

  static WorkingSpace space_of(const Viewing& viewing) {
    return {.encoding = WorkingSpace::Encoding::linear,
            .srgb_curve = WorkingSpace::SrgbCurve::libjxl,
            .nits_of_one = viewing.target};
  }

  Result<Measurement> measure(const Original& reference, const Input& distorted, const Viewing& viewing) {
    Measurement measured;
    if (setup_.want_map) measured.map = {setup_.width, setup_.height, std::vector<float>(pixels())};
    const bool transparent =
        (reference.input != nullptr ? reference.input->view().has_alpha() : reference.prepared->transparent) ||
        distorted.view().has_alpha();
    Norms norms;
    if (runner_ && transparent) {
      ACUITY_TRY_ASSIGN(norms, run(reference, distorted, viewing, kBlack, {.hold = true}, measured));
    }
    if (runner_) {
      const MapRequest map{.at_least_held = transparent, .to = setup_.want_map ? measured.map.values.data() : nullptr};
      ACUITY_TRY_ASSIGN(norms, run(reference, distorted, viewing, kWhite, map, measured));
    } else {
      measured.assumptions.push_back(
          fmt::format("size: below {0} x {0} pixels small=libjxl gives 0, whatever the pictures show", kMinimumSide));
    }
    if (transparent) measured.assumptions.push_back(std::string("alpha: ") + kAlphaRule);
    measured.value = norms.largest;
    measured.outputs = {{"norm3", mean_norm(norms.norms)}};
    if (setup_.options.number("pnorm")) {
      measured.outputs.push_back({"pnorm", norms.power_norms[0]});
      measured.outputs.push_back({"pnorm_libjxl", mean_norm(norms.power_norms)});
    }
    return measured;
  }

  // What lies behind transparent pictures, as grey of the encoded space.
  enum : size_t { kBlack = 0, kWhite = 1 };

  Result<Norms> run(const Original& reference, const Input& distorted, const Viewing& viewing, size_t background,
                    const MapRequest& map, Measurement& measured) {
    const WorkingSpace space = space_of(viewing);
    const float grey = static_cast<float>(background);
    std::optional<InputRows> reference_rows;
    Light original{.nits = static_cast<float>(viewing.nits)};
    std::string description;
    if (reference.input != nullptr) {
      ACUITY_TRY_ASSIGN(reference_rows, InputRows::create(*reference.input, space, grey));
      original.rows = &*reference_rows;
      description = reference_rows->rows.description();
    } else {
      // An opaque reference is the same over both.
      original.prepared = reference.prepared->prepared[reference.prepared->transparent ? background : 0].get();
      description = reference.prepared->description;
    }
    Result<InputRows> distorted_rows = InputRows::create(distorted, space, grey);
    if (!distorted_rows.ok()) return distorted_rows.status();
    // 1.0 of an SDR picture beside an HDR one is darker than the HDR one's 1.0.
    const double distorted_nits = is_hdr(distorted.view()) ? viewing.nits : viewing.nits * kSdrTarget / viewing.target;
    measured.assumptions = {"reference: " + description, "distorted: " + distorted_rows->rows.description(),
                            viewing.description};
    Result<Norms> norms = runner_->run(original, {&*distorted_rows, nullptr, static_cast<float>(distorted_nits)}, map);
    if (norms.ok() && !(std::isfinite(norms->largest) && std::isfinite(mean_norm(norms->norms)))) {
      return Status(StatusCode::input,
                    "the pictures are so bright that their difference is not a finite number; scale them down");
    }
    return norms;
  }

  Setup setup_;
  std::unique_ptr<Runner> runner_;  // null where the pictures are too small to be looked at
};

// The anchors that libjxl's authors give: 1.0 is where people begin to see a difference, at the viewing conditions of
// the metric.
std::string meaning(double value) {
  if (value == 0) return "identical";
  if (value < 1) return "no visible difference at normal viewing distance";
  if (value < 2) return "a difference that is just noticeable";
  if (value < 4) return "a visible difference";
  return "a strong difference";
}

}  // namespace
}  // namespace butteraugli

MetricEntry butteraugli_entry() {
  MetricInfo info;
  info.name = "butteraugli";
  info.version = "libjxl aea3a06";
  info.title = "Butteraugli: the largest psychovisual difference, after libjxl";
  info.better = Better::lower;
  info.identical = 0;
  info.minimum_side = butteraugli::kMinimumSide;
  info.has_map = true;
  info.map_thresholds = {{0.717040941, 1.15563896}};
  info.alpha_rule = butteraugli::kAlphaRule;
  info.options = {
      {.name = "intensity_target",
       .help = "the luminance of 1.0 in nit; auto: 80, or the reference's own if it is PQ or HLG",
       .default_value = "auto",
       .minimum = 1,
       .maximum = 10000,
       .words = {"auto"}},
      {.name = "hf_asymmetry",
       .help = "above 1, fine detail that was added counts more than detail that was lost",
       .default_value = "1",
       .minimum = 0.01,
       .maximum = 100},
      {.name = "xmul", .help = "the weight of red against green", .default_value = "1", .minimum = 0, .maximum = 100},
      {.name = "pnorm",
       .help = "also give the p-norm of the map, and libjxl's mean of the norms p, 2p and 4p",
       .default_value = "none",
       .minimum = 1,
       .maximum = 16,
       .words = {"none"}},
      {.name = "small",
       .help = "how pictures with a side under 8 pixels are handled; libjxl: the value is 0, as in its tool",
       .default_value = "reject",
       .words = {"reject", "libjxl"}}};
  return {std::move(info), butteraugli::Butteraugli::create, butteraugli::meaning, true, 30, true};
}

}  // namespace acuity
