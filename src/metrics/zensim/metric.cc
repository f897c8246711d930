// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/metric.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/alpha.h"
#include "colour/rows.h"
#include "metrics/zensim/difference.h"
#include "metrics/zensim/head.h"
#include "metrics/zensim/map.h"
#include "metrics/zensim/pooling.h"
#include "metrics/zensim/runner.h"

namespace acuity {
namespace zensim {
namespace {

constexpr const char* kAlphaRule = "composited in linear light over a pattern of greys that depends on the position";

// What the options ask for.
struct Request {
  Profile profile = Profile::preview2;
  size_t reported = 0;          // features among the outputs
  std::optional<double> white;  // nits; none: whatever the pictures say
  std::optional<Head> head;     // instead of the profile's weights
  MapOptions map;

  static Result<Request> create(const OptionValues& options) {
    Request request;
    if (options.text("profile") == "preview-v0.1") request.profile = Profile::preview1;
    request.white = options.number("white");
    const std::string& features = options.text("features");
    if (features == "basic") request.reported = kBasicFeatures;
    if (features == "extended") request.reported = kExtendedFeatures;
    if (features == "all") request.reported = kAllFeatures;
    request.map.balanced = options.text("map") == "balanced";
    request.map.all_terms = options.text("map_terms") == "all";
    request.map.masking = *options.number("map_masking");
    request.map.square_root = options.text("map_root") == "yes";
    if (options.text("head") != "none") ACUITY_TRY_ASSIGN(request.head, Head::read(options.text("head")));
    return request;
  }
  // Whether features with weights are needed.
  bool weighted() const { return reported > kBasicFeatures || (head && head->inputs() > kBasicFeatures); }
};

bool is_hdr(const ImageView& view) {
  return !view.colour.icc && (view.colour.transfer == Transfer::pq || view.colour.transfer == Transfer::hlg);
}

// Whether the samples are in the host's memory.
bool is_here(const Input& input) {
  const Input::State& state = *input.state();
  return state.device.empty() && !state.samples_gone && !state.frame;
}

// Whether linear light goes beyond 1, where SDR ends: samples are clipped there.
bool has_clipped_light(const Input& input) {
  const ImageView& view = input.view();
  if (!is_here(input) || view.type != SampleType::f32 || view.colour.icc) return false;
  if (view.colour.transfer != Transfer::linear) return false;
  const size_t colours = view.is_grey() ? 1 : 3;
  for (int y = 0; y < view.height; ++y) {
    for (size_t c = 0; c < colours; ++c) {
      const std::byte* at = view.planes[c] + y * view.row_stride;
      for (int x = 0; x < view.width; ++x, at += view.pixel_stride) {
        float sample = 0;
        std::memcpy(&sample, at, sizeof(sample));
        if (sample > 1) return true;
      }
    }
  }
  return false;
}

// A picture as the runners take it.
struct Opened {
  Input input;
  std::optional<Rows> rows;
  float nits = 0;

  static Result<Opened> create(const Input& input, const Request& request) {
    Opened opened{input, std::nullopt, 0};
    const bool absolute = request.white || is_hdr(input.view());
    if (absolute) opened.nits = static_cast<float>(request.white.value_or(1));
    const WorkingSpace space{.encoding = WorkingSpace::Encoding::linear,
                             .srgb_curve = WorkingSpace::SrgbCurve::smooth,
                             .nits_of_one = request.white.value_or(1)};
    ACUITY_TRY_ASSIGN(opened.rows, Rows::create(without_alpha(input.view()), space, std::nullopt));
    return opened;
  }
  bool has_alpha() const { return input.view().has_alpha(); }
  bool is_clipped() const { return nits == 0 && has_clipped_light(input); }
  Picture picture() const { return {&input, &*rows, has_alpha() ? &input.view() : nullptr, nits}; }
};

// What is prepared of a reference.
class Reference final : public PreparedReference {
 public:
  std::shared_ptr<const PreparedReference> prepared;
  std::string description;
  bool has_alpha = false;
  bool is_absolute = false;
  bool is_clipped = false;
  Input samples;  // to find the cause of a difference; none where they are not integers here
  size_t samples_bytes = 0;

