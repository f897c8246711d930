// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_pipeline.h"

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "engine/validate.h"

namespace acuity {
namespace {

constexpr size_t kNoFeature = static_cast<size_t>(-1);
constexpr std::array<Role, 2> kRoles{Role::reference, Role::distorted};

enum class Stage : uint8_t { waiting, begun, done };

size_t index_of(Role role) { return static_cast<size_t>(role); }

// The shape that the widest features want.
FrameShape widest(FrameShape format, const std::vector<PipelineFeature>& features) {
  for (const PipelineFeature& feature : features) {
    if (!feature.on_device) format.depth = std::max(format.depth, feature.depth);
  }
  return format;
}

}  // namespace

struct FramePipeline::Frame {
  // What a feature does with the frame.
  struct Use {
    Stage derivation = Stage::done;
    Stage measurement = Stage::done;
    size_t windows = 0;  // that contain the frame, were pushed and are not measured yet
    std::array<std::shared_ptr<const DerivedFrame>, 2> derived;
    std::vector<double> numbers;
  };

  int64_t index = 0;   // from the first pushed
  int64_t number = 0;  // for messages
  bool scored = true;
  // Samples as they came and with more bits; either is empty where nothing needs it.
  std::array<FrameView, 2> narrow, wide;
  Stage preparation = Stage::done;
  std::vector<Use> uses;  // by feature
  size_t jobs = 0;        // on threads, not done yet
  size_t device_jobs = 0;
};

struct FramePipeline::Job {
  enum class Kind : uint8_t { prepare, derive, measure };
  Frame* frame = nullptr;
  Kind kind = Kind::prepare;
  size_t feature = kNoFeature;

  // Which of two failures of a frame is the first.
  size_t stage() const { return kind == Kind::prepare ? 0 : 2 * feature + (kind == Kind::derive ? 1 : 2); }
};

// What nobody needs any more. It goes when nothing is locked: an owner may do anything when it lets go.
struct FramePipeline::Dropped {
  std::vector<std::array<FrameView, 2>> views;
  std::vector<std::array<std::shared_ptr<const DerivedFrame>, 2>> derived;
  std::vector<std::unique_ptr<Frame>> frames;
};

struct FramePipeline::Progress {
  double milliseconds = 0;
  size_t worker_bytes = 0;
  size_t derived_bytes = 0;
  size_t most_derived_bytes = 0;
};

FramePipeline::FramePipeline(const FrameShape& format, std::vector<PipelineFeature> features, int threads,
                             std::unique_ptr<FrameDevice> device)
    : format_(format),
      features_(std::move(features)),
      threads_(threads),
      copies_(format),
      wide_(widest(format, features_)),
      device_(std::move(device)) {
  for (size_t f = 0; f < features_.size(); ++f) {
    const Feature& feature = *features_[f].feature;
    history_ = std::max(history_, feature.history());
    numbers_before_ = std::max(numbers_before_, feature.numbers_before());
    numbers_after_ = std::max(numbers_after_, feature.numbers_after());
    if (features_[f].on_device) {
      on_device_.push_back(f);
    } else if (is_wide(f)) {
      widens_ = true;
    } else {
      keeps_narrow_ = true;
      narrow_history_ = std::max(narrow_history_, feature.history());
    }
    series_.emplace_back(feature.value_count());
  }
  progress_.resize(features_.size());
  own_workers_.resize(features_.size());
  try {
    for (int i = 1; i < threads_; ++i) others_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system gives no more: those there are take all jobs.
    threads_ = static_cast<int>(others_.size()) + 1;
  }
}

FramePipeline::~FramePipeline() { stop(); }

void FramePipeline::stop() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : others_) thread.join();
  others_.clear();
}

void FramePipeline::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

int FramePipeline::frames_before() const {
  int most = 0;
  for (const PipelineFeature& feature : features_) {
    most = std::max(most, feature.feature->history() + feature.feature->numbers_before());
  }
  return most;
}

Status FramePipeline::validate(const FrameView& frame, const char* role, int64_t number) const {
  if (!frame.has_same_shape(format_)) {
    return Status(StatusCode::input, fmt::format("the {} frame {} has {}x{} samples of {} bits or another subsampling, "
                                                 "but {}x{} samples of {} bits are expected",
                                                 role, number, frame.width, frame.height, frame.depth, format_.width,
                                                 format_.height, format_.depth));
  }
  return validate_planes(frame, fmt::format("{} frame {}", role, number));
}

