// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/scorer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "acuity/version.h"
#include "base/guard.h"
#include "base/threads.h"
#include "base/try.h"
#include "device/device.h"
#include "engine/auto_device.h"
#include "engine/metric.h"
#include "engine/options.h"
#include "engine/validate.h"
#include "lang/targets.h"

namespace acuity {
namespace {

constexpr int64_t kSmallPixels = int64_t{1} << 20;
constexpr size_t kSmallOnGpu = 8, kLargeOnGpu = 2;

}  // namespace

struct Scorer::State {
  const MetricEntry* entry = nullptr;
  ScorerOptions options;
  OptionValues metric_options;
  int width = 0;
  int height = 0;
  Threads threads{1};
  std::shared_ptr<Device> device;     // null: the CPU
  std::string device_reason;          // why it was chosen, where the caller left it open
  std::vector<NamedValue> set_up_ms;  // what came before the first score; told with it
  std::unique_ptr<Metric> metric;
  bool has_reference = false;
  std::vector<Scorer> lanes;  // of score_many: each works on a pair of its own

  Status validate(const ImageView& view, std::string_view role) const {
    return validate_view(view, role, width, height, threads);
  }

  std::string device_name() const {
    return device ? fmt::format("{} ({})", device->info().id, device->info().name)
                  : fmt::format("cpu ({})", cpu_target());
  }

  // "cpu", a device by its id, or what auto comes to.
  Status choose_device() {
    if (options.device == "cpu") return {};
    if (options.device == "auto") {
      DeviceChoice choice = acuity::choose_device(*entry, {.pairs = std::max(options.expected_pairs, int64_t{1}),
                                                           .width = width,
                                                           .height = height,
                                                           .threads = threads.count(),
                                                           .want_map = options.want_map});
      device = std::move(choice.device);
      device_reason = "device: " + choice.reason;
      return {};
    }
    if (!entry->on_gpu) {
      return Status(StatusCode::device,
                    fmt::format("{} runs on the CPU only; use the device cpu or auto", entry->info.name));
    }
    if (options.want_map && !entry->map_on_gpu) {
      return Status(
          StatusCode::device,
          fmt::format("{}'s difference maps are made on the CPU only; use the device cpu or auto", entry->info.name));
    }
    ACUITY_TRY_ASSIGN(device, open_device(options.device));
    return {};
  }

  Status create_metric() {
    const auto begin = std::chrono::steady_clock::now();
    const Metric::Setup setup{.width = width,
                              .height = height,
                              .want_map = options.want_map,
                              .options = metric_options,
                              .strip_rows = options.memory.kind == MemoryMode::Kind::strip ? options.memory.rows : 0,
                              .threads = &threads,
                              .device = device.get()};
    ACUITY_TRY_ASSIGN(metric, entry->create(setup));
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    if (device) set_up_ms = {{"open_device", device->info().open_ms}, {"probe_device", device->info().probe_ms}};
    set_up_ms.push_back({device ? "load_and_allocate" : "allocate", elapsed.count()});
    return {};
  }

  std::string memory_mode() const {
    return options.memory.kind == MemoryMode::Kind::strip ? fmt::format("strip {}", options.memory.rows) : "full";
  }

  // How many pairs may be in work side by side. Large pictures keep all threads, or a GPU, busy alone; of those two
  // are enough for one to be sent while the other is worked on.
  size_t most_lanes() const {
    const bool small = int64_t{width} * height <= kSmallPixels;
    if (device) return small ? kSmallOnGpu : kLargeOnGpu;
    return small ? static_cast<size_t>(threads.count()) : 1;
  }

  // Does with fewer where memory runs short.
  Status make_lanes(size_t count) {
    ScorerOptions lane_options = options;
    lane_options.device = device ? device->info().id : "cpu";
    lane_options.threads = 1;
    while (lanes.size() < count) {
      Result<Scorer> lane = Scorer::create(lane_options, width, height);
      if (!lane.ok() && lanes.empty()) return lane.status();
      if (!lane.ok()) break;
      lane->state_->device_reason = device_reason;
      lane->state_->set_up_ms = std::exchange(set_up_ms, {});
      lanes.push_back(std::move(*lane));
    }
    return {};
  }

