// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/scoring.h"

#include <algorithm>
#include <cmath>
#include <latch>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "acuity/version.h"
#include "base/guard.h"
#include "base/profiler_range.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "device/load_kernels.h"
#include "engine/auto_device.h"
#include "engine/noting.h"
#include "engine/plan.h"
#include "engine/validate.h"
#include "lang/targets.h"

namespace acuity {
namespace {

constexpr int64_t kSmallPixels = int64_t{1} << 20;
constexpr size_t kSmallOnGpu = 8, kLargeOnGpu = 2;

// Whether a metric that came to this can go on with other pictures. One that was cancelled has not begun.
bool leaves_metric_usable(StatusCode code) {
  return code == StatusCode::ok || code == StatusCode::input || code == StatusCode::usage ||
         code == StatusCode::cancelled;
}

SampleKind kind_of(const Input& input) {
  const std::optional<Input::State::Frame>& frame = input.state()->frame;
  if (!frame) return {.type = input.view().type, .channels = input.view().channels};
  return {.is_frame = true, .depth = frame->format.depth, .subsampling = frame->format.subsampling};
}

}  // namespace

Scoring::Scoring(const ScorerOptions& options, int width, int height)
    : options_(options),
      width_(width),
      height_(height),
      threads_(std::max(options.threads, 0)),
      frame_pixels_(3 * sizeof(float) * static_cast<size_t>(std::max(width, 0)) *
                    static_cast<size_t>(std::max(height, 0))) {}

Scoring::~Scoring() {
  std::unique_lock lock(line_mutex_);
  line_done_.wait(lock, [this] { return working_ == 0; });
}

Result<std::unique_ptr<Scoring>> Scoring::create(const ScorerOptions& options, int width, int height) {
  std::unique_ptr<Scoring> scoring(new Scoring(options, width, height));
  ACUITY_TRY_ASSIGN(scoring->metrics_, find_requested_metrics(options, width, height));
  for (const RequestedMetric& metric : scoring->metrics_) scoring->infos_.push_back(&metric.entry->info);
  ACUITY_TRY(prepare_cpu());
  ACUITY_TRY(scoring->choose_device());
  Status created = scoring->make_first_slot();
  if (!created.ok() && options.device == "auto" && scoring->pool_) {
    scoring->device_reason_ = fmt::format("device: auto chose the CPU, because {} could not be used: {}",
                                          scoring->pool_->device().info().id, created.message());
    scoring->pool_.reset();
    created = scoring->make_first_slot();
  }
  if (!created.ok()) return created;
  double set_up_ms = 0;
  for (const NamedValue& step : scoring->set_up_ms_) set_up_ms += step.value;
  scoring->measured_key_ = scoring->pool_ ? note_gpu(scoring->pool_->device().info(), set_up_ms) : note_cpu();
  return scoring;
}

// Noted for "auto". Maps take longer and are not asked for often.
void Scoring::note(RowMode::Kind kind, const Slots& slots, size_t in_flight, std::span<const double> metrics_ms,
                   double together_ms) const {
  if (options_.want_map) return;
  const bool is_narrow = narrow_ && &slots == &*narrow_;
  note_row(measured_key_, infos_,
           {.mode = {kind, strip_rows_ > 0, pool_ ? in_flight > 1 : is_narrow},
            .pixels = static_cast<double>(width_) * height_,
            .threads = pool_ || is_narrow ? 1.0 : threads_.count(),
            .rows_in_flight = pool_ ? static_cast<double>(in_flight) : 1.0,
            .metrics_ms = metrics_ms,
            .together_ms = together_ms});
}

// "cpu", a device by its id, or what auto comes to.
Status Scoring::choose_device() {
  if (options_.device == "cpu") return {};
  if (options_.device == "auto") {
    std::optional<int64_t> cap;
    ACUITY_TRY_ASSIGN(cap, vram_cap(options_.vram_cap_bytes));
    const auto plan = [this](Backend backend, int rows) -> Result<MemoryPlan> {
      ACUITY_TRY(check_gpu_size(width_, height_));
      WorkPlan made;
      ACUITY_TRY_ASSIGN(made, plan_for(backend, {}, rows));
      if (rows == options_.memory.rows) first_plan_ = {backend, made};
      return made.memory;
    };
    DeviceChoice choice = acuity::choose_device(costed(metrics_),
                                                {.pairs = options_.expected_pairs,
                                                 .width = width_,
                                                 .height = height_,
                                                 .threads = threads_.count(),
                                                 .want_map = options_.want_map,
                                                 .vram_cap = cap,
                                                 .strip_rows = options_.memory.rows,
                                                 .strips_allowed = options_.memory.kind == MemoryMode::Kind::automatic,
                                                 .plan_on_gpu = plan},
                                                process_measurements().now());
    if (choice.device) pool_ = DevicePool::of(choice.device);
    device_reason_ = "device: " + choice.reason;
    return {};
  }
  ACUITY_TRY(check_gpu_can(metrics_, options_.want_map));
  ACUITY_TRY(check_gpu_size(width_, height_));
  // Somebody may be opening the device meanwhile.
  const Backend backend = backend_of(options_.device).value_or(Backend::cuda);
  WorkPlan plan;
  ACUITY_TRY_ASSIGN(plan, plan_for(backend, {}, options_.memory.rows));
  first_plan_ = {backend, std::move(plan)};
  std::shared_ptr<Device> device;
  ACUITY_TRY_ASSIGN(device, open_device(options_.device));
  pool_ = DevicePool::of(device);
  return {};
}

Result<WorkPlan> Scoring::plan_for(Backend backend, const SampleKind& kind, int rows) const {
  return plan_work({.metrics = metrics_,
                    .width = width_,
                    .height = height_,
                    .strip_rows = rows,
                    .want_map = options_.want_map,
                    .threads = threads_.count(),
                    .gpu = backend,
                    .kind = kind});
}

Result<int64_t> Scoring::available_bytes() const {
  std::optional<int64_t> cap;
  ACUITY_TRY_ASSIGN(cap, vram_cap(options_.vram_cap_bytes));
  return acuity::available_bytes(*pool_, cap);
}

// On a device: the rows that are worked on at a time, no more than before, and how many pairs fit. Returns the kernels
// that a pair runs.
Result<std::vector<KernelInfo>> Scoring::fit_memory(const SampleKind& kind, int64_t available) {
  const bool automatic = options_.memory.kind == MemoryMode::Kind::automatic;
  const Backend backend = pool_->device().info().backend;
  std::optional<std::pair<Backend, WorkPlan>> first_plan = std::exchange(first_plan_, {});
  WorkPlan work;
  const MemoryPlan& plan = work.memory;
  for (int rows = strip_rows_;; first_plan.reset()) {
    if (first_plan && first_plan->first == backend) {
      work = std::move(first_plan->second);
    } else {
      ACUITY_TRY_ASSIGN(work, plan_for(backend, kind, rows));
    }
    if (plan.pair.device <= available) {
      strip_rows_ = rows;
      break;
    }
    rows = narrower_strip(rows, height_);
    if (!automatic || rows < kFewestStripRows) {
      return Status(StatusCode::too_big,
                    fmt::format("{}x{} pixels need {} bytes of memory{} on {}, but {} are available; {}", width_,
                                height_, plan.pair.device, automatic ? " even in strips" : "",
                                pool_->device().info().id, std::max(available, int64_t{0}),
                                automatic ? "use another device, such as cpu" : "use the memory mode automatic"));
    }
  }
  // Tiny pictures may need nothing, where a metric has its answer without looking.
  const int64_t further = std::max<int64_t>(plan.further_pair.device, 1);
  pairs_that_fit_ = 1 + static_cast<size_t>((available - plan.pair.device) / further);
  fitted_.push_back({kind, plan.reference.device, std::move(work.kernels_of_reference)});
  return std::move(work.kernels_of_pair);
}

Scoring::Fitted* Scoring::find_fitted(const SampleKind& kind) {
  const auto found = std::find_if(fitted_.begin(), fitted_.end(), [&](const Fitted& one) { return one.kind == kind; });
  return found == fitted_.end() ? nullptr : &*found;
}

// Samples of another kind than any before may need more. Then strips become narrower.
Status Scoring::make_room(const Input& input) {
  if (!pool_ || !input.has_picture()) return {};
  if (!input.state()->frame && !input.state()->device.empty()) return {};
  const SampleKind kind = kind_of(input);
  const std::lock_guard lock(room_mutex_);
  if (find_fitted(kind) != nullptr) return {};
  pool_->free_unused();  // places for samples of another kind
  int64_t available = 0;
  ACUITY_TRY_ASSIGN(available, available_bytes());
  const int rows_before = strip_rows_;
  // What this Scorer holds itself is for this as well.
  available += static_cast<int64_t>(wide_->unused_bytes() + (narrow_ ? narrow_->unused_bytes() : 0));
  std::vector<KernelInfo> kernels;
  ACUITY_TRY_ASSIGN(kernels, fit_memory(kind, available));
  if (strip_rows_ != rows_before) renew_slots();
  return load_kernels(pool_->device(), kernels);
}

// Whether all that the metrics can prepare of it has room beside what there is; where that is not asked, it is tried.
Result<bool> Scoring::reference_fits(const Input& reference) {
  if (!pool_ || options_.memory.kind != MemoryMode::Kind::automatic) return true;
  int64_t available = 0;
  ACUITY_TRY_ASSIGN(available, available_bytes());
  const std::lock_guard lock(room_mutex_);
  const Fitted* fitted = find_fitted(kind_of(reference));
  return fitted == nullptr || fitted->reference_bytes <= available;
}

// Of all metrics side by side, where otherwise each would load its own when it first needs them.
Status Scoring::load_reference_kernels(const Input& reference) {
  if (!pool_) return {};
  std::vector<KernelInfo> kernels;
  {
    const std::lock_guard lock(room_mutex_);
    if (Fitted* fitted = find_fitted(kind_of(reference))) kernels = std::exchange(fitted->reference_kernels, {});
  }
  return load_kernels(pool_->device(), kernels);
}

void Scoring::renew_slots() {
  wide_->renew();
  if (narrow_) narrow_->renew();
  pool_->free_unused();
}

// Memory ran out in spite of the plan, in strips of so many rows: others use the device as well. Whether to try again.
bool Scoring::narrow_strips(int rows_before) {
  if (!pool_ || options_.memory.kind != MemoryMode::Kind::automatic) return false;
  const std::lock_guard lock(room_mutex_);
  if (strip_rows_ != rows_before) return true;  // somebody was here before
  const int rows = narrower_strip(rows_before, height_);
  if (rows < kFewestStripRows) return false;
  strip_rows_ = rows;
  renew_slots();
  return true;
}

// How many pairs may be in flight side by side: large pictures keep all threads, or a GPU, busy alone; of those two are
// enough for one to be sent while the other is worked on.
Status Scoring::make_first_slot() {
  strip_rows_ = options_.memory.rows;
  std::vector<KernelInfo> kernels;
  if (pool_) {
    ACUITY_TRY(check_gpu_size(width_, height_));
    std::optional<int64_t> cap;
    ACUITY_TRY_ASSIGN(cap, vram_cap(options_.vram_cap_bytes));
    pool_->set_cap(cap.value_or(0));
    int64_t available = 0;
    ACUITY_TRY_ASSIGN(available, available_bytes());
    ACUITY_TRY_ASSIGN(kernels, fit_memory({}, available));
  }
  const bool small = int64_t{width_} * height_ <= kSmallPixels;
  const size_t side_by_side =
      pool_ ? std::min(kSmallOnGpu, pairs_that_fit_ - 1) : static_cast<size_t>(threads_.count());
  wide_.emplace(pool_ && !small ? std::min(kLargeOnGpu, pairs_that_fit_) : 1, [this] { return make_slot(threads_); });
  narrow_.reset();
  if (small && side_by_side > 1) narrow_.emplace(side_by_side, [this] { return make_slot(one_thread_); });
  const Stopwatch watch;
  if (pool_) ACUITY_TRY(load_kernels(pool_->device(), kernels));
  Result<std::unique_ptr<Slot>> slot = Status();
  int rows = 0;
  do {
    rows = strip_rows_;
    slot = wide_->take();
  } while (slot.status().code() == StatusCode::device_memory && narrow_strips(rows));
  if (!slot.ok()) return slot.status();
  wide_->give_back(std::move(*slot));
  if (pool_) {
    const DeviceInfo& info = pool_->device().info();
    set_up_ms_ = {{"open_device", info.open_ms}, {"probe_device", info.probe_ms}};
  }
  set_up_ms_.push_back({pool_ ? "load_and_allocate" : "allocate", watch.milliseconds()});
  return {};
}

Result<std::unique_ptr<Slot>> Scoring::make_slot(const Threads& threads) {
  auto slot = std::make_unique<Slot>();
  for (const RequestedMetric& metric : metrics_) {
    ACUITY_TRY_ASSIGN(slot->metrics.emplace_back(),
                      metric.entry->create({.width = width_,
                                            .height = height_,
                                            .want_map = options_.want_map,
                                            .options = metric.options,
                                            .strip_rows = std::min(strip_rows_.load(), height_),
                                            .threads = &threads,
                                            .tasks = &senders_,
                                            .pool = pool_}));
  }
  return slot;
}

Status Scoring::validate(const Input& input, std::string_view role) const {
  if (!input.has_picture()) return Status(StatusCode::usage, fmt::format("the {} Input has no picture", role));
  const ImageView& view = input.view();
  ACUITY_TRY(validate_view_size(view, role, width_, height_));
  Input::State& state = *input.state();
  ACUITY_TRY(check_device(input, pool_.get(), fmt::format("{} picture", role)));
  if (state.frame) {
    if (!state.device.empty() && is_converted(input)) {
      return Status(StatusCode::input, fmt::format("the {} frame is in device memory, where its colour profile cannot "
                                                   "be applied; give it in the host's memory",
                                                   role));
    }
    return validate_frame(state.frame->view, state.frame->format, state.frame->layout, role);
  }
  ACUITY_TRY(validate_layout(view, role));
  if (view.type != SampleType::f32 || state.is_finite) return {};
  if (state.device.empty()) {
    ACUITY_TRY(validate_finite(view, role, threads_));
  } else {
    std::shared_ptr<Resident> samples;
    ACUITY_TRY_ASSIGN(samples, resident_of(input, pool_));
    ACUITY_TRY(validate_finite(view, role, *pool_, *samples));
  }
  state.is_finite = true;
  return {};
}

// Kernels make pixels of frames; for the CPU, and where a colour profile asks for it, they are made here.
bool Scoring::is_converted(const Input& input) const {
  return input.has_picture() && input.state()->frame && (!pool_ || input.view().colour.icc);
}

Result<Input> Scoring::for_metrics(const Input& input) const {
  return is_converted(input) ? pixels_of(input, frame_pixels_, threads_) : input;
}

Result<std::shared_ptr<const Reference::State>> Scoring::prepare(const Input& given, Keep keep) {
  ACUITY_TRY(validate(given, "reference"));
  Input reference;
  ACUITY_TRY_ASSIGN(reference, for_metrics(given));
  auto prepared = std::make_shared<Reference::State>();
  prepared->width = width_;
  prepared->height = height_;
  const auto prepare_small = [&]() -> Result<std::shared_ptr<const Reference::State>> {
    prepared->pool.reset();
    prepared->metrics.clear();
    ACUITY_TRY_ASSIGN(prepared->samples, keep_input(reference));
    return std::shared_ptr<const Reference::State>(std::move(prepared));
  };
  if (keep == Keep::small) return prepare_small();
  ACUITY_TRY(make_room(reference));
  bool fits = true;
  ACUITY_TRY_ASSIGN(fits, reference_fits(reference));
  if (!fits) return prepare_small();
  const bool automatic = options_.memory.kind == MemoryMode::Kind::automatic;
  const Status loaded = load_reference_kernels(reference);
  if (loaded.code() == StatusCode::device_memory && automatic) return prepare_small();
  ACUITY_TRY(loaded);
  prepared->pool = pool_;
  std::unique_ptr<Slot> slot;
  ACUITY_TRY_ASSIGN(slot, wide_->take());
  std::vector<double> metrics_ms;
  Status status = guarded<Status>([&]() -> Status {
    for (size_t i = 0; i < metrics_.size(); ++i) {
      const Stopwatch watch;
      std::shared_ptr<const PreparedReference> one;
      ACUITY_TRY_ASSIGN(one, slot->metrics[i]->prepare(reference));
      metrics_ms.push_back(watch.milliseconds());
      prepared->metrics.push_back({metrics_[i].entry, metrics_[i].options.all(), std::move(one)});
    }
    const bool is_typical = !pool_ || std::exchange(slot->is_used, true);
    if (is_typical && in_flight_ == 0) {
      note(RowMode::Kind::prepare, *wide_, 1, metrics_ms, std::accumulate(metrics_ms.begin(), metrics_ms.end(), 0.0));
    }
    return {};
  });
  if (leaves_metric_usable(status.code())) {
    wide_->give_back(std::move(slot));
  } else {
    wide_->drop(std::move(slot));
  }
  settle(reference, pool_);
  if (status.code() == StatusCode::device_memory && automatic) return prepare_small();
  if (!status.ok()) return status;
  return std::shared_ptr<const Reference::State>(std::move(prepared));
}

void Scoring::start(std::shared_ptr<Job::State> job) {
  {
    const std::lock_guard lock(line_mutex_);
    line_.push_back(std::move(job));
    if (working_ == slots_for_jobs().most()) return;
    ++working_;
  }
  tasks_.run([this] { work_off_line(); });
}

void Scoring::work_off_line() {
  while (true) {
    std::shared_ptr<Job::State> job;
    {
      const std::lock_guard lock(line_mutex_);
      if (line_.empty()) {
        if (--working_ == 0) line_done_.notify_all();
        return;
      }
      job = std::move(line_.front());
      line_.pop_front();
    }
    run_on(slots_for_jobs(), *job);
  }
}

void Scoring::run_on(Slots& slots, Job::State& job) {
  job.complete(guarded<Result<std::vector<Score>>>([&] { return score_in_strips(slots, job); }));
}

// In narrower ones than were planned where memory runs out.
Result<std::vector<Score>> Scoring::score_in_strips(Slots& slots, Job::State& job) {
  while (true) {
    const int rows = strip_rows_;
    Result<std::vector<Score>> scores = score(slots, job);
    if (scores.status().code() != StatusCode::device_memory || !narrow_strips(rows)) return scores;
  }
}

// What this Scorer's metrics prepared.
Result<std::vector<const PreparedReference*>> Scoring::find_prepared(const Reference::State& reference) const {
  const auto other = [](std::string_view what) {
    return Status(StatusCode::usage,
                  fmt::format("the reference was prepared for {}; prepare it with this Scorer or one like it", what));
  };
  if (reference.width != width_ || reference.height != height_) {
    return other(
        fmt::format("pictures of {}x{} pixels, not {}x{}", reference.width, reference.height, width_, height_));
  }
  if (reference.pool != pool_) return other("another device");
  std::vector<const PreparedReference*> all;
  for (const RequestedMetric& metric : metrics_) {
    const std::vector<OptionValue>& options = metric.options.all();
    const auto found = std::find_if(reference.metrics.begin(), reference.metrics.end(), [&](const PreparedMetric& one) {
      return one.entry == metric.entry &&
             std::equal(one.options.begin(), one.options.end(), options.begin(), options.end(),
                        [](const OptionValue& a, const OptionValue& b) { return a.value == b.value; });
    });
    if (found == reference.metrics.end())
      return other("other metrics or options than " + metric.entry->info.name + "'s");
    all.push_back(found->reference.get());
  }
  return all;
}

Result<std::vector<Score>> Scoring::score(Slots& slots, Job::State& job) {
  if (job.is_cancelled()) return Status(StatusCode::cancelled, "the job was cancelled");
  std::vector<const PreparedReference*> prepared(metrics_.size());
  if (job.prepared && !job.reference.has_picture()) job.reference = job.prepared->samples;
  const Stopwatch watch;
  const bool converts = is_converted(job.reference) || is_converted(job.distorted);
  if (job.reference.has_picture()) {
    ACUITY_TRY(validate(job.reference, "reference"));
    ACUITY_TRY_ASSIGN(job.reference, for_metrics(job.reference));
  } else if (job.prepared) {
    ACUITY_TRY_ASSIGN(prepared, find_prepared(*job.prepared));
  } else {
    return Status(StatusCode::usage, "the reference has no picture; use an Input with one, or what prepare() returned");
  }
  ACUITY_TRY(validate(job.distorted, "distorted"));
  ACUITY_TRY_ASSIGN(job.distorted, for_metrics(job.distorted));
  const double convert_ms = watch.milliseconds();
  for (const Input& input : {job.reference, job.distorted}) ACUITY_TRY(make_room(input));
  std::unique_ptr<Slot> slot;
  ACUITY_TRY_ASSIGN(slot, slots.take());
  bool usable = false;
  // Without memory for the result the slot goes back or is dropped all the same.
  Result<std::vector<Score>> scores = guarded<Result<std::vector<Score>>>([&]() -> Result<std::vector<Score>> {
    const size_t in_flight = ++in_flight_;
    const Stopwatch metrics_watch;
    Result<std::vector<Measured>> outcome =
        guarded<Result<std::vector<Measured>>>([&] { return measure(*slot, job, prepared); });
    const double together_ms = metrics_watch.milliseconds();
    --in_flight_;
    if (!outcome.ok()) return outcome.status();
    std::vector<Measured>& measured = *outcome;
    const bool all_worked =
        std::all_of(measured.begin(), measured.end(), [](const Measured& one) { return one.measurement.ok(); });
    usable = std::all_of(measured.begin(), measured.end(),
                         [](const Measured& one) { return leaves_metric_usable(one.measurement.status().code()); });
    if (all_worked && (!pool_ || slot->is_used)) {
      std::vector<double> metrics_ms;
      for (const Measured& one : measured) metrics_ms.push_back(one.milliseconds);
      const bool is_prepared = prepared.front() != nullptr;
      note(is_prepared ? RowMode::Kind::prepared : RowMode::Kind::pair, slots, in_flight, metrics_ms, together_ms);
    }
    slot->is_used = true;
    std::vector<Score> all;
    for (size_t i = 0; i < measured.size(); ++i) {
      Score score;
      ACUITY_TRY_ASSIGN(score, score_of(i, std::move(measured[i]), *slot->metrics[i], prepared[i]));
      all.push_back(std::move(score));
    }
    if (converts) all.front().provenance.timing_ms.push_back({"convert", convert_ms});
    return all;
  });
  // What failed may still have something in flight on the pictures: it goes before them.
  if (usable) {
    slots.give_back(std::move(slot));
  } else {
    slots.drop(std::move(slot));
  }
  for (const Input* input : {&job.reference, &job.distorted}) {
    if (input->has_picture()) settle(*input, pool_);
  }
  if (job.is_cancelled()) return Status(StatusCode::cancelled, "the job was cancelled");
  return scores;
}

// On a GPU side by side, each metric's work given by a thread of its own; on the CPU, where each uses all threads, one
// after the other.
std::vector<Scoring::Measured> Scoring::measure(Slot& slot, const Job::State& job,
                                                const std::vector<const PreparedReference*>& prepared) {
  std::vector<Measured> measured(metrics_.size());
  const auto run = [&](size_t i) {
    const Stopwatch watch;
    const ProfilerRange range(metrics_[i].entry->info.name.c_str());
    measured[i].measurement = guarded<Result<Measurement>>([&]() -> Result<Measurement> {
      if (job.is_cancelled()) return Status(StatusCode::cancelled, "the job was cancelled");
      Metric& metric = *slot.metrics[i];
      return prepared[i] != nullptr ? metric.score(*prepared[i], job.distorted)
                                    : metric.score(job.reference, job.distorted);
    });
    measured[i].milliseconds = watch.milliseconds();
  };
  if (!pool_ || metrics_.size() == 1) {
    for (size_t i = 0; i < metrics_.size(); ++i) run(i);
    return measured;
  }
  std::latch others(static_cast<ptrdiff_t>(metrics_.size()) - 1);
  const auto run_other = [&](size_t i) {
    run(i);
    others.count_down();
  };
  // Small enough to need no memory as a task. Running out of it here would leave those before with what is gone.
  for (size_t i = 1; i < metrics_.size(); ++i) tasks_.run([&run_other, i] { run_other(i); });
  run(0);
  others.wait();
  return measured;
}

// A Score, or an error where the number would mean nothing.
Result<Score> Scoring::score_of(size_t metric, Measured measured, const Metric& at_work,
                                const PreparedReference* prepared) {
  Result<Measurement>& measurement = measured.measurement;
  if (!measurement.ok()) return measurement.status();
  const RequestedMetric& requested = metrics_[metric];
  const MetricInfo& info = requested.entry->info;
  if (!std::isfinite(measurement->value)) {
    return Status(StatusCode::internal,
                  fmt::format("{} is {}, which is not a score; please report the pair of pictures", info.name,
                              measurement->value));
  }
  Score score;
  score.metric = info.name;
  score.value = measurement->value;
  score.outputs = std::move(measurement->outputs);
  score.map = std::move(measurement->map);
  score.scale_maps = std::move(measurement->scale_maps);
  const size_t bytes = at_work.working_bytes() + (prepared != nullptr ? prepared->bytes() : 0);
  std::vector<NamedValue> timing_ms;
  {
    const std::lock_guard lock(set_up_mutex_);
    timing_ms = std::exchange(set_up_ms_, {});
  }
  timing_ms.push_back({"metric", measured.milliseconds});
  score.provenance = {.metric_version = info.version,
                      .metric_options = requested.options.all(),
                      .library_version = ACUITY_VERSION,
                      .device = device_name(),
                      .threads = threads_.count(),
                      .memory_mode = memory_mode(),
                      .working_bytes = static_cast<int64_t>(bytes),
                      .assumptions = std::move(measurement->assumptions),
                      .timing_ms = std::move(timing_ms),
                      .warnings = std::move(measurement->warnings)};
  if (pool_ && !pool_->device().info().note.empty()) {
    score.provenance.assumptions.push_back("device: " + pool_->device().info().note);
  }
  if (!device_reason_.empty()) score.provenance.assumptions.push_back(device_reason_);
  return score;
}

std::string Scoring::device_name() const {
  if (!pool_) return fmt::format("cpu ({})", cpu_target());
  const DeviceInfo& info = pool_->device().info();
  return fmt::format("{} ({})", info.id, info.name);
}

std::string Scoring::memory_mode() const { return strip_rows_ > 0 ? fmt::format("strip {}", strip_rows_) : "full"; }

}  // namespace acuity