// Features whose values depend on the numbers of several frames follow every frame; the others only those scored.
bool FramePipeline::measures(size_t feature, bool scored) const {
  const Feature& asked = *features_[feature].feature;
  return scored || asked.numbers_before() > 0 || asked.numbers_after() > 0;
}

bool FramePipeline::looks_at(size_t feature, bool scored) const {
  return measures(feature, scored) || features_[feature].feature->history() > 0;
}

// Null where there is none, or none any more. Under the mutex.
FramePipeline::Frame* FramePipeline::find(int64_t index) const {
  return index < first_ || index >= next_ ? nullptr : frames_[static_cast<size_t>(index - first_)].get();
}

Status FramePipeline::state() const {
  const std::lock_guard lock(mutex_);
  return cancelled_ ? Status(StatusCode::cancelled, "scoring was cancelled") : failure_;
}

std::unique_ptr<FramePipeline::Frame> FramePipeline::make_frame(const FrameView& reference, const FrameView& distorted,
                                                                int64_t number, bool scored) {
  auto frame = std::make_unique<Frame>();
  frame->number = number;
  frame->scored = scored;
  frame->narrow = {reference, distorted};
  frame->uses.resize(features_.size());
  bool looked_at = false;
  for (size_t f = 0; f < features_.size(); ++f) {
    if (!looks_at(f, scored)) continue;
    looked_at = true;
    Frame::Use& use = frame->uses[f];
    const Feature& feature = *features_[f].feature;
    const bool derives = feature.derives(Role::reference) || feature.derives(Role::distorted);
    if (measures(f, scored)) {
      use.measurement = features_[f].on_device ? Stage::begun : Stage::waiting;
      ++(features_[f].on_device ? frame->device_jobs : frame->jobs);
    }
    if (derives && !features_[f].on_device) {
      use.derivation = Stage::waiting;
      ++frame->jobs;
    }
  }
  const bool checks_samples = format_.depth != 8 && format_.depth != 16;
  if (looked_at && (widens_ || checks_samples)) {
    frame->preparation = Stage::waiting;
    ++frame->jobs;
  }
  return frame;
}

// Under the mutex.
void FramePipeline::enter(std::unique_ptr<Frame> frame, Dropped& dropped) {
  frame->index = next_++;
  Frame& entered = *frame;
  frames_.push_back(std::move(frame));
  for (size_t f = 0; f < features_.size(); ++f) {
    const int history = features_[f].feature->history();
    if (entered.uses[f].measurement == Stage::waiting) {
      for (int back = 0; back <= history; ++back) {
        if (Frame* before = find(entered.index - back)) ++before->uses[f].windows;
      }
    }
    // The windows of frames to come begin later.
    if (Frame* oldest = find(entered.index - history)) release(*oldest, f, dropped);
  }
  if (entered.jobs > 0) pending_.push_back(&entered);
}

Status FramePipeline::push(const Input& reference, const Input& distorted, int64_t number, bool scored) {
  std::array<Input, 2> inputs{reference, distorted};
  std::array<FrameView, 2> views;
  for (size_t side = 0; side < 2; ++side) {
    const Input::State* input = inputs[side].state().get();
    const char* const role = side == 0 ? "reference" : "distorted";
    if (input == nullptr || !input->frame) {
      return Status(StatusCode::usage, fmt::format("the {} Input is not a frame; make it from a FrameView", role));
    }
    views[side] = input->frame->view;
    ACUITY_TRY(validate(views[side], role, number));
  }
  ACUITY_TRY(state());
  std::unique_ptr<Frame> made = make_frame(views[0], views[1], number, scored);
  Frame& frame = *made;
  const bool to_device = frame.device_jobs > 0 || (device_ && device_->history() > 0);
  const bool outlives_call = (frame.jobs > 0 && threads_ > 1) || narrow_history_ > 0 || to_device;
  for (size_t side = 0; side < 2; ++side) {
    FrameView& view = frame.narrow[side];
    if (view.owner != nullptr || !outlives_call) continue;
    ACUITY_TRY_ASSIGN(view, copies_.copy(view));
    inputs[side] = Input(view, inputs[side].state()->frame->format);
  }
  if (to_device) ACUITY_TRY(submit(frame, inputs[0], inputs[1]));
  if (frame.jobs == 0 && on_device_.size() == features_.size()) frame.narrow = {};
  Dropped dropped;
  std::unique_lock lock(mutex_);
  enter(std::move(made), dropped);
  if (scored) scored_.push_back(number);
  changed_.notify_all();
  // Frames pass one that takes long, but only so many, because their values wait for it.
  const size_t most = others_.empty() ? 0 : static_cast<size_t>(threads_) + 1;
  const auto is_behind = [&] {
    return pending_.size() > most ||
           (!pending_.empty() && next_ - pending_.front()->index > 2 * static_cast<int64_t>(most));
  };
  while (is_behind() && !cancelled_) {
    if (!run_next(lock, own_workers_)) changed_.wait(lock);
  }
  lock.unlock();
  return state();
}

