// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measures features of frames on several threads and on a device. On the CPU a job is one feature of one frame; threads
// take whatever job is next, with a worker of their own for each feature. Nothing depends on who does what when.
//
// One thread pushes frames and asks for values; it works on jobs while it would wait.
#ifndef ACUITY_ENGINE_FRAME_PIPELINE_H
#define ACUITY_ENGINE_FRAME_PIPELINE_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/feature.h"
#include "engine/frame_device.h"
#include "engine/frame_memory.h"

namespace acuity {

/// A feature to be measured, on samples of `depth` bits: as many as those of the frames, or more.
struct PipelineFeature {
  std::unique_ptr<Feature> feature;
  int depth = 8;
  std::string name{};  // for messages
  bool on_device = false;
};

/// What a feature took.
struct FeatureCost {
  double milliseconds = 0;  // of all threads together
  size_t bytes = 0;         // likewise, and on the device
};

class FramePipeline {
 public:
  /// `formats` are those of the two videos, by Role, with equal depths. Features have that depth or one other.
  /// `device` is made for those that are on it, in the same order; null where there are none.
  FramePipeline(const std::array<FrameShape, 2>& formats, std::vector<PipelineFeature> features, int threads,
                std::unique_ptr<FrameDevice> device = nullptr);
  FramePipeline(const FrameShape& format, std::vector<PipelineFeature> features, int threads,
                std::unique_ptr<FrameDevice> device = nullptr)
      : FramePipeline(std::array{format, format}, std::move(features), threads, std::move(device)) {}
  ~FramePipeline();
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;

  /// Counts frames from there on instead of from 0: those before were another pipeline's. Before any is pushed.
  void begin_at(int64_t index) { first_ = next_ = concluded_ = index; }
  /// As FrameScorer::push and push_neighbour. The inputs are frames.
  Status push(const Input& reference, const Input& distorted, int64_t number, bool scored);
  Status push(const FrameView& reference, const FrameView& distorted, int64_t number, bool scored) {
    return push(Input(reference, FrameFormat{formats_[0]}), Input(distorted, FrameFormat{formats_[1]}), number, scored);
  }
  /// Waits until the values of the scored frame at that place are final, as far as those pushed make it so.
  Status wait_for(size_t place);
  /// Waits for all frames. No frame is pushed afterwards.
  Status finish();
  /// From any thread: all calls return soon, with StatusCode::cancelled.
  void cancel() noexcept;
  /// Gives up what is in flight and hands the features over to another pipeline; nothing is called afterwards.
  std::vector<PipelineFeature> dissolve();

  /// How many frames of the sequence were pushed; the index of the next.
  int64_t pushed() const { return next_; }
  /// The numbers of the frames to be scored.
  const std::vector<int64_t>& scored() const { return scored_; }
  /// Concludes what can be. Returns how many scored frames have final values; these are in series().
  size_t conclude();
  const PipelineFeature& feature(size_t feature) const { return features_[feature]; }
  const FeatureSeries& series(size_t feature) const { return series_[feature]; }
  FeatureCost cost(size_t feature);

  /// How many frames before and after a scored one can matter to it.
  int frames_before() const;
  int frames_after() const { return std::max(numbers_after_, lookahead_); }
  /// Which planes some feature looks at, by Role.
  const std::array<PlaneSet, 2>& planes() const { return planes_; }

 private:
  struct Frame;
  struct Job;
  struct Dropped;
  struct Progress;
  using Workers = std::vector<std::unique_ptr<FeatureWorker>>;

  Status validate(const Input& input, Role role, int64_t number) const;
  bool is_wide(size_t feature) const { return features_[feature].depth > formats_[0].depth; }
  bool measures(size_t feature, bool scored) const;
  bool looks_at(size_t feature, bool scored) const;
  Frame* find(int64_t index) const;
  std::unique_ptr<Frame> make_frame(const FrameView& reference, const FrameView& distorted, int64_t number,
                                    bool scored);
  void enter(std::unique_ptr<Frame> frame, Dropped& dropped);
  Status state() const;

  bool ready(const Frame& frame, size_t feature) const;
  std::vector<Frame*> measurable(const Frame& first, size_t feature) const;
  Job next_job();
  bool fails_before(const Job& job) const;
  bool run_next(std::unique_lock<std::mutex>& lock, Workers& workers);
  bool run_any(std::unique_lock<std::mutex>& lock, Workers& workers);
  bool advance(std::unique_lock<std::mutex>& lock);
  Status prepare(Frame& frame);
  Result<FeatureWorker*> worker_of(size_t feature, Workers& workers);
  Status derive(const Job& job, Workers& workers);
  Status measure(const Job& job, Workers& workers, std::vector<std::vector<double>>& numbers);
  void complete(const Job& job, const Status& status, std::vector<std::vector<double>> numbers, double milliseconds);
  void note_failure(const Job& job, const Status& status);
  void release(Frame& frame, size_t feature, Dropped& dropped);
  Status submit(Frame& frame, const Input& reference, const Input& distorted);
  void finish_oldest_on_device();
  void conclude(const Frame& frame, size_t feature);
  void work();
  void give_up(Status why) noexcept;
  void stop();

  std::array<FrameShape, 2> formats_;  // by Role
  std::vector<PipelineFeature> features_;
  int threads_;
  int history_ = 0, lookahead_ = 0;  // the longest of a feature
  int together_ = 1;                 // the most of a feature
  int numbers_before_ = 0, numbers_after_ = 0;
  bool widens_ = false;        // some features want more bits than frames have ...
  bool keeps_narrow_ = false;  // ... and others do not;
  int narrow_history_ = 0;     // so many frames before they look at
  std::array<PlaneSet, 2> planes_{};
  std::array<FrameMemory, 2> copies_, wide_;  // by Role

  // Of the thread that pushes.
  std::unique_ptr<FrameDevice> device_;
  std::vector<size_t> on_device_;  // places of its features
  Workers own_workers_;
  std::vector<int64_t> scored_;
  int64_t concluded_ = 0;  // so many frames
  size_t final_ = 0;       // so many of those scored
  std::vector<FeatureSeries> series_;
  bool ended_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Frame>> frames_;  // that something still needs, without gaps
  int64_t first_ = 0;                          // the index of the first of those,
  int64_t next_ = 0;                           // and of the next to be pushed; changed by the thread that pushes
  std::deque<Frame*> pending_;                 // with jobs to do or in progress, in order
  int running_ = 0;                            // jobs in progress
  bool in_full_ = true;                        // jobs of several frames wait until there are so many ...
  bool all_here_ = false;           // ... and those of frames that look ahead, as no frame is going to follow
  std::vector<Progress> progress_;  // of each feature
  int64_t failed_frame_ = -1;       // the first, so that what is reported does not depend on threads
  size_t failed_stage_ = 0;
  Status failure_;
  bool cancelled_ = false;
  bool stopped_ = false;  // no job is begun any more: it was cancelled, or a thread gave up
  bool closing_ = false;
  std::vector<std::thread> others_;  // last: they use all of the above
};

}  // namespace acuity

#endif
