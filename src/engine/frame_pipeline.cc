// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_pipeline.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/try.h"

namespace acuity {
namespace {

constexpr size_t kNoFeature = static_cast<size_t>(-1);

// The format of the widest features.
FrameView widest(FrameView format, const std::vector<PipelineFeature>& features) {
  for (const PipelineFeature& feature : features) format.depth = std::max(format.depth, feature.depth);
  return format;
}

}  // namespace

struct FramePipeline::Frame {
  int64_t index = 0;
  size_t scored_before = 0;
  bool scored = true;
  // Samples as they came and with more bits; either is empty where nothing needs it.
  std::array<FrameView, 2> narrow, wide;
  std::array<std::shared_ptr<Frame>, kMostHistory> before;  // while they are needed
  bool preparing = false;
  bool prepared = false;
  std::vector<bool> taken;  // by feature
  size_t left = 0;          // jobs not done yet
};

struct FramePipeline::Job {
  std::shared_ptr<Frame> frame;
  size_t feature = kNoFeature;  // none: prepares the frame
};

struct FramePipeline::Progress {
  FeatureSeries series;  // of every frame the feature is measured on
  double milliseconds = 0;
  size_t bytes = 0;
};

FramePipeline::FramePipeline(const FrameView& format, std::vector<PipelineFeature> features, int threads)
    : format_(format),
      features_(std::move(features)),
      threads_(threads),
      copies_(format),
      wide_(widest(format, features_)) {
  for (const PipelineFeature& feature : features_) {
    history_ = std::max(history_, feature.feature->history());
    (feature.depth > format_.depth ? widens_ : keeps_narrow_) = true;
    progress_.push_back({FeatureSeries(feature.feature->value_count())});
  }
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

Status FramePipeline::validate(const FrameView& frame, const char* role) const {
  if (frame.width != format_.width || frame.height != format_.height || frame.depth != format_.depth ||
      frame.subsampling != format_.subsampling) {
    return Status(
        StatusCode::input,
        fmt::format("the {} frame {} has {}x{} samples of {} bits or another subsampling, but frames of {}x{} "
                    "samples of {} bits were announced",
                    role, scored_.size(), frame.width, frame.height, frame.depth, format_.width, format_.height,
                    format_.depth));
  }
  const ptrdiff_t bytes = frame.depth > 8 ? 2 : 1;
  for (int p = 0; p < frame.planes_count(); ++p) {
    const std::byte* plane = frame.planes[static_cast<size_t>(p)];
    const bool aligned = reinterpret_cast<uintptr_t>(plane) % static_cast<uintptr_t>(bytes) == 0 &&
                         frame.row_strides[static_cast<size_t>(p)] % bytes == 0;
    if (plane != nullptr && aligned) continue;
    return Status(StatusCode::usage, fmt::format("plane {} of the {} frame {} is null or not aligned to its samples", p,
                                                 role, scored_.size()));
  }
  return {};
}

// Features that look back follow every frame; the others need only those that are scored.
bool FramePipeline::measures(size_t feature, const Frame& frame) const {
  return frame.scored || features_[feature].feature->history() > 0;
}

Status FramePipeline::push(const FrameView& reference, const FrameView& distorted, bool scored) {
  ACUITY_TRY(validate(reference, "reference"));
  ACUITY_TRY(validate(distorted, "distorted"));
  auto frame = std::make_shared<Frame>();
  frame->index = static_cast<int64_t>(scored_.size());
  frame->scored_before = scored_count_;
  frame->scored = scored;
  frame->narrow = {reference, distorted};
  const bool outlives_call = threads_ > 1 || (history_ > 0 && (keeps_narrow_ || !widens_));
  for (FrameView& view : frame->narrow) {
    if (view.owner == nullptr && outlives_call) ACUITY_TRY_ASSIGN(view, copies_.copy(view));
  }
  frame->prepared = !widens_ && (format_.depth == 8 || format_.depth == 16);
  frame->taken.resize(features_.size());
  std::deque<std::shared_ptr<Frame>> dropped;  // outlives the lock: an owner may do anything when it lets go
  std::unique_lock lock(mutex_);
  scored_.push_back(scored);
  scored_count_ += scored ? 1 : 0;
  for (size_t f = 0; f < features_.size(); ++f) {
    if (!measures(f, *frame)) {
      frame->taken[f] = true;
      continue;
    }
    ++frame->left;
    for (std::vector<double>& values : progress_[f].series) values.push_back(0);
  }
  if (frame->left == 0) frame->prepared = true;
  if (!frame->prepared) ++frame->left;
  for (size_t i = 0; i < last_.size(); ++i) frame->before[i] = last_[i];
  last_.push_front(frame);
  while (last_.size() > static_cast<size_t>(history_)) {
    dropped.push_back(std::move(last_.back()));
    last_.pop_back();
  }
  if (frame->left > 0) pending_.push_back(std::move(frame));
  changed_.notify_all();
  const size_t most = others_.empty() ? 0 : static_cast<size_t>(threads_) + 1;
  while (pending_.size() > most) run_or_wait(lock, own_workers_);
  return failure_;
}

bool FramePipeline::ready(const Frame& frame) const {
  return frame.prepared && std::all_of(frame.before.begin(), frame.before.end(),
                                       [](const auto& before) { return before == nullptr || before->prepared; });
}

// Without a frame where there is nothing to do. Under the mutex.
FramePipeline::Job FramePipeline::next_job() {
  for (const std::shared_ptr<Frame>& frame : pending_) {
    if (!frame->prepared && !frame->preparing) {
      frame->preparing = true;
      return Job{frame};
    }
    if (!ready(*frame)) continue;
    // What has taken longest so far goes first, so that no thread is left with it alone in the end.
    size_t next = kNoFeature;
    for (size_t f = 0; f < features_.size(); ++f) {
      const bool longer = next == kNoFeature || progress_[f].milliseconds > progress_[next].milliseconds;
      if (!frame->taken[f] && longer) next = f;
    }
    if (next == kNoFeature) continue;
    frame->taken[next] = true;
    return Job{frame, next};
  }
  return {};
}

// Whether there was a failure at an earlier frame, or at an earlier job of the same one. Under the mutex.
bool FramePipeline::fails_before(const Job& job) const {
  return failed_frame_ >= 0 &&
         std::tuple(failed_frame_, failed_feature_ + 1) < std::tuple(job.frame->index, job.feature + 1);
}

// Does one job, or waits for something to change where there is none.
void FramePipeline::run_or_wait(std::unique_lock<std::mutex>& lock, Workers& workers) {
  Job job = next_job();
  if (job.frame == nullptr) {
    changed_.wait(lock);
    return;
  }
  lock.unlock();
  run(job, workers);
  job.frame.reset();  // while nothing is locked, as in push()
  lock.lock();
}

void FramePipeline::run(const Job& job, Workers& workers) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<double> values;
  const Status status =
      guarded<Status>([&] { return job.feature == kNoFeature ? prepare(*job.frame) : measure(job, workers, values); });
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  complete(job, status, values, spent.count());
}

Status FramePipeline::prepare(Frame& frame) {
  for (size_t side = 0; side < 2; ++side) {
    FrameView& view = frame.narrow[side];
    if (!within_depth(view)) {
      return Status(StatusCode::input,
                    fmt::format("the {} has a sample above {}, the most that {} bits hold",
                                side == 0 ? "reference" : "distorted", (1 << view.depth) - 1, view.depth));
    }
    if (widens_) ACUITY_TRY_ASSIGN(frame.wide[side], wide_.copy(view));
    if (!keeps_narrow_) view = {};
  }
  return {};
}

Status FramePipeline::measure(const Job& job, Workers& workers, std::vector<double>& values) {
  {
    // Nothing after a failure counts, and what could not be prepared must not be looked at.
    const std::lock_guard lock(mutex_);
    if (fails_before(job)) return {};
  }
  const PipelineFeature& feature = features_[job.feature];
  std::unique_ptr<FeatureWorker>& worker = workers[job.feature];
  if (worker == nullptr) {
    ACUITY_TRY_ASSIGN(worker, feature.feature->create_worker());
    const std::lock_guard lock(mutex_);
    progress_[job.feature].bytes += worker->bytes();
  }
  values.resize(feature.feature->value_count());
  const bool wide = feature.depth > format_.depth;
  FrameWindow window{.index = job.frame->index};
  const Frame* frame = job.frame.get();
  for (size_t back = 0; back <= static_cast<size_t>(feature.feature->history()); ++back) {
    if (back > 0) frame = job.frame->before[back - 1].get();
    if (frame == nullptr) break;
    const std::array<FrameView, 2>& views = wide ? frame->wide : frame->narrow;
    window.reference[back] = &views[0];
    window.distorted[back] = &views[1];
  }
  return worker->measure(window, values);
}

void FramePipeline::complete(const Job& job, const Status& status, const std::vector<double>& values,
                             double milliseconds) {
  Frame& frame = *job.frame;
  std::array<std::shared_ptr<Frame>, kMostHistory> dropped;  // outlives the lock, as in push()
  const std::lock_guard lock(mutex_);
  if (job.feature == kNoFeature) {
    frame.prepared = true;
  } else {
    Progress& progress = progress_[job.feature];
    const bool every_frame = features_[job.feature].feature->history() > 0;
    const size_t place = every_frame ? static_cast<size_t>(frame.index) : frame.scored_before;
    for (size_t v = 0; v < values.size(); ++v) progress.series[v][place] = values[v];
    progress.milliseconds += milliseconds;
  }
  if (!status.ok() && !fails_before(job)) {
    failed_frame_ = frame.index;
    failed_feature_ = job.feature;
    failure_ =
        Status(status.code(), job.feature == kNoFeature ? fmt::format("frame {}: {}", frame.index, status.message())
                                                        : fmt::format("frame {}: {}: {}", frame.index,
                                                                      features_[job.feature].name, status.message()));
  }
  if (--frame.left == 0) {
    dropped.swap(frame.before);
    pending_.erase(std::find(pending_.begin(), pending_.end(), job.frame));
  }
  changed_.notify_all();
}

void FramePipeline::work() {
  Workers workers(features_.size());
  std::unique_lock lock(mutex_);
  while (!closing_) run_or_wait(lock, workers);
}

Result<std::vector<FeatureResult>> FramePipeline::finish() {
  {
    std::unique_lock lock(mutex_);
    while (!pending_.empty()) run_or_wait(lock, own_workers_);
  }
  stop();
  ACUITY_TRY(failure_);
  std::vector<FeatureResult> results;
  for (size_t f = 0; f < features_.size(); ++f) {
    const Feature& feature = *features_[f].feature;
    FeatureSeries& series = progress_[f].series;
    feature.conclude(series);
    if (feature.history() > 0) {
      for (std::vector<double>& values : series) {
        size_t kept = 0;
        for (size_t i = 0; i < scored_.size(); ++i) {
          if (scored_[i]) values[kept++] = values[i];
        }
        values.resize(kept);
      }
    }
    results.push_back({std::move(series), {}, progress_[f].milliseconds, progress_[f].bytes});
    results.back().aggregates = feature.aggregates(results.back().series);
  }
  return results;
}

}  // namespace acuity