// Under the mutex.
bool FramePipeline::ready(const Job& job) const {
  if (job.kind == Job::Kind::derive) return job.frame->preparation == Stage::done;
  for (int back = 0; back <= features_[job.feature].feature->history(); ++back) {
    const Frame* frame = find(job.frame->index - back);
    if (frame == nullptr) break;
    if (frame->preparation != Stage::done || frame->uses[job.feature].derivation != Stage::done) return false;
  }
  return true;
}

// Without a frame where there is nothing to do. Under the mutex.
FramePipeline::Job FramePipeline::next_job() {
  for (Frame* frame : pending_) {
    if (frame->preparation == Stage::waiting) {
      frame->preparation = Stage::begun;
      return Job{frame};
    }
    // What has taken longest so far goes first, so that no thread is left with it alone in the end.
    Job next;
    for (size_t f = 0; f < features_.size(); ++f) {
      const Frame::Use& use = frame->uses[f];
      if (use.derivation != Stage::waiting && use.measurement != Stage::waiting) continue;
      const Job job{frame, use.derivation == Stage::waiting ? Job::Kind::derive : Job::Kind::measure, f};
      const bool longer = next.frame == nullptr || progress_[f].milliseconds > progress_[next.feature].milliseconds;
      if (longer && ready(job)) next = job;
    }
    if (next.frame == nullptr) continue;
    Frame::Use& use = frame->uses[next.feature];
    (next.kind == Job::Kind::derive ? use.derivation : use.measurement) = Stage::begun;
    return next;
  }
  return {};
}

// Whether there was a failure at an earlier frame, or at an earlier stage of the same one. Under the mutex.
bool FramePipeline::fails_before(const Job& job) const {
  return failed_frame_ >= 0 && std::tuple(failed_frame_, failed_stage_) < std::tuple(job.frame->index, job.stage());
}

// Does one job. False where there is none.
bool FramePipeline::run_next(std::unique_lock<std::mutex>& lock, Workers& workers) {
  const Job job = cancelled_ ? Job() : next_job();
  if (job.frame == nullptr) return false;
  const bool counts = !fails_before(job);  // what could not be prepared must not be looked at
  lock.unlock();
  const Stopwatch watch;
  std::vector<double> numbers;
  const Status status = guarded<Status>([&]() -> Status {
    if (!counts) return {};
    switch (job.kind) {
      case Job::Kind::prepare:
        return prepare(*job.frame);
      case Job::Kind::derive:
        return derive(job, workers);
      case Job::Kind::measure:
        return measure(job, workers, numbers);
    }
    return {};
  });
  complete(job, status, std::move(numbers), watch.milliseconds());
  lock.lock();
  return true;
}

Status FramePipeline::prepare(Frame& frame) {
  for (size_t side = 0; side < 2; ++side) {
    FrameView& view = frame.narrow[side];
    if (!within_depth(view)) {
      return Status(StatusCode::input,
                    fmt::format("the {} has a sample above {}, the maximum of {} bits",
                                side == 0 ? "reference" : "distorted", (1 << view.depth) - 1, view.depth));
    }
    if (widens_) ACUITY_TRY_ASSIGN(frame.wide[side], wide_.copy(view));
    if (!keeps_narrow_) view = {};
  }
  return {};
}

Result<FeatureWorker*> FramePipeline::worker_of(size_t feature, Workers& workers) {
  std::unique_ptr<FeatureWorker>& worker = workers[feature];
  if (worker == nullptr) {
    ACUITY_TRY_ASSIGN(worker, features_[feature].feature->create_worker());
    const std::lock_guard lock(mutex_);
    progress_[feature].worker_bytes += worker->bytes();
  }
  return worker.get();
}

Status FramePipeline::derive(const Job& job, Workers& workers) {
  FeatureWorker* worker = nullptr;
  ACUITY_TRY_ASSIGN(worker, worker_of(job.feature, workers));
  const std::array<FrameView, 2>& views = is_wide(job.feature) ? job.frame->wide : job.frame->narrow;
  for (const Role role : kRoles) {
    if (!features_[job.feature].feature->derives(role)) continue;
    ACUITY_TRY_ASSIGN(job.frame->uses[job.feature].derived[index_of(role)],
                      worker->derive(role, views[index_of(role)]));
  }
  return {};
}

