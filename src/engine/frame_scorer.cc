// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/frame_scorer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/version.h"
#include "base/guard.h"
#include "base/threads.h"
#include "base/try.h"
#include "engine/auto_device.h"
#include "engine/frame_metric.h"
#include "engine/frame_pipeline.h"
#include "engine/requests.h"
#include "engine/validate.h"
#include "lang/targets.h"

namespace acuity {
namespace {

// A metric that was asked for.
struct Entrant {
  const FrameMetricEntry* entry = nullptr;
  OptionValues options;
  std::unique_ptr<FrameMetric> metric;
  std::vector<size_t> places;  // of its needs among the features of the pipeline
  std::vector<FrameOutput> outputs{};
  std::string device{};
  std::string device_reason{};  // empty where the caller chose it
};

// Measures each feature that some metric needs once, however many do.
class FeatureList {
 public:
  size_t place(const FeatureRequest& request) {
    const std::string key = fmt::format("{} {}", request.options.label(request.entry->info), request.depth);
    const auto [known, is_new] = places_.emplace(key, requests_.size());
    if (is_new) {
      requests_.push_back(request);
    } else if (!request.enough) {
      requests_[known->second].enough.reset();
    }
    return known->second;
  }

  const std::vector<FeatureRequest>& requests() const { return requests_; }

  Result<std::vector<PipelineFeature>> create(const Feature::Setup& both) const {
    std::vector<PipelineFeature> list;
    for (const FeatureRequest& request : requests_) {
      Feature::Setup setup = both;
      setup.format.depth = setup.distorted.depth = request.depth;
      setup.options = request.enough.value_or(request.options);
      std::unique_ptr<Feature> feature;
      ACUITY_TRY_ASSIGN(feature, request.entry->create(setup));
      list.push_back({std::move(feature), request.depth, request.entry->info.name});
    }
    return list;
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<FeatureRequest> requests_;
};

Status check_formats(const FrameScorerOptions& options) {
  const FrameFormat& format = options.format;
  if (format.depth < 8 || format.depth > 16) {
    return Status(StatusCode::usage,
                  fmt::format("invalid depth of {} bits per sample: expected 8 to 16", format.depth));
  }
  if (format.rate.numerator < 0 || format.rate.denominator < 0 ||
      (format.rate.denominator > 0 && format.rate.numerator == 0)) {
    return Status(StatusCode::usage, fmt::format("invalid frame rate {}/{}: expected a number above 0, or 0/0 if it is "
                                                 "unknown",
                                                 format.rate.numerator, format.rate.denominator));
  }
  const FrameFormat& other = options.distorted_format.value_or(format);
  if (other.has_same_shape(format)) return {};
  return Status(
      StatusCode::usage,
      fmt::format("the reference has {}x{} samples of {} bits, the distorted video {}x{} of {} bits or another "
                  "subsampling; convert one of them first",
                  format.width, format.height, format.depth, other.width, other.height, other.depth));
}

Status check_finite(int64_t number, const std::string& output, const std::string& metric, double value) {
  if (std::isfinite(value)) return {};
  return Status(StatusCode::internal,
                fmt::format("{}{} of {} is {}, which is not a score; please report the videos",
                            number < 0 ? "" : fmt::format("frame {}: ", number), output, metric, value));
}

std::string cpu_name() { return fmt::format("cpu ({})", cpu_target()); }
std::string name_of(const Device& device) { return fmt::format("{} ({})", device.info().id, device.info().name); }

}  // namespace

struct FrameScorer::State {
  FrameScorerOptions options;
  std::vector<Entrant> entrants;
  FeatureList list;
  std::shared_ptr<Device> device;  // null: the CPU only
  std::string device_reason;
  std::unique_ptr<FramePipeline> pipeline;
  int threads = 1;
  int64_t next_number = 0;
  size_t delivered = 0;  // scored frames
  Status failure;        // of what came after the features
  bool finished = false;

  Feature::Setup setup() const {
    return {options.format, options.distorted_format.value_or(options.format), OptionValues()};
  }

  Status add(const FrameMetricRequest& request) {
    Entrant entrant;
    entrant.entry = find_frame_metric(request.metric);
    if (entrant.entry == nullptr) {
      return Status(
          StatusCode::usage,
          fmt::format("unknown frame metric '{}'; metrics() lists the metrics of this build", request.metric));
    }
    const MetricInfo& info = entrant.entry->info;
    ACUITY_TRY_ASSIGN(entrant.options, OptionValues::parse(info, request.options));
    ACUITY_TRY(validate_size(info, entrant.options, options.format.width, options.format.height));
    Feature::Setup its_setup = setup();
    its_setup.options = entrant.options;
    ACUITY_TRY_ASSIGN(entrant.metric, entrant.entry->create(its_setup, *entrant.entry));
    for (const FeatureRequest& need : entrant.metric->needs()) entrant.places.push_back(list.place(need));
    entrants.push_back(std::move(entrant));
    return {};
  }

