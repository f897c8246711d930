// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/frame_scorer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/version.h"
#include "base/guard.h"
#include "base/threads.h"
#include "base/try.h"
#include "engine/auto_device.h"
#include "engine/frame_memory.h"
#include "engine/frame_pipeline.h"
#include "engine/frame_plan.h"
#include "engine/frame_requests.h"
#include "engine/noting.h"
#include "engine/requests.h"
#include "engine/validate.h"
#include "lang/targets.h"

namespace acuity {
namespace {

struct Entrant : RequestedFrameMetric {
  explicit Entrant(RequestedFrameMetric&& requested) : RequestedFrameMetric(std::move(requested)) {}

  std::vector<FrameOutput> outputs{};
  std::string device{};
  std::string device_reason{};  // empty where the caller chose it
  std::vector<std::string> warnings{};
};

bool runs_on_gpu(const FeatureRequest& request) { return request.entry->on_gpu; }

Status check_finite(int64_t number, const std::string& output, const std::string& metric, double value) {
  if (std::isfinite(value)) return {};
  return Status(StatusCode::internal,
                fmt::format("{}{} of {} is {}, which is not a score; please report the videos",
                            number < 0 ? "" : fmt::format("frame {}: ", number), output, metric, value));
}

// So that a push_back() does not run out of memory.
template <typename T>
void make_room(std::vector<T>& values) {
  if (values.size() == values.capacity()) values.reserve(2 * values.size() + 1);
}

std::string cpu_name() { return fmt::format("cpu ({})", cpu_target()); }
std::string name_of(const Device& device) { return fmt::format("{} ({})", device.info().id, device.info().name); }

// What the CPU may do better. Page-locked memory, which only a device needs, runs out before other memory.
bool is_of_device(const Status& status) {
  return status.code() == StatusCode::device || status.code() == StatusCode::device_lost ||
         status.code() == StatusCode::device_memory || status.code() == StatusCode::out_of_memory ||
         status.code() == StatusCode::too_big;
}

// A frame that the CPU needs if the device fails now.
struct KeptFrame {
  std::array<FrameView, 2> views;
  int64_t index = 0;
  int64_t number = 0;
  bool is_scored = true;
};

}  // namespace

struct FrameScorer::State {
  FrameScorerOptions options;
  std::vector<Entrant> entrants;
  FeatureList list;
  std::shared_ptr<Device> device;  // null: the CPU only
  std::string device_reason;
  std::optional<int64_t> cap;  // of memory there
  std::mutex mutex;            // of the next two, for cancel()
  std::unique_ptr<FramePipeline> pipeline;
  bool is_cancelled = false;
  int threads = 1;
  int64_t next_number = 0;
  std::vector<int64_t> scored;                       // numbers of the frames to be scored
  size_t delivered = 0;                              // so many of them
  std::vector<FeatureSeries> series;                 // of those, by feature
  size_t first_place = 0;                            // of those, the first of this pipeline
  std::vector<FeatureCost> earlier;                  // what pipelines before this one took
  std::deque<KeptFrame> kept;                        // on a device that auto chose
  std::array<std::optional<FrameMemory>, 2> copies;  // of frames that nobody owns
  bool frames_are_here = true;                       // not on the device only
  Status failure;                                    // of what came after the features, or of memory in a call
  bool finished = false;

  std::array<FrameShape, 2> both_shapes() const { return shapes_of(options); }

  Status add_metrics() {
    FrameRequests requests;
    ACUITY_TRY_ASSIGN(requests, find_frame_requests(options));
    if (options.device != "cpu" && options.device != "auto") ACUITY_TRY(check_gpu_can(options, requests));
    for (RequestedFrameMetric& metric : requests.metrics) entrants.emplace_back(std::move(metric));
    list = std::move(requests.list);
    return {};
  }

