// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measures features of frames on several threads. A job is one feature of one frame; threads take whatever job is next,
// with a worker of their own for each feature. Nothing depends on who does what when.
#ifndef ACUITY_ENGINE_FRAME_PIPELINE_H
#define ACUITY_ENGINE_FRAME_PIPELINE_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/feature.h"
#include "engine/frame_memory.h"

namespace acuity {

/// A feature to be measured, on samples of `depth` bits: as many as those of the frames, or more.
struct PipelineFeature {
  std::unique_ptr<Feature> feature;
  int depth = 8;
  std::string name{};  // for messages
};

struct FeatureResult {
  FeatureSeries series;  // of the frames that were scored, after Feature::conclude
  std::vector<NamedValue> aggregates;
  double milliseconds = 0;  // of all threads together
  size_t worker_bytes = 0;  // likewise
};

class FramePipeline {
 public:
  /// Of `format` only the size, the depth and the subsampling count. Features have its depth or one other.
  FramePipeline(const FrameView& format, std::vector<PipelineFeature> features, int threads);
  ~FramePipeline();
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;

  /// As FrameScorer::push and push_neighbour.
  Status push(const FrameView& reference, const FrameView& distorted, bool scored);
  /// One for each feature. The last call.
  Result<std::vector<FeatureResult>> finish();

 private:
  struct Frame;
  struct Job;
  struct Progress;
  using Workers = std::vector<std::unique_ptr<FeatureWorker>>;

  Status validate(const FrameView& frame, const char* role) const;
  bool measures(size_t feature, const Frame& frame) const;
  bool ready(const Frame& frame) const;
  Job next_job();
  bool fails_before(const Job& job) const;
  void run_or_wait(std::unique_lock<std::mutex>& lock, Workers& workers);
  void run(const Job& job, Workers& workers);
  Status prepare(Frame& frame);
  Status measure(const Job& job, Workers& workers, std::vector<double>& values);
  void complete(const Job& job, const Status& status, const std::vector<double>& values, double milliseconds);
  void work();
  void stop();

  FrameView format_;
  std::vector<PipelineFeature> features_;
  int threads_;
  int history_ = 0;            // the longest of a feature
  bool widens_ = false;        // some features want more bits than frames have ...
  bool keeps_narrow_ = false;  // ... and others do not
  FrameMemory copies_, wide_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Frame>> pending_;  // with jobs to do or in work, in order
  std::deque<std::shared_ptr<Frame>> last_;     // those the next frame looks back at, the latest first
  std::vector<Progress> progress_;              // of each feature
  Workers own_workers_;                         // of the thread that pushes
  std::vector<bool> scored_;                    // of each frame pushed
  size_t scored_count_ = 0;
  int64_t failed_frame_ = -1;  // the first, so that what is reported does not depend on threads
  size_t failed_feature_ = 0;
  Status failure_;
  bool closing_ = false;
  std::vector<std::thread> others_;  // last: they use all of the above
};

}  // namespace acuity

#endif