  // Runs the metric and turns what it measured into a Score, or into an error where the number would mean nothing.
  template <typename Run>
  Result<Score> finish(Run run) {
    const auto begin = std::chrono::steady_clock::now();
    Result<Measurement> measured = run();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    if (!measured.ok()) return measured.status();
    if (!std::isfinite(measured->value)) {
      return Status(StatusCode::internal,
                    fmt::format("{} came to {}, which is no score; please report the pair of pictures",
                                entry->info.name, measured->value));
    }
    Score score;
    score.value = measured->value;
    score.outputs = std::move(measured->outputs);
    score.map = std::move(measured->map);
    score.scale_maps = std::move(measured->scale_maps);
    score.provenance = {.metric_version = entry->info.version,
                        .metric_options = metric_options.all(),
                        .library_version = ACUITY_VERSION,
                        .device = device_name(),
                        .threads = threads.count(),
                        .memory_mode = memory_mode(),
                        .working_bytes = static_cast<int64_t>(metric->working_bytes()),
                        .assumptions = std::move(measured->assumptions),
                        .timing_ms = std::exchange(set_up_ms, {})};
    score.provenance.timing_ms.push_back({"metric", elapsed.count()});
    if (device && !device->info().note.empty())
      score.provenance.assumptions.push_back("device: " + device->info().note);
    if (!device_reason.empty()) score.provenance.assumptions.push_back(device_reason);
    return score;
  }
};

Scorer::Scorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Scorer::~Scorer() = default;
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;

Result<Scorer> Scorer::create(const ScorerOptions& options, int width, int height) {
  return guarded<Result<Scorer>>([&]() -> Result<Scorer> {
    auto state = std::make_unique<State>();
    for (const MetricEntry& entry : registry()) {
      if (entry.info.name == options.metric) state->entry = &entry;
    }
    if (state->entry == nullptr && find_metric(options.metric) != nullptr) {
      return Status(StatusCode::usage, fmt::format("{} works on frames of video; use FrameScorer", options.metric));
    }
    if (state->entry == nullptr) {
      return Status(StatusCode::usage,
                    fmt::format("there is no metric '{}'; metrics() lists those there are", options.metric));
    }
    ACUITY_TRY_ASSIGN(state->metric_options, OptionValues::parse(state->entry->info, options.metric_options));
    if (options.threads < 0) {
      return Status(StatusCode::usage,
                    fmt::format("{} threads make no sense; use 0 for one a core, or more", options.threads));
    }
    if (options.memory.kind == MemoryMode::Kind::strip && options.memory.rows < 1) {
      return Status(StatusCode::usage,
                    fmt::format("a strip of {} rows makes no sense; use at least 1", options.memory.rows));
    }
    if (options.want_map && !state->entry->info.has_map) {
      return Status(StatusCode::usage, fmt::format("{} has no difference map", options.metric));
    }
    if (Status cpu = prepare_cpu(); !cpu.ok()) return cpu;
    if (Status size = validate_size(state->entry->info, state->metric_options, width, height); !size.ok()) return size;
    state->options = options;
    state->width = width;
    state->height = height;
    state->threads = Threads(options.threads);
    ACUITY_TRY(state->choose_device());
    Status created = state->create_metric();
    if (!created.ok() && options.device == "auto" && state->device) {
      state->device_reason = fmt::format("device: auto took the CPU, because {} could not be used: {}",
                                         state->device->info().id, created.message());
      state->device.reset();
      created = state->create_metric();
    }
    if (!created.ok()) return created;
    return Scorer(std::move(state));
  });
}

Status Scorer::set_reference(const ImageView& reference) {
  if (!state_) return moved_from("Scorer");
  state_->has_reference = false;
  Status set = guarded<Status>([&]() -> Status {
    ACUITY_TRY(state_->validate(reference, "reference"));
    return state_->metric->set_reference(reference);
  });
  state_->has_reference = set.ok();
  return set;
}

Result<Score> Scorer::score(const ImageView& distorted) {
  if (!state_) return moved_from("Scorer");
  if (!state_->has_reference) {
    return Status(StatusCode::usage,
                  "no reference has been set; call set_reference first, or score(reference, distorted)");
  }
  return guarded<Result<Score>>([&]() -> Result<Score> {
    ACUITY_TRY(state_->validate(distorted, "distorted"));
    return state_->finish([&] { return state_->metric->score(distorted); });
  });
}

Result<Score> Scorer::score(const ImageView& reference, const ImageView& distorted) {
  if (!state_) return moved_from("Scorer");
  return guarded<Result<Score>>([&]() -> Result<Score> {
    ACUITY_TRY(state_->validate(reference, "reference"));
    ACUITY_TRY(state_->validate(distorted, "distorted"));
    return state_->finish([&] { return state_->metric->score(reference, distorted); });
  });
}

Result<std::vector<Result<Score>>> Scorer::score_many(std::span<const ImagePair> pairs) {
  using Scores = std::vector<Result<Score>>;
  if (!state_) return moved_from("Scorer");
  return guarded<Result<Scores>>([&]() -> Result<Scores> {
    Scores scores(pairs.size(), Status(StatusCode::internal, "the pair was not scored"));
    const size_t lanes = std::min(pairs.size(), state_->most_lanes());
    if (lanes < 2) {
      for (size_t i = 0; i < pairs.size(); ++i) scores[i] = score(pairs[i].reference, pairs[i].distorted);
      return scores;
    }
    ACUITY_TRY(state_->make_lanes(lanes));
    std::atomic<size_t> next = 0;
    const auto work = [&](Scorer& lane) {
      for (size_t i = next++; i < pairs.size(); i = next++) {
        scores[i] = lane.score(pairs[i].reference, pairs[i].distorted);
      }
    };
    // Not those of oneTBB, of which there are no more than cores: most of the time a lane on a GPU waits.
    std::vector<std::jthread> others;
    try {
      for (size_t i = 1; i < std::min(lanes, state_->lanes.size()); ++i)
        others.emplace_back(work, std::ref(state_->lanes[i]));
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are take all pairs.
    }
    work(state_->lanes[0]);
    others.clear();  // waits for them
    return scores;
  });
}

const MetricInfo& Scorer::metric() const {
  static const MetricInfo none;
  return state_ ? state_->entry->info : none;
}

}  // namespace acuity
