// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/metric.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/rows.h"
#include "metrics/cvvdp/context.h"
#include "metrics/cvvdp/gpu.h"
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

// Samples as they are: what they mean is for the display to say.
Result<ShownPicture> show(Screen& screen, const Input& input, std::optional<float> background, bool luminance) {
  ImageView view = input.view();
  view.colour = {.transfer = Transfer::linear};
  Result<Rows> rows = Rows::create(view, {.encoding = WorkingSpace::Encoding::linear}, background);
  if (!rows.ok()) return rows.status();
  std::array<float, 9> matrix = screen.photometry().matrix();
  if (luminance) matrix = {0, 1, 0, 0, 1, 0, 0, 1, 0};
  // Compositing makes floats of codes.
  const bool all_in_table = view.type != SampleType::f32 && !view.has_alpha();
  return ShownPicture{.input = input,
                      .rows = std::move(*rows),
                      .photometry = screen.photometry(),
                      .matrix = matrix,
                      .table = screen.table_of(all_in_table ? view.depth : 8),
                      .all_in_table = all_in_table};
}

PictureReader reader_of(const ShownPicture& shown) {
  return PictureReader(shown.rows, shown.photometry, shown.matrix, shown.table, shown.all_in_table);
}

class ColorVideoVdp final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    for (const MetricOption& option : time_options()) {
      if (setup.options.text(option.name) == option.default_value) continue;
      return Status(StatusCode::usage,
                    fmt::format("the option {} of cvvdp is for videos; leave it out for pictures", option.name));
    }
    Result<Screens> screens = Screens::create(setup.options);
    if (!screens.ok()) return screens.status();
    std::unique_ptr<ColorVideoVdp> metric(new ColorVideoVdp(setup, std::move(*screens)));
    if (setup.pool) {
      ACUITY_TRY_ASSIGN(metric->gpu_, GpuRunner::create(setup, metric->runner_.scales()));
      return std::unique_ptr<Metric>(std::move(metric));
    }
    if (setup.want_map) ACUITY_TRY(metric->runner_.keep_map());
    ACUITY_TRY_ASSIGN(metric->distorted_, Pyramid::create(metric->runner_.scales()));
    return std::unique_ptr<Metric>(std::move(metric));
  }

  size_t working_bytes() const override {
    if (gpu_) return gpu_->bytes();
    return runner_.bytes() + distorted_.bytes() + (reference_ ? reference_->bytes() : 0);
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    auto prepared = std::make_shared<Prepared>();
    if (gpu_) {
      Result<Screen*> screen = screens_.for_colour(input.view().colour);
      if (!screen.ok()) return screen.status();
      Result<ShownPicture> shown = show(**screen, input, 0.0f, false);
      if (!shown.ok()) return shown.status();
      ACUITY_TRY_ASSIGN(prepared->input, gpu_->keep(*shown));
      return std::shared_ptr<const PreparedReference>(std::move(prepared));
    }
    ACUITY_TRY_ASSIGN(prepared->input, keep_input(input));
    // A transparent reference is scored over two backgrounds, a grey one is read by what it is compared with.
    if (!input.view().has_alpha() && !input.view().is_grey()) {
      Result<Screen*> screen = screens_.for_colour(input.view().colour);
      if (!screen.ok()) return screen.status();
      Result<ShownPicture> shown = show(**screen, input, std::nullopt, false);
      if (!shown.ok()) return shown.status();
      ACUITY_TRY_ASSIGN(prepared->pyramid, Pyramid::create(runner_.scales()));
      runner_.build(reader_of(*shown), *prepared->pyramid);
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
        runner_(*setup.threads,
                scales_of({setup.width, setup.height}, screens_.pixels_per_degree(), screens_.most_scales())) {}

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
    Result<ShownPicture> a = show(screen, reference, background, luminance);
    if (!a.ok()) return a.status();
    Result<ShownPicture> b = show(screen, distorted, background, luminance);
    if (!b.ok()) return b.status();
    Result<Differences> found = gpu_ ? gpu_->run(*a, *b) : compare(*a, prepared, *b);
    if (!found.ok()) return found.status();
    const Differences& differences = *found;
    Measurement measured;
    measured.value = jod_of(pooled(differences) * kStillFactor);
    measured.outputs = named_values(differences);
    if (setup_.want_map) measured.map = runner_.map();
    measured.assumptions = {screen.description(), "reference: " + screen.reading_of(reference.view().colour),
                            "distorted: " + screen.reading_of(distorted.view().colour)};
    for (std::string& line : screens_.capped({setup_.width, setup_.height})) {
      measured.assumptions.push_back(std::move(line));
    }
    if (luminance) measured.assumptions.push_back("grey: luminance stands for all three channels, as in pycvvdp");
    return measured;
  }

  Result<Differences> compare(const ShownPicture& reference, const Pyramid* prepared, const ShownPicture& distorted) {
    const PictureReader a = reader_of(reference), b = reader_of(distorted);
    if (prepared == nullptr) {
      if (!reference_) ACUITY_TRY_ASSIGN(reference_, Pyramid::create(runner_.scales()));
      runner_.build(a, *reference_);
      prepared = &*reference_;
    }
    runner_.build(b, distorted_);
    return runner_.compare({&a, prepared, &b, &distorted_});
  }

  Setup setup_;
  Screens screens_;
  Runner runner_;
  Pyramid distorted_;
  std::optional<Pyramid> reference_;  // of pairs
  std::unique_ptr<GpuRunner> gpu_;    // in place of all that
};

}  // namespace

Result<std::vector<float>> context_of(const std::vector<OptionValue>& options, const Colour& reference,
                                      const ImageView& distorted) {
  OptionValues values;
  ACUITY_TRY_ASSIGN(values, OptionValues::parse(cvvdp_entry().info, options));
  Result<Screens> screens = Screens::create(values);
  if (!screens.ok()) return screens.status();
  Result<Screen*> screen = screens->for_colour(reference);
  if (!screen.ok()) return screen.status();
  const std::optional<float> background = distorted.has_alpha() ? std::optional(0.0f) : std::nullopt;
  Result<ShownPicture> shown = show(**screen, distorted, background, false);
  if (!shown.ok()) return shown.status();
  const PictureReader reader = reader_of(*shown);
  Result<Arena> room = Arena::create(Arena::cost<float>(kStillChannels * row_floats(distorted.width)));
  if (!room.ok()) return room.status();
  float* rows = room->take<float>(kStillChannels * row_floats(distorted.width));
  std::vector<float> achromatic;
  for (int y = 0; y < distorted.height; ++y) {
    const float* row = reader.read(y, rows)[0];
    achromatic.insert(achromatic.end(), row, row + distorted.width);
  }
  return grey_context(std::move(achromatic));
}

Status check_options(const OptionValues& options) {
  if (options.text("clip") == "both" && options.text("full_screen") == kNoResizing) {
    return Status(StatusCode::usage, "clip=both of cvvdp has no effect without full_screen; leave it out");
  }
  return Screens::create(options).status();
}

}  // namespace cvvdp

MetricEntry cvvdp_entry() {
  std::vector<MetricOption> options = cvvdp::display_options();
  for (MetricOption& option : cvvdp::time_options()) options.push_back(std::move(option));
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
          .on_gpu = true,
          .cpu_ns = 30,
          .check_options = cvvdp::check_options};
}

}  // namespace acuity
