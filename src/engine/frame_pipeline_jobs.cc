// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which job is next, what it does, and what follows from it.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "engine/frame_pipeline_state.h"

namespace acuity {

// Whether all is there that a window contains. Under the mutex.
bool FramePipeline::ready(const Frame& frame, size_t feature) const {
  const Feature& asked = *features_[feature].feature;
  const int ahead = asked.lookahead(frame.index);
  if (frame.index + ahead >= next_ && !all_here_) return false;
  for (int offset = -asked.history(); offset <= ahead; ++offset) {
    const Frame* near = find(frame.index + offset);
    if (near == nullptr) continue;
    if (near->preparation != Stage::done || near->uses[feature].derivation != Stage::done) return false;
  }
  return true;
}

// What of a feature can be measured at once, from a frame on; nothing where it is better to wait. Under the mutex.
std::vector<FramePipeline::Frame*> FramePipeline::measurable(const Frame& first, size_t feature) const {
  const bool waits = in_full_ && !all_here_;
  std::vector<Frame*> frames;
  for (int i = 0; i < features_[feature].feature->together(); ++i) {
    Frame* frame = find(first.index + i);
    if (frame != nullptr && frame->uses[feature].measurement != Stage::waiting) continue;
    if (frame == nullptr || !ready(*frame, feature)) return waits ? std::vector<Frame*>() : frames;
    frames.push_back(frame);
  }
  return frames;
}

// Without a frame where there is nothing to do. Under the mutex.
FramePipeline::Job FramePipeline::next_job() {
  for (Frame* frame : pending_) {
    if (frame->preparation == Stage::waiting) {
      frame->preparation = Stage::begun;
      return Job{frame, Job::Kind::prepare, kNoFeature, {}};
    }
    // What has taken longest so far goes first, so that no thread is left with it alone in the end.
    Job next;
    for (size_t f = 0; f < features_.size(); ++f) {
      const Frame::Use& use = frame->uses[f];
      if (next.frame != nullptr && progress_[f].milliseconds <= progress_[next.feature].milliseconds) continue;
      if (use.derivation == Stage::waiting) {
        if (frame->preparation == Stage::done) next = {frame, Job::Kind::derive, f};
      } else if (use.measurement == Stage::waiting) {
        std::vector<Frame*> measured = measurable(*frame, f);
        if (!measured.empty()) next = {frame, Job::Kind::measure, f, std::move(measured)};
      }
    }
    if (next.frame == nullptr) continue;
    if (next.kind == Job::Kind::derive) frame->uses[next.feature].derivation = Stage::begun;
    for (Frame* measured : next.measured) measured->uses[next.feature].measurement = Stage::begun;
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
  const Job job = stopped_ ? Job() : next_job();
  if (job.frame == nullptr) return false;
  const bool counts = !fails_before(job);  // what could not be prepared must not be looked at
  ++running_;
  lock.unlock();
  const Stopwatch watch;
  std::vector<std::vector<double>> numbers(job.measured.size());
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

// The same; where nothing else goes on, jobs of several frames are done with those there are.
bool FramePipeline::run_any(std::unique_lock<std::mutex>& lock, Workers& workers) {
  if (run_next(lock, workers)) return true;
  if (running_ > 0) return false;
  in_full_ = false;
  const bool ran = run_next(lock, workers);
  in_full_ = true;
  return ran;
}

Status FramePipeline::prepare(Frame& frame) {
  for (size_t side = 0; side < 2; ++side) {
    FrameView& view = frame.narrow[side];
    if (!within_depth(view, planes_[side])) {
      return Status(StatusCode::input,
                    fmt::format("the {} has a sample above {}, the maximum of {} bits",
                                side == 0 ? "reference" : "distorted", (1 << view.depth) - 1, view.depth));
    }
    if (widens_) ACUITY_TRY_ASSIGN(frame.wide[side], wide_[side].copy(view, planes_[side]));
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

Status FramePipeline::measure(const Job& job, Workers& workers, std::vector<std::vector<double>>& numbers) {
  // What a window refers to, by Role.
  struct Contents {
    std::array<std::vector<const FrameView*>, 2> views, following;
    std::array<std::vector<const DerivedFrame*>, 2> derived;
  };
  FeatureWorker* worker = nullptr;
  ACUITY_TRY_ASSIGN(worker, worker_of(job.feature, workers));
  const Feature& feature = *features_[job.feature].feature;
  std::vector<Contents> contents(job.measured.size());
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < contents.size(); ++i) {
      const int64_t index = job.measured[i]->index;
      const int ahead = feature.lookahead(index);
      for (size_t side = 0; side < 2; ++side) {
        const auto view_at = [&](const Frame* frame) -> const FrameView* {
          if (frame == nullptr) return nullptr;
          return is_wide(job.feature) ? &frame->wide[side] : &frame->narrow[side];
        };
        for (int back = 0; back <= feature.history(); ++back) {
          const Frame* frame = find(index - back);
          contents[i].views[side].push_back(view_at(frame));
          contents[i].derived[side].push_back(frame == nullptr ? nullptr
                                                               : frame->uses[job.feature].derived[side].get());
        }
        for (int after = 1; after <= ahead; ++after)
          contents[i].following[side].push_back(view_at(find(index + after)));
      }
    }
  }
  std::vector<FrameWindow> windows;
  std::vector<std::span<double>> spans;
  for (size_t i = 0; i < contents.size(); ++i) {
    const Contents& its = contents[i];
    windows.push_back({job.measured[i]->index,
                       its.views[0],
                       its.views[1],
                       {its.derived[0], its.derived[1]},
                       {its.following[0], its.following[1]}});
    numbers[i].resize(feature.value_count());
    spans.emplace_back(numbers[i]);
  }
  return worker->measure_several(windows, spans);
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

void FramePipeline::complete(const Job& job, const Status& status, std::vector<std::vector<double>> numbers,
                             double milliseconds) {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  --running_;
  note_failure(job, status);
  const auto one_done = [&](Frame& frame) {
    if (--frame.jobs == 0) pending_.erase(std::find(pending_.begin(), pending_.end(), &frame));
  };
  if (job.kind == Job::Kind::prepare) {
    job.frame->preparation = Stage::done;
    one_done(*job.frame);
  } else {
    Progress& progress = progress_[job.feature];
    progress.milliseconds += milliseconds;
    if (job.kind == Job::Kind::derive) {
      Frame::Use& use = job.frame->uses[job.feature];
      use.derivation = Stage::done;
      for (const auto& derived : use.derived) progress.derived_bytes += derived ? derived->bytes() : 0;
      progress.most_derived_bytes = std::max(progress.most_derived_bytes, progress.derived_bytes);
      release(*job.frame, job.feature, dropped);
      one_done(*job.frame);
    }
    const Feature& feature = *features_[job.feature].feature;
    for (size_t i = 0; i < job.measured.size(); ++i) {
      Frame& frame = *job.measured[i];
      Frame::Use& use = frame.uses[job.feature];
      use.measurement = Stage::done;
      use.numbers = std::move(numbers[i]);
      for (int offset = -feature.history(); offset <= feature.lookahead(frame.index); ++offset) {
        Frame* near = find(frame.index + offset);
        if (near == nullptr) continue;
        --near->uses[job.feature].windows;
        release(*near, job.feature, dropped);
      }
      one_done(frame);
    }
  }
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

}  // namespace acuity
