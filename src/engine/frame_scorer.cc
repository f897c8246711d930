// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/frame_scorer.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "acuity/version.h"
#include "base/guard.h"
#include "base/threads.h"
#include "base/try.h"
#include "engine/frame_metric.h"
#include "engine/frame_pipeline.h"
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

  Result<std::vector<PipelineFeature>> create(const FrameScorerOptions& options) const {
    std::vector<PipelineFeature> list;
    for (const FeatureRequest& request : requests_) {
      std::unique_ptr<Feature> feature;
      ACUITY_TRY_ASSIGN(feature,
                        request.entry->create({options.width, options.height, request.depth, options.subsampling,
                                               request.enough.value_or(request.options)}));
      list.push_back({std::move(feature), request.depth, request.entry->info.name});
    }
    return list;
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<FeatureRequest> requests_;
};

Status check_finite(const FrameScore& score, const std::string& metric) {
  const auto complain = [&](const std::string& place, const std::string& output, double value) {
    return Status(StatusCode::internal,
                  fmt::format("{}{} of {} came to {}, which is no score; please report the videos", place, output,
                              metric, value));
  };
  for (const FrameOutput& output : score.outputs) {
    for (size_t i = 0; i < output.values.size(); ++i) {
      if (std::isfinite(output.values[i])) continue;
      return complain(fmt::format("frame {}: ", i), output.name, output.values[i]);
    }
  }
  for (const NamedValue& aggregate : score.aggregates) {
    if (!std::isfinite(aggregate.value)) return complain("", aggregate.name, aggregate.value);
  }
  return {};
}

}  // namespace

struct FrameScorer::State {
  std::vector<Entrant> entrants;
  std::vector<const Feature*> features;
  std::unique_ptr<FramePipeline> pipeline;
  int threads = 1;
  bool finished = false;
  size_t scored = 0;

  Status push(const FrameView& reference, const FrameView& distorted, bool to_score) {
    if (finished) return Status(StatusCode::usage, "finish() was called; make another FrameScorer for more frames");
    scored += to_score ? 1 : 0;
    return guarded<Status>([&] { return pipeline->push(reference, distorted, to_score); });
  }

  Status add(const FrameMetricRequest& request, const FrameScorerOptions& options, FeatureList& list) {
    Entrant entrant;
    entrant.entry = find_frame_metric(request.metric);
    if (entrant.entry == nullptr) {
      return Status(StatusCode::usage,
                    fmt::format("there is no metric of frames '{}'; metrics() lists those there are", request.metric));
    }
    const MetricInfo& info = entrant.entry->info;
    ACUITY_TRY_ASSIGN(entrant.options, OptionValues::parse(info, request.options));
    ACUITY_TRY(validate_size(info, entrant.options, options.width, options.height));
    const Feature::Setup setup{options.width, options.height, options.depth, options.subsampling, entrant.options};
    ACUITY_TRY_ASSIGN(entrant.metric, entrant.entry->create(setup, *entrant.entry));
    for (const FeatureRequest& need : entrant.metric->needs()) entrant.places.push_back(list.place(need));
    entrants.push_back(std::move(entrant));
    return {};
  }

  Result<FrameScore> conclude(const Entrant& entrant, std::vector<FeatureResult>& results) const {
    FrameScore score;
    const MetricInfo& info = entrant.entry->info;
    score.provenance = {.metric_version = info.version,
                        .metric_options = entrant.options.all(),
                        .library_version = ACUITY_VERSION,
                        .device = fmt::format("cpu ({})", cpu_target()),
                        .threads = threads,
                        .memory_mode = "full",
                        .working_bytes = 0,
                        .assumptions = {},
                        .timing_ms = {{"metric", 0}}};
    std::vector<MeasuredFeature> measured;
    for (const size_t place : entrant.places) {
      FeatureResult& result = results[place];
      measured.push_back({features[place], &result.series, &result.aggregates});
      // What several metrics share counts in the first, so that sums come out right.
      score.provenance.working_bytes += static_cast<int64_t>(std::exchange(result.worker_bytes, 0));
      score.provenance.timing_ms[0].value += std::exchange(result.milliseconds, 0);
    }
    ACUITY_TRY(entrant.metric->conclude(measured, score));
    ACUITY_TRY(check_finite(score, info.name));
    return score;
  }
};

FrameScorer::FrameScorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
FrameScorer::~FrameScorer() = default;
FrameScorer::FrameScorer(FrameScorer&&) noexcept = default;
FrameScorer& FrameScorer::operator=(FrameScorer&&) noexcept = default;

Result<FrameScorer> FrameScorer::create(const FrameScorerOptions& options) {
  return guarded<Result<FrameScorer>>([&]() -> Result<FrameScorer> {
    if (options.metrics.empty())
      return Status(StatusCode::usage, "no metric is given; metrics() lists those there are");
    if (options.threads < 0) {
      return Status(StatusCode::usage,
                    fmt::format("{} threads make no sense; use 0 for one a core, or more", options.threads));
    }
    if (options.depth < 8 || options.depth > 16) {
      return Status(StatusCode::usage, fmt::format("{} bits a sample make no sense; use 8 to 16", options.depth));
    }
    ACUITY_TRY(prepare_cpu());
    auto state = std::make_unique<State>();
    state->threads = Threads(options.threads).count();
    FeatureList list;
    for (const FrameMetricRequest& request : options.metrics) ACUITY_TRY(state->add(request, options, list));
    std::vector<PipelineFeature> features;
    ACUITY_TRY_ASSIGN(features, list.create(options));
    for (const PipelineFeature& feature : features) state->features.push_back(feature.feature.get());
    FrameView format;
    format.width = options.width;
    format.height = options.height;
    format.depth = options.depth;
    format.subsampling = options.subsampling;
    state->pipeline = std::make_unique<FramePipeline>(format, std::move(features), state->threads);
    return FrameScorer(std::move(state));
  });
}

Status FrameScorer::push(const FrameView& reference, const FrameView& distorted) {
  if (!state_) return moved_from("FrameScorer");
  return state_->push(reference, distorted, true);
}

Status FrameScorer::push_neighbour(const FrameView& reference, const FrameView& distorted) {
  if (!state_) return moved_from("FrameScorer");
  return state_->push(reference, distorted, false);
}

Result<std::vector<FrameScore>> FrameScorer::finish() {
  if (!state_) return moved_from("FrameScorer");
  if (std::exchange(state_->finished, true)) return Status(StatusCode::usage, "finish() was called before");
  return guarded<Result<std::vector<FrameScore>>>([&]() -> Result<std::vector<FrameScore>> {
    if (state_->scored == 0) return Status(StatusCode::usage, "no frame was pushed, so that there is nothing to score");
    std::vector<FeatureResult> results;
    ACUITY_TRY_ASSIGN(results, state_->pipeline->finish());
    std::vector<FrameScore> scores;
    for (const Entrant& entrant : state_->entrants) {
      Result<FrameScore> score = state_->conclude(entrant, results);
      if (!score.ok()) return score.status();
      scores.push_back(std::move(*score));
    }
    return scores;
  });
}

}  // namespace acuity