Status FramePipeline::measure(const Job& job, Workers& workers, std::vector<double>& numbers) {
  FeatureWorker* worker = nullptr;
  ACUITY_TRY_ASSIGN(worker, worker_of(job.feature, workers));
  const Feature& feature = *features_[job.feature].feature;
  numbers.resize(feature.value_count());
  const auto length = static_cast<size_t>(feature.history()) + 1;
  std::array<std::vector<const FrameView*>, 2> views{std::vector<const FrameView*>(length),
                                                     std::vector<const FrameView*>(length)};
  std::array<std::vector<const DerivedFrame*>, 2> derived{std::vector<const DerivedFrame*>(length),
                                                          std::vector<const DerivedFrame*>(length)};
  {
    const std::lock_guard lock(mutex_);
    for (size_t back = 0; back < length; ++back) {
      const Frame* frame = find(job.frame->index - static_cast<int64_t>(back));
      if (frame == nullptr) break;
      for (size_t side = 0; side < 2; ++side) {
        views[side][back] = is_wide(job.feature) ? &frame->wide[side] : &frame->narrow[side];
        derived[side][back] = frame->uses[job.feature].derived[side].get();
      }
    }
  }
  return worker->measure({job.frame->index, views[0], views[1], {derived[0], derived[1]}}, numbers);
}

// Under the mutex.
void FramePipeline::note_failure(const Job& job, const Status& status) {
  if (status.ok() || fails_before(job)) return;
  failed_frame_ = job.frame->index;
  failed_stage_ = job.stage();
  const std::string place = fmt::format("frame {}: ", job.frame->number);
  const std::string feature = job.feature == kNoFeature ? "" : features_[job.feature].name + ": ";
  failure_ = Status(status.code(), place + feature + status.message());
}

void FramePipeline::complete(const Job& job, const Status& status, std::vector<double> numbers, double milliseconds) {
  Frame& frame = *job.frame;
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  note_failure(job, status);
  if (job.kind == Job::Kind::prepare) {
    frame.preparation = Stage::done;
  } else {
    Progress& progress = progress_[job.feature];
    Frame::Use& use = frame.uses[job.feature];
    progress.milliseconds += milliseconds;
    if (job.kind == Job::Kind::derive) {
      use.derivation = Stage::done;
      for (const auto& derived : use.derived) progress.derived_bytes += derived ? derived->bytes() : 0;
      progress.most_derived_bytes = std::max(progress.most_derived_bytes, progress.derived_bytes);
      release(frame, job.feature, dropped);
    } else {
      use.measurement = Stage::done;
      use.numbers = std::move(numbers);
      for (int back = 0; back <= features_[job.feature].feature->history(); ++back) {
        Frame* before = find(frame.index - back);
        if (before == nullptr) break;
        --before->uses[job.feature].windows;
        release(*before, job.feature, dropped);
      }
    }
  }
  if (--frame.jobs == 0) pending_.erase(std::find(pending_.begin(), pending_.end(), &frame));
  changed_.notify_all();
}

// Lets go what no window needs any more, those to come included. Under the mutex.
void FramePipeline::release(Frame& frame, size_t feature, Dropped& dropped) {
  const auto is_over = [&](size_t f) {
    const Frame::Use& use = frame.uses[f];
    return use.windows == 0 && use.derivation == Stage::done && frame.index + features_[f].feature->history() < next_;
  };
  if (features_[feature].on_device || !is_over(feature)) return;
  Frame::Use& use = frame.uses[feature];
  for (const auto& derived : use.derived) progress_[feature].derived_bytes -= derived ? derived->bytes() : 0;
  dropped.derived.push_back(std::exchange(use.derived, {}));
  if (frame.preparation != Stage::done) return;
  for (size_t f = 0; f < features_.size(); ++f) {
    if (!features_[f].on_device && is_wide(f) == is_wide(feature) && !is_over(f)) return;
  }
  dropped.views.push_back(std::exchange(is_wide(feature) ? frame.wide : frame.narrow, {}));
}

void FramePipeline::work() {
  Workers workers(features_.size());
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (!run_next(lock, workers)) changed_.wait(lock);
  }
}

// Sends a frame that is going to be entered to the device.
Status FramePipeline::submit(Frame& frame, const Input& reference, const Input& distorted) {
  while (device_->is_full()) finish_oldest_on_device();
  ACUITY_TRY(state());
  std::vector<bool> measured;
  for (const size_t f : on_device_) measured.push_back(frame.uses[f].measurement != Stage::done);
  const Stopwatch watch;
  const Status status = device_->submit(next_, reference, distorted, measured);
  const std::lock_guard lock(mutex_);
  progress_[on_device_.front()].milliseconds += watch.milliseconds();
  frame.index = next_;
  note_failure({&frame, Job::Kind::measure, on_device_.front()}, status);
  return failure_;
}

