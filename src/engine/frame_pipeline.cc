// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_pipeline.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "engine/frame_pipeline_state.h"
#include "engine/validate.h"

namespace acuity {
namespace {

// Memory for frames of the depth that the widest features want.
std::array<FrameMemory, 2> widest(std::array<FrameShape, 2> formats, const std::vector<PipelineFeature>& features) {
  for (const PipelineFeature& feature : features) {
    if (feature.on_device) continue;
    for (FrameShape& format : formats) format.depth = std::max(format.depth, feature.depth);
  }
  return {FrameMemory(formats[0]), FrameMemory(formats[1])};
}

}  // namespace

FramePipeline::FramePipeline(const std::array<FrameShape, 2>& formats, std::vector<PipelineFeature> features,
                             int threads, std::unique_ptr<FrameDevice> device)
    : formats_(formats),
      features_(std::move(features)),
      threads_(threads),
      copies_{FrameMemory(formats[0]), FrameMemory(formats[1])},
      wide_(widest(formats, features_)),
      device_(std::move(device)) {
  for (size_t f = 0; f < features_.size(); ++f) {
    const Feature& feature = *features_[f].feature;
    history_ = std::max(history_, feature.history());
    lookahead_ = std::max(lookahead_, feature.lookahead(0));
    together_ = std::max(together_, feature.together());
    numbers_before_ = std::max(numbers_before_, feature.numbers_before());
    numbers_after_ = std::max(numbers_after_, feature.numbers_after());
    for (const Role role : kRoles) {
      PlaneSet& planes = planes_[index_of(role)];
      for (int p = 0; p < formats_[index_of(role)].planes_count(); ++p) {
        const auto at = static_cast<size_t>(p);
        planes[at] = planes[at] || feature.reads(role, p);
      }
    }
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
  } catch (const std::bad_alloc&) {
  }
  // If the system gave fewer, those there are take all jobs.
  threads_ = static_cast<int>(others_.size()) + 1;
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

std::vector<PipelineFeature> FramePipeline::dissolve() {
  stop();
  device_.reset();
  return std::move(features_);
}

void FramePipeline::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = stopped_ = true;
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

Status FramePipeline::validate(const Input& input, Role role, int64_t number) const {
  const char* const name = role == Role::reference ? "reference" : "distorted";
  if (!input.has_picture() || !input.state()->frame) {
    return Status(StatusCode::usage, fmt::format("the {} Input is not a frame; make it from a FrameView", name));
  }
  const FrameShape& format = formats_[index_of(role)];
  const FrameView& frame = input.state()->frame->view;
  const std::string which = fmt::format("{} frame {}", name, number);
  if (!frame.has_same_shape(format)) {
    return Status(StatusCode::input, fmt::format("the {} frame {} has {}x{} samples of {} bits or another subsampling, "
                                                 "but {}x{} samples of {} bits are expected",
                                                 name, number, frame.width, frame.height, frame.depth, format.width,
                                                 format.height, format.depth));
  }
  const bool all_on_device = device_ && on_device_.size() == features_.size();
  if (!input.state()->is_here()) {
    ACUITY_TRY(check_device(input, all_on_device ? &device_->pool() : nullptr, which));
  }
  return validate_planes(frame, input.state()->frame->layout, which);
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

// A view without samples is of a frame that is on the device.
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
  const bool is_here = reference.width > 0 || distorted.width > 0;
  const bool checks_samples = formats_[0].depth != 8 && formats_[0].depth != 16 && is_here;
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
    const Feature& feature = *features_[f].feature;
    const int history = feature.history();
    const bool measured = entered.uses[f].measurement == Stage::waiting;
    for (int back = 0; back <= history; ++back) {
      Frame* before = find(entered.index - back);
      if (before == nullptr) break;
      if (measured) ++before->uses[f].windows;
      const bool looked_at = back > 0 && feature.lookahead(before->index) >= back;
      if (looked_at && before->uses[f].measurement == Stage::waiting) ++entered.uses[f].windows;
    }
  }
  // The windows of frames to come begin later. All of this one's are counted now: features share what is let go.
  for (size_t f = 0; f < features_.size(); ++f) {
    if (Frame* oldest = find(entered.index - features_[f].feature->history())) release(*oldest, f, dropped);
  }
  if (entered.jobs > 0) pending_.push_back(&entered);
}

Status FramePipeline::push(const Input& reference, const Input& distorted, int64_t number, bool scored) {
  std::array<Input, 2> inputs{reference, distorted};
  std::array<FrameView, 2> views;
  for (size_t side = 0; side < 2; ++side) {
    ACUITY_TRY(validate(inputs[side], kRoles[side], number));
    if (inputs[side].state()->is_here()) views[side] = inputs[side].state()->frame->view;
  }
  ACUITY_TRY(state());
  std::unique_ptr<Frame> made = make_frame(views[0], views[1], number, scored);
  Frame& frame = *made;
  const bool to_device = frame.device_jobs > 0 || (device_ && device_->history() > 0);
  const bool outlives_call = (frame.jobs > 0 && threads_ > 1) || narrow_history_ > 0 || to_device;
  for (size_t side = 0; side < 2; ++side) {
    FrameView& view = frame.narrow[side];
    if (view.owner != nullptr || !outlives_call || !inputs[side].state()->is_here()) continue;
    ACUITY_TRY_ASSIGN(view, copies_[side].copy(view, planes_[side]));
    ACUITY_TRY_ASSIGN(inputs[side], with_picture(Input(view, inputs[side].state()->frame->format)));
  }
  if (to_device) ACUITY_TRY(submit(frame, inputs[0], inputs[1]));
  if (frame.jobs == 0 && on_device_.size() == features_.size()) frame.narrow = {};
  Dropped dropped;
  std::unique_lock lock(mutex_);
  enter(std::move(made), dropped);
  if (scored) scored_.push_back(number);
  if (!pending_.empty()) changed_.notify_all();
  // Frames pass one that takes long, but only so many, because their values wait for it.
  const int together = together_;
  const auto most = static_cast<size_t>(others_.empty() ? together - 1 : together * (threads_ + 1));
  const auto is_behind = [&] {
    return pending_.size() > most ||
           (!pending_.empty() && next_ - pending_.front()->index > 2 * static_cast<int64_t>(most));
  };
  while (is_behind() && !stopped_) {
    if (run_any(lock, own_workers_)) continue;
    if (running_ == 0) break;  // all that is left waits for frames to come
    changed_.wait(lock);
  }
  lock.unlock();
  return state();
}

void FramePipeline::work() {
  Status status = guarded<Status>([this]() -> Status {
    Workers workers(features_.size());
    std::unique_lock lock(mutex_);
    while (!closing_) {
      if (!run_next(lock, workers)) changed_.wait(lock);
    }
    return {};
  });
  if (!status.ok()) give_up(std::move(status));
}

// Memory ran out around a job, which may be half done: nobody may wait for it.
void FramePipeline::give_up(Status why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (failure_.ok()) failure_ = std::move(why);
  }
  changed_.notify_all();
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
  note_failure({&frame, Job::Kind::measure, on_device_.front(), {}}, status);
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
  note_failure({frame, Job::Kind::measure, on_device_.front(), {}}, status);
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
  if (run_any(lock, own_workers_)) return true;
  if (device_ && !device_->is_idle()) {
    lock.unlock();
    finish_oldest_on_device();
    lock.lock();
    return true;
  }
  if (pending_.empty() || running_ == 0) return false;
  changed_.wait(lock);
  return true;
}

Status FramePipeline::wait_for(size_t place) {
  while (conclude() <= place) {
    std::unique_lock lock(mutex_);
    if (stopped_ || !advance(lock)) break;
  }
  return state();
}

Status FramePipeline::finish() {
  const Status ended = device_ && state().ok() ? guarded<Status>([&] { return device_->end(); }) : Status();
  {
    std::unique_lock lock(mutex_);
    all_here_ = true;
    // Of the first frame that waited for it.
    const auto waiting =
        std::find_if(frames_.begin(), frames_.end(), [](const auto& its) { return its->device_jobs > 0; });
    if (waiting != frames_.end()) note_failure({waiting->get(), Job::Kind::measure, on_device_.front(), {}}, ended);
    changed_.notify_all();
    while (!stopped_ && advance(lock)) {
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