  // The features of a metric that have no GPU version.
  std::vector<std::string> cpu_only(const Entrant& entrant) const {
    std::vector<std::string> names;
    for (const FeatureRequest& need : entrant.metric->needs()) {
      if (!need.entry->on_gpu) names.push_back(need.entry->info.name);
    }
    return names;
  }

  Status choose_device() {
    if (options.device == "cpu") return {};
    if (options.device == "auto") {
      double cpu_ns = 0;
      size_t features = 0;
      for (const FeatureRequest& request : list.requests()) {
        if (!request.entry->on_gpu) continue;
        cpu_ns += request.entry->cpu_ns;
        ++features;
      }
      if (features == 0) return {};
      DeviceChoice choice = acuity::choose_device(cpu_ns, features,
                                                  {.pairs = std::max(options.expected_frames, int64_t{1}),
                                                   .width = options.format.width,
                                                   .height = options.format.height,
                                                   .threads = threads});
      device = std::move(choice.device);
      device_reason = std::move(choice.reason);
      return {};
    }
    for (const Entrant& entrant : entrants) {
      const std::vector<std::string> names = cpu_only(entrant);
      if (names.empty()) continue;
      const std::string why =
          entrant.entry->feature != nullptr
              ? "runs"
              : fmt::format("needs {}, which {}", fmt::join(names, ", "), names.size() == 1 ? "runs" : "run");
      return Status(StatusCode::device,
                    fmt::format("{} {} on the CPU only; use the device cpu or auto", entrant.entry->info.name, why));
    }
    ACUITY_TRY_ASSIGN(device, open_device(options.device));
    return {};
  }

  Status create_pipeline() {
    std::vector<PipelineFeature> features;
    ACUITY_TRY_ASSIGN(features, list.create(setup()));
    std::unique_ptr<FrameDevice> there;
    if (device) {
      ACUITY_TRY(check_gpu_frame_size(options.format.width, options.format.height));
      std::vector<const Feature*> sent;
      for (size_t f = 0; f < features.size(); ++f) {
        features[f].on_device = list.requests()[f].entry->on_gpu;
        if (features[f].on_device) sent.push_back(features[f].feature.get());
      }
      ACUITY_TRY_ASSIGN(
          there, FrameDevice::create(device, options.format, std::move(sent), threads, options.frames_in_flight));
    }
    pipeline = std::make_unique<FramePipeline>(options.format, std::move(features), threads, std::move(there));
    return {};
  }

  Status begin_metrics() {
    for (Entrant& entrant : entrants) {
      std::vector<const Feature*> features;
      bool on_cpu = false, on_device = false;
      for (const size_t place : entrant.places) {
        const PipelineFeature& feature = pipeline->feature(place);
        features.push_back(feature.feature.get());
        (feature.on_device ? on_device : on_cpu) = true;
      }
      ACUITY_TRY(entrant.metric->begin(features));
      for (const FeatureOutput& output : entrant.metric->outputs()) {
        entrant.outputs.push_back({output.name, {}, output.debug_only});
      }
      entrant.device = !on_device ? cpu_name() : on_cpu ? name_of(*device) + " and " + cpu_name() : name_of(*device);
      if (options.device != "auto") continue;
      const std::vector<std::string> names = cpu_only(entrant);
      if (names.size() == entrant.places.size()) {
        entrant.device_reason = fmt::format("auto chose the CPU: {} has no GPU version", entrant.entry->info.name);
      } else {
        entrant.device_reason = device_reason;
        if (!names.empty()) entrant.device_reason += fmt::format("; {} on the CPU only", fmt::join(names, ", "));
      }
    }
    return {};
  }

  Input input_of(const FrameView& view, bool of_reference) const {
    return {view, of_reference ? options.format : options.distorted_format.value_or(options.format)};
  }