  size_t bytes() const override { return prepared->bytes() + samples_bytes; }
};

class Zensim final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    Result<Request> request = Request::create(setup.options);
    if (!request.ok()) return request.status();
    const Layout layout(setup.width, setup.height);
    std::unique_ptr<Zensim> metric(new Zensim(layout, std::move(*request), setup));
    Wanted wanted{.weighted = metric->request_.weighted()};
    if (setup.want_map) {
      wanted.map = &metric->map_weights_;
      wanted.luma = metric->request_.map.masking > 0;
    }
    ACUITY_TRY_ASSIGN(metric->runner_,
                      setup.pool ? create_gpu_runner(setup, layout, wanted) : create_cpu_runner(setup, layout, wanted));
    return std::unique_ptr<Metric>(std::move(metric));
  }

  size_t working_bytes() const override { return runner_->working_bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& input) override {
    Result<Opened> opened = Opened::create(input, request_);
    if (!opened.ok()) return opened.status();
    auto reference = std::make_shared<Reference>(about(*opened));
    ACUITY_TRY_ASSIGN(reference->prepared, runner_->prepare(opened->picture()));
    if (is_here(input) && input.view().type != SampleType::f32) {
      ACUITY_TRY_ASSIGN(reference->samples, keep_input(input));
      const bool is_counted = on_gpu_ && reference->samples.state() == input.state();  // the runner keeps it as well
      if (!is_counted) reference->samples_bytes = bytes_of(reference->samples);
    }
    return std::shared_ptr<const PreparedReference>(std::move(reference));
  }

  Result<Measurement> score(const PreparedReference& prepared, const Input& distorted) override {
    const auto& reference = static_cast<const Reference&>(prepared);
    return measure({.picture = nullptr, .prepared = reference.prepared.get()}, reference, distorted);
  }

  Result<Measurement> score(const Input& reference, const Input& distorted) override {
    Result<Opened> opened = Opened::create(reference, request_);
    if (!opened.ok()) return opened.status();
    const Picture picture = opened->picture();
    Reference described = about(*opened);
    described.samples = reference;
    return measure({.picture = &picture, .prepared = nullptr}, described, distorted);
  }

 private:
  Zensim(const Layout& layout, Request request, const Setup& setup)
      : layout_(layout),
        request_(std::move(request)),
        want_map_(setup.want_map),
        on_gpu_(setup.pool != nullptr),
        map_weights_(map_weights(request_.profile, request_.map)) {}

  static Reference about(const Opened& opened) {
    Reference reference;
    reference.description = opened.rows->description();
    reference.has_alpha = opened.has_alpha();
    reference.is_absolute = opened.nits != 0;
    reference.is_clipped = opened.is_clipped();
    return reference;
  }

  Result<Measurement> measure(const ReferencePicture& reference, const Reference& about_reference,
                              const Input& distorted) {
    Result<Opened> opened = Opened::create(distorted, request_);
    if (!opened.ok()) return opened.status();
    if (about_reference.is_absolute != (opened->nits != 0)) {
      return Status(StatusCode::input,
                    fmt::format("the reference is {} and the distorted picture is {}; zensim compares two pictures of "
                                "the same kind, or any two with white=NITS, the luminance of SDR white",
                                about_reference.is_absolute ? "HDR" : "SDR", opened->nits != 0 ? "HDR" : "SDR"));
    }
    Result<const PictureSums*> sums = runner_->run(reference, opened->picture());
    if (!sums.ok()) return sums.status();
    const Pooled pooled = pool(layout_, **sums);
    Measurement measured;
    ACUITY_TRY(set_score(pooled, measured));
    if (want_map_) measured.map = map_of(pooled);
    for (size_t c = 0; c < kChannels; ++c) {
      measured.outputs.push_back({fmt::format("mean_offset_{}", "xyb"[c]), pooled.offset[c]});
    }
    for (size_t i = 0; i < request_.reported; ++i) {
      const bool skipped = request_.reported == kBasicFeatures && !request_.head && skips(request_.profile, i);
      measured.outputs.push_back({feature_names()[i], skipped ? 0 : pooled.features[i]});
    }
    measured.assumptions = {"reference: " + about_reference.description, "distorted: " + opened->rows->description()};
    if (about_reference.has_alpha || opened->has_alpha()) {
      measured.assumptions.push_back(std::string("alpha: ") + kAlphaRule);
    }
    if (layout_.mirrored.width != layout_.picture.width || layout_.mirrored.height != layout_.picture.height) {
      measured.assumptions.push_back(fmt::format("small: {} x {} pixels mirrored up to {} x {}", layout_.picture.width,
                                                 layout_.picture.height, layout_.mirrored.width,
                                                 layout_.mirrored.height));
    }
    if (opened->nits != 0) {
      measured.assumptions.push_back("absolute luminance in PU21 codes; the profiles were trained on SDR pictures");
    }
    if (request_.head) measured.assumptions.push_back("head: " + request_.head->description());
    const Input& original = about_reference.samples;
    if (!pooled.identical && original.has_picture() && is_here(original) && is_here(distorted)) {
      const std::string difference = explained_difference(original.view(), distorted.view());
      if (!difference.empty()) measured.warnings.push_back("difference: " + difference);
    }
    if (about_reference.is_clipped || opened->is_clipped()) {
      measured.warnings.push_back(
          "linear light above 1, which is SDR's white, counts as 1; give white=1 if the samples are nits");
    }
    return measured;
  }

