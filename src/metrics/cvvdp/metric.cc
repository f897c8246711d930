// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/metric.h"

#include <optional>
#include <utility>

#include "base/try.h"
#include "colour/rows.h"
#include "metrics/cvvdp/runner.h"
#include "metrics/cvvdp/screen.h"

namespace acuity {
namespace cvvdp {
namespace {

constexpr const char* kAlphaRule = "composited over black and over white; the lower of the two scores counts";

class Prepared final : public PreparedReference {
 public:
  Input input;  // the first scale is made of it again
  std::optional<Pyramid> pyramid;
  size_t bytes() const override { return bytes_of(input) + (pyramid ? pyramid->bytes() : 0); }
};

class ColorVideoVdp final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    Result<Screens> screens = Screens::create(setup.options);
    if (!screens.ok()) return screens.status();
    std::unique_ptr<ColorVideoVdp> metric(new ColorVideoVdp(setup, std::move(*screens)));
    if (setup.want_map) ACUITY_TRY(metric->runner_.keep_map());
    ACUITY_TRY_ASSIGN(metric->distorted_, Pyramid::create(metric->runner_.scales(), kStillChannels));
    return std::unique_ptr<Metric>(std::move(metric));
  }

  size_t working_bytes() const override {
    return runner_.bytes() + distorted_.bytes() + (reference_ ? reference_->bytes() : 0);
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    auto prepared = std::make_shared<Prepared>();
    ACUITY_TRY_ASSIGN(prepared->input, keep_input(input));
    // A transparent reference is scored over two backgrounds, a grey one is read by what it is compared with.
    if (!input.view().has_alpha() && !input.view().is_grey()) {
      Result<Screen*> screen = screens_.for_colour(input.view().colour);
      if (!screen.ok()) return screen.status();
      Result<PictureReader> reader = reader_of(**screen, input, std::nullopt, false);
      if (!reader.ok()) return reader.status();
      ACUITY_TRY_ASSIGN(prepared->pyramid, Pyramid::create(runner_.scales(), kStillChannels));
      runner_.build(*reader, *prepared->pyramid);
    }
    return std::shared_ptr<const PreparedReference>(std::move(prepared));
  }

  Result<Measurement> score(const PreparedReference& prepared, const Input& distorted) override {
    const auto& reference = static_cast<const Prepared&>(prepared);
    return over_backgrounds(reference.input, reference.pyramid ? &*reference.pyramid : nullptr, distorted);
  }

  Result<Measurement> score(const Input& reference, const Input& distorted) override {
    return over_backgrounds(reference, nullptr, distorted);
  }

 private:
  ColorVideoVdp(const Setup& setup, Screens screens)
      : setup_(setup),
        screens_(std::move(screens)),
        runner_(*setup.threads, {setup.width, setup.height}, screens_.pixels_per_degree(), kStillChannels) {}

  Result<Measurement> over_backgrounds(const Input& reference, const Pyramid* prepared, const Input& distorted) {
    if (!reference.view().has_alpha() && !distorted.view().has_alpha()) {
      return measure(reference, prepared, distorted, std::nullopt);
    }
    Result<Measurement> dark = measure(reference, prepared, distorted, 0.0f);
    if (!dark.ok()) return dark;
    Result<Measurement> bright = measure(reference, prepared, distorted, 1.0f);
    if (!bright.ok()) return bright;
    Measurement lower = std::move(bright->value < dark->value ? *bright : *dark);
    lower.assumptions.push_back(std::string("alpha ") + kAlphaRule);
    return lower;
  }

  Result<Measurement> measure(const Input& reference, const Pyramid* prepared, const Input& distorted,
                              std::optional<float> background) {
    Result<Screen*> chosen = screens_.for_colour(reference.view().colour);
    if (!chosen.ok()) return chosen.status();
    Screen& screen = **chosen;
    const bool luminance =
        setup_.options.text("grey") == "luminance" && reference.view().is_grey() && distorted.view().is_grey();
    if (luminance && screen.photometry().eotf() == Eotf::hlg) {
      return Status(StatusCode::usage, "grey=luminance of cvvdp has no meaning on an HLG display; use grey=rgb");
    }
    Result<PictureReader> a = reader_of(screen, reference, background, luminance);
    if (!a.ok()) return a.status();
    Result<PictureReader> b = reader_of(screen, distorted, background, luminance);
    if (!b.ok()) return b.status();
    if (prepared == nullptr) {
      if (!reference_) ACUITY_TRY_ASSIGN(reference_, Pyramid::create(runner_.scales(), kStillChannels));
      runner_.build(*a, *reference_);
      prepared = &*reference_;
    }
    runner_.build(*b, distorted_);
    const Differences differences = runner_.compare({&*a, prepared, &*b, &distorted_});
    Measurement measured;
    measured.value = jod_of(pooled(differences) * kStillFactor);
    measured.outputs = named_values(differences);
    if (setup_.want_map) measured.map = runner_.map();
    measured.assumptions = {screen.description(), "reference: " + screen.reading_of(reference.view().colour),
                            "distorted: " + screen.reading_of(distorted.view().colour)};
    if (luminance) measured.assumptions.push_back("grey: luminance stands for all three channels, as in pycvvdp");
    return measured;
  }

  // Samples as they are: what they mean is for the display to say.
  static Result<PictureReader> reader_of(Screen& screen, const Input& input, std::optional<float> background,
                                         bool luminance) {
    ImageView view = input.view();
    view.colour = {.transfer = Transfer::linear};
    Result<Rows> rows = Rows::create(view, {.encoding = WorkingSpace::Encoding::linear}, background);
    if (!rows.ok()) return rows.status();
    std::array<float, 9> matrix = screen.photometry().matrix();
    if (luminance) matrix = {0, 1, 0, 0, 1, 0, 0, 1, 0};
    const bool floats = view.type == SampleType::f32;
    return PictureReader(std::move(*rows), screen.photometry(), matrix, screen.table_of(floats ? 8 : view.depth),
                         !floats && !view.has_alpha());
  }

  Setup setup_;
  Screens screens_;
  Runner runner_;
  Pyramid distorted_;
  std::optional<Pyramid> reference_;  // of pairs
};

}  // namespace
}  // namespace cvvdp

MetricEntry cvvdp_entry() {
  std::vector<MetricOption> options = cvvdp::display_options();
  options.push_back({.name = "grey",
                     .help = "grey pictures as RGB, or as pycvvdp reads a single channel",
                     .default_value = "rgb",
                     .words = {"rgb", "luminance"}});
  return {.info = {.name = "cvvdp",
                   .version = "0.5.6",
                   .title = "ColorVideoVDP: visible difference on a given display, in JOD",
                   .better = Better::higher,
                   .identical = 10,
                   .minimum_side = cvvdp::kMinimumSide,
                   .has_map = true,
                   .alpha_rule = cvvdp::kAlphaRule,
                   .options = std::move(options)},
          .create = cvvdp::ColorVideoVdp::create,
          .meaning = cvvdp::meaning_of_jod,
          .cpu_ns = 30};
}

}  // namespace acuity