  Status push(const Input& reference, const Input& distorted, std::optional<int64_t> given, bool to_score) {
    if (finished) return Status(StatusCode::usage, "finish() was called; make another FrameScorer for more frames");
    const int64_t number = given.value_or(next_number);
    if (number < next_number) {
      return Status(
          StatusCode::usage,
          fmt::format("frame {} was pushed after frame {}; numbers of frames must increase", number, next_number - 1));
    }
    return guarded<Status>([&]() -> Status {
      ACUITY_TRY(failure);
      const int64_t before = pipeline->pushed();
      const Status pushed = pipeline->push(reference, distorted, number, to_score);
      if (pipeline->pushed() > before) next_number = number + 1;
      const Status given_out = deliver();
      return pushed.ok() ? given_out : pushed;
    });
  }

  // Hands out the values that have become final.
  Status deliver() {
    const size_t known = pipeline->conclude();
    while (failure.ok() && delivered < known) {
      failure = add_frame(delivered);
      if (!failure.ok()) break;
      ++delivered;
      if (options.on_scores) options.on_scores(values_of(delivered - 1));
    }
    return failure;
  }

  // Makes the outputs of a scored frame from the values of the features.
  Status add_frame(size_t place) {
    const int64_t number = pipeline->scored()[place];
    for (Entrant& entrant : entrants) {
      std::vector<std::vector<double>> values;
      for (const size_t feature : entrant.places) {
        std::vector<double>& its_values = values.emplace_back();
        for (const std::vector<double>& series : pipeline->series(feature)) its_values.push_back(series[place]);
      }
      std::vector<double> outputs(entrant.outputs.size());
      const std::vector<std::span<const double>> spans(values.begin(), values.end());
      entrant.metric->conclude(spans, outputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        ACUITY_TRY(check_finite(number, entrant.outputs[i].name, entrant.entry->info.name, outputs[i]));
        entrant.outputs[i].values.push_back(outputs[i]);
      }
    }
    return {};
  }

  FrameValues values_of(size_t place) const {
    FrameValues values{pipeline->scored()[place], {}, {}};
    for (const Entrant& entrant : entrants) {
      std::vector<double>& outputs = values.outputs.emplace_back();
      for (const FrameOutput& output : entrant.outputs) outputs.push_back(output.values[place]);
      values.values.push_back(outputs[entrant.metric->headline()]);
    }
    return values;
  }

  Result<FrameValues> score_at(int64_t number) {
    const std::vector<int64_t>& scored = pipeline->scored();
    const auto found = std::lower_bound(scored.begin(), scored.end(), number);
    if (found == scored.end() || *found != number) {
      return Status(StatusCode::usage, fmt::format("frame {} was not pushed to be scored", number));
    }
    const auto place = static_cast<size_t>(found - scored.begin());
    if (place >= delivered) {
      const Status waited = pipeline->wait_for(place);
      const Status given_out = deliver();
      if (place >= delivered) {
        ACUITY_TRY(waited);
        ACUITY_TRY(given_out);
        return Status(StatusCode::usage, fmt::format("the values of frame {} depend on frames after it, up to {} of "
                                                     "them; push them, or call finish()",
                                                     number, pipeline->frames_after()));
      }
    }
    return values_of(place);
  }

  // What several metrics share counts in the first, so that sums come out right.
  Result<FrameScore> conclude(Entrant& entrant, std::vector<FeatureCost>& costs) const {
    FrameScore score;
    const MetricInfo& info = entrant.entry->info;
    score.provenance = {.metric_version = info.version,
                        .metric_options = entrant.options.all(),
                        .library_version = ACUITY_VERSION,
                        .device = entrant.device,
                        .threads = threads,
                        .memory_mode = "full",
                        .working_bytes = 0,
                        .assumptions = entrant.metric->assumptions(),
                        .timing_ms = {{"metric", 0}}};
    if (!entrant.device_reason.empty()) {
      score.provenance.assumptions.push_back("device: " + entrant.device_reason);
    }
    std::vector<std::vector<NamedValue>> aggregates;
    for (const size_t place : entrant.places) {
      aggregates.push_back(pipeline->feature(place).feature->aggregates(pipeline->series(place)));
      const FeatureCost cost = std::exchange(costs[place], {});
      score.provenance.working_bytes += static_cast<int64_t>(cost.bytes);
      score.provenance.timing_ms[0].value += cost.milliseconds;
    }
    score.aggregates = entrant.metric->aggregates(aggregates);
    for (const NamedValue& aggregate : score.aggregates) {
      ACUITY_TRY(check_finite(-1, aggregate.name, info.name, aggregate.value));
    }
    score.headline = entrant.metric->headline();
    score.outputs = entrant.outputs;
    return score;
  }