  Status choose_device() {
    if (options.device == "cpu") return {};
    ACUITY_TRY_ASSIGN(cap, vram_cap(options.vram_cap_bytes));
    if (options.device == "auto") {
      if (options.want_map) return {};
      std::vector<CostedMetric> features;
      for (const FeatureRequest& request : list.requests()) {
        if (!runs_on_gpu(request)) continue;
        features.push_back({.name = request.entry->info.name, .guess_ns = request.entry->cpu_ns, .on_gpu = true});
      }
      if (features.empty()) return {};
      DeviceChoice choice = acuity::choose_device(features,
                                                  {.pairs = options.expected_frames,
                                                   .width = options.format.width,
                                                   .height = options.format.height,
                                                   .threads = threads,
                                                   .vram_cap = cap,
                                                   .strips_allowed = false,
                                                   .plan_on_gpu = [this](Backend, int) { return plan_on_device(); }},
                                                  process_measurements().now());
      device = std::move(choice.device);
      device_reason = std::move(choice.reason);
      return {};
    }
    ACUITY_TRY_ASSIGN(device, open_device(options.device));
    return {};
  }

  // Of as few frames in flight as may be.
  Result<MemoryPlan> plan_on_device() const {
    for (const FrameShape& shape : both_shapes()) ACUITY_TRY(check_gpu_frame_size(shape.width, shape.height));
    std::vector<PipelineFeature> features;
    ACUITY_TRY_ASSIGN(features, list.create(setup_of(options)));
    std::vector<const Feature*> sent;
    for (size_t f = 0; f < features.size(); ++f) {
      if (runs_on_gpu(list.requests()[f])) sent.push_back(features[f].feature.get());
    }
    FramePlan frames;
    ACUITY_TRY_ASSIGN(frames, plan_frames(both_shapes(), sent));
    MemoryPlan plan;
    plan.pair.device = frames.bytes(std::max(options.frames_in_flight, 1));
    plan.further_pair.device = frames.per_frame;
    return plan;
  }

  Status create_pipeline() {
    std::vector<PipelineFeature> features;
    ACUITY_TRY_ASSIGN(features, list.create(setup_of(options)));
    const std::array<FrameShape, 2> shapes = both_shapes();
    std::unique_ptr<FrameDevice> there;
    if (device) {
      for (const FrameShape& shape : shapes) ACUITY_TRY(check_gpu_frame_size(shape.width, shape.height));
      std::vector<const Feature*> sent;
      for (size_t f = 0; f < features.size(); ++f) {
        features[f].on_device = runs_on_gpu(list.requests()[f]);
        if (features[f].on_device) sent.push_back(features[f].feature.get());
      }
      ACUITY_TRY_ASSIGN(there, FrameDevice::create(device, shapes, std::move(sent), threads,
                                                   {.in_flight = options.frames_in_flight, .cap = cap}));
    }
    pipeline = std::make_unique<FramePipeline>(shapes, std::move(features), threads, std::move(there));
    return {};
  }