void FramePipeline::finish_oldest_on_device() {
  const Stopwatch watch;
  std::vector<std::vector<double>> numbers(on_device_.size());
  const int64_t index = device_->oldest();
  const Status status = guarded<Status>([&] { return device_->finish_oldest(numbers); });
  const std::lock_guard lock(mutex_);
  progress_[on_device_.front()].milliseconds += watch.milliseconds();
  Frame* frame = find(index);
  if (frame == nullptr) return;  // sent for the frames that follow it only
  note_failure({frame, Job::Kind::measure, on_device_.front()}, status);
  for (size_t i = 0; i < on_device_.size(); ++i) {
    Frame::Use& use = frame->uses[on_device_[i]];
    if (use.measurement != Stage::begun) continue;
    use.measurement = Stage::done;
    use.numbers = std::move(numbers[i]);
    --frame->device_jobs;
  }
}

// Does or awaits something. False where nothing is in flight.
bool FramePipeline::advance(std::unique_lock<std::mutex>& lock) {
  if (run_next(lock, own_workers_)) return true;
  if (device_ && !device_->is_idle()) {
    lock.unlock();
    finish_oldest_on_device();
    lock.lock();
    return true;
  }
  if (pending_.empty()) return false;
  changed_.wait(lock);
  return true;
}

Status FramePipeline::wait_for(size_t place) {
  while (conclude() <= place) {
    std::unique_lock lock(mutex_);
    if (cancelled_ || !advance(lock)) break;
  }
  return state();
}

Status FramePipeline::finish() {
  {
    std::unique_lock lock(mutex_);
    while (!cancelled_ && advance(lock)) {
    }
  }
  stop();
  ended_ = true;
  return state();
}

void FramePipeline::conclude(const Frame& frame, size_t feature) {
  const Feature& asked = *features_[feature].feature;
  const int before = asked.numbers_before();
  std::vector<std::span<const double>> numbers;
  {
    const std::lock_guard lock(mutex_);
    for (int64_t i = frame.index - before; i <= frame.index + asked.numbers_after(); ++i) {
      const Frame* near = find(i);
      numbers.push_back(near == nullptr ? std::span<const double>() : near->uses[feature].numbers);
    }
  }
  std::vector<double> values(asked.value_count());
  asked.conclude({frame.index, before, numbers}, values);
  for (size_t v = 0; v < values.size(); ++v) series_[feature][v].push_back(values[v]);
}

size_t FramePipeline::conclude() {
  Dropped dropped;
  for (;; ++concluded_) {
    const Frame* frame = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const int64_t last = concluded_ + numbers_after_;
      if (concluded_ >= next_ || (last >= next_ && !ended_)) break;
      bool is_measured = failed_frame_ < 0 || last < failed_frame_;
      for (int64_t i = concluded_; i <= std::min(last, next_ - 1); ++i) {
        const Frame& near = *find(i);
        is_measured = is_measured && near.jobs == 0 && near.device_jobs == 0;
      }
      if (!is_measured) break;
      frame = find(concluded_);
    }
    if (!frame->scored) continue;
    for (size_t f = 0; f < features_.size(); ++f) conclude(*frame, f);
    ++final_;
  }
  const std::lock_guard lock(mutex_);
  const auto is_needed = [&](const Frame& frame) {
    if (frame.jobs > 0 || frame.device_jobs > 0) return true;
    if (frame.index >= concluded_ - numbers_before_ || frame.index + history_ >= next_) return true;
    return std::any_of(frame.uses.begin(), frame.uses.end(), [](const auto& use) { return use.windows > 0; });
  };
  while (!frames_.empty() && !is_needed(*frames_.front())) {
    dropped.frames.push_back(std::move(frames_.front()));
    frames_.pop_front();
    ++first_;
  }
  return final_;
}

FeatureCost FramePipeline::cost(size_t feature) {
  const std::lock_guard lock(mutex_);
  const Progress& progress = progress_[feature];
  const auto place = std::find(on_device_.begin(), on_device_.end(), feature) - on_device_.begin();
  const bool is_there = place < static_cast<ptrdiff_t>(on_device_.size());
  return {progress.milliseconds, progress.worker_bytes + progress.most_derived_bytes +
                                     (is_there ? device_->bytes(static_cast<size_t>(place)) : 0)};
}

}  // namespace acuity