  Result<std::vector<FrameScore>> finish() {
    if (pipeline->pushed() == 0 || pipeline->scored().empty()) {
      return Status(StatusCode::usage, "no frame was pushed, so there is nothing to score");
    }
    const Status waited = pipeline->finish();
    const Status given_out = deliver();
    ACUITY_TRY(waited);
    ACUITY_TRY(given_out);
    std::vector<FeatureCost> costs;
    for (size_t f = 0; f < list.requests().size(); ++f) costs.push_back(pipeline->cost(f));
    std::vector<FrameScore> scores;
    for (Entrant& entrant : entrants) {
      Result<FrameScore> score = conclude(entrant, costs);
      if (!score.ok()) return score.status();
      scores.push_back(std::move(*score));
    }
    return scores;
  }
};

FrameScorer::FrameScorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
FrameScorer::~FrameScorer() = default;
FrameScorer::FrameScorer(FrameScorer&&) noexcept = default;
FrameScorer& FrameScorer::operator=(FrameScorer&&) noexcept = default;

Result<FrameScorer> FrameScorer::create(const FrameScorerOptions& options) {
  return guarded<Result<FrameScorer>>([&]() -> Result<FrameScorer> {
    if (options.metrics.empty())
      return Status(StatusCode::usage, "no metric is given; metrics() lists the metrics of this build");
    if (options.threads < 0) {
      return Status(
          StatusCode::usage,
          fmt::format("invalid number of threads {}: expected 0, for one per core, or more", options.threads));
    }
    if (options.frames_in_flight < 0 || options.frames_in_flight > 64) {
      return Status(StatusCode::usage,
                    fmt::format("invalid number of frames in flight {}: expected 0 to 64", options.frames_in_flight));
    }
    ACUITY_TRY(check_formats(options));
    ACUITY_TRY(prepare_cpu());
    auto state = std::make_unique<State>();
    state->options = options;
    state->threads = Threads(options.threads).count();
    for (const FrameMetricRequest& request : options.metrics) ACUITY_TRY(state->add(request));
    ACUITY_TRY(state->choose_device());
    Status created = state->create_pipeline();
    if (!created.ok() && options.device == "auto" && state->device) {
      state->device_reason = fmt::format("auto chose the CPU, because {} could not be used: {}",
                                         state->device->info().id, created.message());
      state->device.reset();
      created = state->create_pipeline();
    }
    ACUITY_TRY(created);
    ACUITY_TRY(state->begin_metrics());
    return FrameScorer(std::move(state));
  });
}

Status FrameScorer::push(const FrameView& reference, const FrameView& distorted, std::optional<int64_t> number) {
  if (!state_) return moved_from("FrameScorer");
  return push(state_->input_of(reference, true), state_->input_of(distorted, false), number);
}

Status FrameScorer::push_neighbour(const FrameView& reference, const FrameView& distorted,
                                   std::optional<int64_t> number) {
  if (!state_) return moved_from("FrameScorer");
  return push_neighbour(state_->input_of(reference, true), state_->input_of(distorted, false), number);
}

Status FrameScorer::push(const Input& reference, const Input& distorted, std::optional<int64_t> number) {
  if (!state_) return moved_from("FrameScorer");
  return state_->push(reference, distorted, number, true);
}

Status FrameScorer::push_neighbour(const Input& reference, const Input& distorted, std::optional<int64_t> number) {
  if (!state_) return moved_from("FrameScorer");
  return state_->push(reference, distorted, number, false);
}

int FrameScorer::frames_before() const { return state_ ? state_->pipeline->frames_before() : 0; }
int FrameScorer::frames_after() const { return state_ ? state_->pipeline->frames_after() : 0; }

std::vector<std::string> FrameScorer::output_names(size_t metric) const {
  std::vector<std::string> names;
  if (!state_ || metric >= state_->entrants.size()) return names;
  for (const FrameOutput& output : state_->entrants[metric].outputs) names.push_back(output.name);
  return names;
}

Result<FrameValues> FrameScorer::score_at(int64_t number) {
  if (!state_) return moved_from("FrameScorer");
  return guarded<Result<FrameValues>>([&] { return state_->score_at(number); });
}

Result<std::vector<FrameScore>> FrameScorer::finish() {
  if (!state_) return moved_from("FrameScorer");
  if (std::exchange(state_->finished, true)) return Status(StatusCode::usage, "finish() was called before");
  return guarded<Result<std::vector<FrameScore>>>([&] { return state_->finish(); });
}

void FrameScorer::cancel() noexcept {
  if (state_) state_->pipeline->cancel();
}

}  // namespace acuity