  Status begin_metrics() {
    for (size_t f = 0; f < list.requests().size(); ++f) series.emplace_back(pipeline->series(f).size());
    earlier.resize(series.size());
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
      const std::vector<std::string> names = entrant.cpu_only();
      if (names.size() == entrant.places.size()) {
        entrant.device_reason = fmt::format("auto chose the CPU: {} has no GPU version", entrant.entry->info.name);
      } else if (options.want_map) {
        entrant.device_reason = "auto chose the CPU: difference maps of frames are made on the CPU only";
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

  // As guarded(). Where memory ran out, frames and values may be half added: no later call goes on with them.
  template <typename Outcome, typename Run>
  Outcome guarded_for_good(const Run& run) {
    return guarded<Outcome>([&]() -> Outcome {
      try {
        return run();
      } catch (const std::bad_alloc&) {
        failure =
            status_of_texts(StatusCode::out_of_memory, {"memory ran out in an earlier call; make another FrameScorer"});
        throw;
      }
    });
  }

  Status push(const Input& reference, const Input& distorted, std::optional<int64_t> given, bool to_score) {
    return guarded_for_good<Status>([&]() -> Status {
      if (finished) return Status(StatusCode::usage, "finish() was called; make another FrameScorer for more frames");
      const int64_t number = given.value_or(next_number);
      if (number < 0 || number == std::numeric_limits<int64_t>::max()) {
        return Status(StatusCode::usage, fmt::format("invalid frame number {}: expected 0 or more", number));
      }
      if (number < next_number) {
        return Status(StatusCode::usage,
                      fmt::format("frame {} was pushed after frame {}; numbers of frames must increase", number,
                                  next_number - 1));
      }
      ACUITY_TRY(failure);
      std::array<Input, 2> inputs{reference, distorted};
      if (falls_back()) ACUITY_TRY(keep(inputs, number, to_score));
      const int64_t before = pipeline->pushed();
      Status pushed = pipeline->push(inputs[0], inputs[1], number, to_score);
      const bool is_in = pipeline->pushed() > before;
      if (is_in || must_fall_back(pushed)) {
        next_number = number + 1;
        if (to_score) scored.push_back(number);
      } else if (falls_back()) {
        kept.pop_back();
      }
      if (must_fall_back(pushed)) pushed = fall_back(pushed);
      const Status given_out = deliver();
      return pushed.ok() ? given_out : pushed;
    });
  }

  // Where auto chose the device, the CPU goes on if that fails.
  bool falls_back() const { return device && options.device == "auto" && frames_are_here; }
  bool must_fall_back(const Status& status) const { return falls_back() && is_of_device(status); }

  Status keep(std::array<Input, 2>& inputs, int64_t number, bool to_score) {
    KeptFrame frame{{}, pipeline->pushed(), number, to_score};
    for (size_t side = 0; side < 2; ++side) {
      const Input::State* input = inputs[side].state().get();
      if (input == nullptr || !input->frame || !input->frame->view.has_same_shape(both_shapes()[side]))
        continue;  // refused
      frames_are_here = frames_are_here && input->is_here();
      if (!input->is_here()) continue;
      FrameView& view = frame.views[side];
      view = input->frame->view;
      if (view.owner) continue;
      if (!copies[side]) copies[side].emplace(both_shapes()[side]);
      const FrameFormat format = input->frame->format;
      ACUITY_TRY(validate_planes(view, {}, fmt::format("{} frame {}", side == 0 ? "reference" : "distorted", number)));
      ACUITY_TRY_ASSIGN(view, copies[side]->copy(view, pipeline->planes()[side]));
      ACUITY_TRY_ASSIGN(inputs[side], with_picture(Input(view, format)));
    }
    kept.push_back(std::move(frame));
    return {};
  }

  // Frames whose values were delivered, unless they are neighbours of those that were not.
  void forget() {
    const int64_t first = delivered < scored.size() ? scored[delivered] : next_number;
    const auto needed =
        std::find_if(kept.begin(), kept.end(), [&](const KeptFrame& frame) { return frame.number >= first; });
    const auto most = static_cast<ptrdiff_t>(pipeline->frames_before());
    if (needed - kept.begin() > most) kept.erase(kept.begin(), needed - most);
  }

  // Measures on the CPU what was not delivered yet, and all that comes.
  Status fall_back(const Status& why) {
    ACUITY_TRY(deliver());
    std::vector<FeatureCost> spent = costs_so_far();
    const int64_t begin = kept.empty() ? pipeline->pushed() : kept.front().index;
    std::vector<PipelineFeature> features = pipeline->dissolve();
    for (PipelineFeature& feature : features) feature.on_device = false;
    auto other = std::make_unique<FramePipeline>(both_shapes(), std::move(features), threads);
    other->begin_at(begin);
    {
      const std::lock_guard lock(mutex);
      std::swap(pipeline, other);
      if (is_cancelled) pipeline->cancel();
    }
    other.reset();
    earlier = std::move(spent);
    first_place = delivered;
    const int64_t first = delivered < scored.size() ? scored[delivered] : next_number;
    for (Entrant& entrant : entrants) {
      if (entrant.device == cpu_name()) continue;
      if (!entrant.device.ends_with(cpu_name())) entrant.device += " and " + cpu_name();
      entrant.device_reason +=
          fmt::format("; {} failed, and the CPU went on from frame {}: {}", device->info().id, first, why.message());
      entrant.warnings.push_back(fmt::format("{} failed, so the CPU measured frame {} and those after it: {}",
                                             device->info().id, first, why.message()));
    }
    device.reset();
    for (const KeptFrame& frame : std::exchange(kept, {})) {
      const bool is_due = frame.is_scored && frame.number >= first;
      ACUITY_TRY(pipeline->push(input_of(frame.views[0], true), input_of(frame.views[1], false), frame.number, is_due));
    }
    return {};
  }

  // Hands out the values that have become final.
  Status deliver() {
    const size_t known = first_place + pipeline->conclude();
    while (failure.ok() && delivered < known) {
      failure = add_frame(delivered - first_place);
      if (!failure.ok()) break;
      ++delivered;
      if (options.on_scores) options.on_scores(values_of(delivered - 1));
    }
    if (falls_back()) forget();
    return failure;
  }

  // Makes the outputs of a scored frame, by its place in the pipeline, from the values of the features.
  Status add_frame(size_t place) {
    std::vector<std::vector<double>> found;
    for (const Entrant& entrant : entrants) {
      std::vector<std::vector<double>> values;
      for (const size_t feature : entrant.places) {
        std::vector<double>& its_values = values.emplace_back();
        for (const std::vector<double>& one : pipeline->series(feature)) its_values.push_back(one[place]);
      }
      std::vector<double>& outputs = found.emplace_back(entrant.outputs.size());
      const std::vector<std::span<const double>> spans(values.begin(), values.end());
      entrant.metric->conclude(spans, outputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        ACUITY_TRY(check_finite(scored[delivered], entrant.outputs[i].name, entrant.entry->info.name, outputs[i]));
      }
    }
    // A frame counts for all metrics or for none.
    for (Entrant& entrant : entrants) {
      for (FrameOutput& output : entrant.outputs) make_room(output.values);
    }
    for (FeatureSeries& its : series) {
      for (std::vector<double>& values : its) make_room(values);
    }
    for (size_t m = 0; m < entrants.size(); ++m) {
      for (size_t i = 0; i < found[m].size(); ++i) entrants[m].outputs[i].values.push_back(found[m][i]);
    }
    for (size_t f = 0; f < series.size(); ++f) {
      for (size_t v = 0; v < series[f].size(); ++v) series[f][v].push_back(pipeline->series(f)[v][place]);
    }
    return {};
  }

  FrameValues values_of(size_t place) const {
    FrameValues values{scored[place], {}, {}};
    for (const Entrant& entrant : entrants) {
      std::vector<double>& outputs = values.outputs.emplace_back();
      for (const FrameOutput& output : entrant.outputs) outputs.push_back(output.values[place]);
      values.values.push_back(outputs[entrant.metric->headline()]);
    }
    return values;
  }

  Result<FrameValues> score_at(int64_t number) {
    const auto found = std::lower_bound(scored.begin(), scored.end(), number);
    if (found == scored.end() || *found != number) {
      return Status(StatusCode::usage, fmt::format("frame {} was not pushed to be scored", number));
    }
    const auto place = static_cast<size_t>(found - scored.begin());
    if (place >= delivered) {
      ACUITY_TRY(failure);
      Status waited = pipeline->wait_for(place - first_place);
      if (must_fall_back(waited)) {
        waited = fall_back(waited);
        if (waited.ok() && place >= delivered) waited = pipeline->wait_for(place - first_place);
      }
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
                        .timing_ms = {{"metric", 0}},
                        .warnings = entrant.warnings};
    if (!entrant.device_reason.empty()) {
      score.provenance.assumptions.push_back("device: " + entrant.device_reason);
    }
    std::vector<std::vector<NamedValue>> aggregates;
    for (const size_t place : entrant.places) {
      aggregates.push_back(pipeline->feature(place).feature->aggregates(series[place]));
      const FeatureCost cost = std::exchange(costs[place], {});
      score.provenance.working_bytes += static_cast<int64_t>(cost.bytes);
      score.provenance.timing_ms[0].value += cost.milliseconds;
    }
    score.aggregates = entrant.metric->aggregates(aggregates);
    for (const NamedValue& aggregate : score.aggregates) {
      ACUITY_TRY(check_finite(-1, aggregate.name, info.name, aggregate.value));
    }
    score.map = entrant.metric->map();
    score.headline = entrant.metric->headline();
    score.outputs = entrant.outputs;
    return score;
  }

  Result<std::vector<FrameScore>> finish() {
    ACUITY_TRY(failure);
    if (scored.empty()) {
      return Status(StatusCode::usage, "no frame was pushed, so there is nothing to score");
    }
    Status waited = pipeline->finish();
    if (must_fall_back(waited)) {
      waited = fall_back(waited);
      if (waited.ok()) waited = pipeline->finish();
    }
    const Status given_out = deliver();
    ACUITY_TRY(waited);
    ACUITY_TRY(given_out);
    if (!device && first_place == 0) note_costs();
    return scores();
  }

  // For "auto". A GPU that waits for frames would look slower than it is.
  void note_costs() {
    const double pixels = static_cast<double>(options.format.width) * options.format.height;
    for (size_t f = 0; f < list.requests().size(); ++f) {
      note_frames(list.requests()[f].entry->info.name, pixels, pipeline->pushed(), pipeline->cost(f).milliseconds);
    }
  }

  std::vector<FeatureCost> costs_so_far() {
    std::vector<FeatureCost> sums = earlier;
    for (size_t f = 0; f < sums.size(); ++f) {
      const FeatureCost cost = pipeline->cost(f);
      sums[f].milliseconds += cost.milliseconds;
      sums[f].bytes = std::max(sums[f].bytes, cost.bytes);
    }
    return sums;
  }

  // Of the frames that were delivered.
  Result<std::vector<FrameScore>> scores() {
    std::vector<FeatureCost> spent = costs_so_far();
    std::vector<FrameScore> found;
    for (Entrant& entrant : entrants) {
      Result<FrameScore> score = conclude(entrant, spent);
      if (!score.ok()) return score.status();
      found.push_back(std::move(*score));
    }
    return found;
  }
};

FrameScorer::FrameScorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
FrameScorer::~FrameScorer() = default;
FrameScorer::FrameScorer(FrameScorer&&) noexcept = default;
FrameScorer& FrameScorer::operator=(FrameScorer&&) noexcept = default;

Result<FrameScorer> FrameScorer::create(const FrameScorerOptions& options) {
  return guarded<Result<FrameScorer>>([&]() -> Result<FrameScorer> {
    ACUITY_TRY(prepare_cpu());
    auto state = std::make_unique<State>();
    state->options = options;
    state->threads = Threads(std::max(options.threads, 0)).count();
    ACUITY_TRY(state->add_metrics());
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

std::array<PlaneSet, 2> FrameScorer::planes() const {
  return state_ ? state_->pipeline->planes() : std::array<PlaneSet, 2>{};
}

std::vector<std::string> FrameScorer::output_names(size_t metric, bool with_internal) const {
  if (!state_ || metric >= state_->entrants.size()) return {};
  return nothing_if_out_of_memory<std::vector<std::string>>([&] {
    std::vector<std::string> names;
    for (const FrameOutput& output : state_->entrants[metric].outputs) {
      if (with_internal || !output.internal) names.push_back(output.name);
    }
    return names;
  });
}

Result<FrameValues> FrameScorer::score_at(int64_t number) {
  if (!state_) return moved_from("FrameScorer");
  return state_->guarded_for_good<Result<FrameValues>>([&] { return state_->score_at(number); });
}

Result<std::vector<FrameScore>> FrameScorer::finish() {
  if (!state_) return moved_from("FrameScorer");
  if (std::exchange(state_->finished, true)) return status_of_texts(StatusCode::usage, {"finish() was called before"});
  return state_->guarded_for_good<Result<std::vector<FrameScore>>>([&] { return state_->finish(); });
}

Result<std::vector<FrameScore>> FrameScorer::scores_so_far() const {
  if (!state_) return moved_from("FrameScorer");
  if (state_->delivered == 0) return status_of_texts(StatusCode::usage, {"no frame has been scored yet"});
  return guarded<Result<std::vector<FrameScore>>>([&] { return state_->scores(); });
}

void FrameScorer::cancel() noexcept {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->is_cancelled = true;
  state_->pipeline->cancel();
}

}  // namespace acuity