  // Where nothing differs rounding would still show.
  DifferenceMap map_of(const Pooled& pooled) const {
    const Size size = layout_.picture;
    if (pooled.identical) {
      const size_t pixels = static_cast<size_t>(size.width) * static_cast<size_t>(size.height);
      return {size.width, size.height, std::vector<float>(pixels)};
    }
    return blended_map(layout_, map_weights_, request_.map, runner_->maps().scales, runner_->maps().luma);
  }

  Status set_score(const Pooled& pooled, Measurement& measured) const {
    if (!request_.head) {
      const double distance = raw_distance(request_.profile, pooled.features);
      measured.value = score_of(distance);
      measured.outputs = {{"raw_distance", distance}};
      return {};
    }
    // Whatever a head makes of features that are all 0, identical pictures are that.
    Head::Scores scores{100, 100, 100};
    if (!pooled.identical) {
      scores = request_.head->evaluate(pooled.features, layout_.picture.width, layout_.picture.height);
    }
    // A pin makes a number even of what is infinite before it, which is an output as well.
    const double checked = std::isfinite(scores.raw) ? scores.score : scores.raw;
    if (!std::isfinite(checked)) {
      return Status(
          StatusCode::input,
          fmt::format("the head computes {} from this pair's features, which is not a score; use another head than {}",
                      checked, request_.head->description()));
    }
    measured.value = scores.score;
    measured.outputs = {{"raw_distance", scores.score}, {"head_raw", scores.raw}, {"head_pinned", scores.pinned}};
    return {};
  }

  Layout layout_;
  Request request_;
  bool want_map_;
  bool on_gpu_;
  MapWeights map_weights_;
  std::unique_ptr<Runner> runner_;
};

// Nobody published anchors; docs/metrics/zensim.md tells what values occur.
std::string no_meaning(double) { return ""; }

Status check_options(const OptionValues& options) { return Request::create(options).status(); }

}  // namespace
}  // namespace zensim

MetricEntry zensim_entry() {
  MetricInfo info;
  info.name = "zensim";
  info.version = "0.3.0";
  info.title = "zensim: structure, edges and error of three colour planes over four scales; up to 372 features";
  info.better = Better::higher;
  info.identical = 100;
  info.minimum_side = 1;
  info.has_map = true;
  info.alpha_rule = zensim::kAlphaRule;
  info.options = {
      {.name = "profile",
       .help = "the weights that make a score of the features",
       .default_value = "preview-v0.2",
       .words = {"preview-v0.1", "preview-v0.2"}},
      {.name = "features",
       .help = "how many features to report: 228, 300 or 372; the score does not depend on it",
       .default_value = "none",
       .words = {"none", "basic", "extended", "all"}},
      {.name = "head",
       .help = "a file with a trained head, which makes the score instead of the profile's weights",
       .default_value = "none",
       .any_text = true},
      {.name = "white",
       .help = "luminance of white in nits; compares absolute luminance, as is always done for PQ and HLG",
       .default_value = "auto",
       .minimum = 1,
       .maximum = 10000,
       .words = {"auto"}},
      {.name = "map",
       .help = "weights of scales and channels in the map: those of the profile, or fixed ones",
       .default_value = "trained",
       .words = {"trained", "balanced"}},
      {.name = "map_terms",
       .help = "what the map shows: lost structure, or energy, error and detail as well",
       .default_value = "structure",
       .words = {"structure", "all"}},
      {.name = "map_masking",
       .help = "how much less the map shows in busy places of the reference",
       .default_value = "0",
       .minimum = 0,
       .maximum = 1000},
      {.name = "map_root", .help = "whether the map is the square root", .default_value = "no", .words = {"no", "yes"}},
  };
  return {.info = std::move(info),
          .create = zensim::Zensim::create,
          .meaning = zensim::no_meaning,
          .on_gpu = true,
          .cpu_ns = 20,
          .check_options = zensim::check_options};
}

}  // namespace acuity
