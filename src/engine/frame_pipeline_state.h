// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a FramePipeline knows of its frames and jobs; for its own two files.
#ifndef ACUITY_ENGINE_FRAME_PIPELINE_STATE_H
#define ACUITY_ENGINE_FRAME_PIPELINE_STATE_H

#include <array>
#include <memory>
#include <vector>

#include "engine/frame_pipeline.h"

namespace acuity {

inline constexpr size_t kNoFeature = static_cast<size_t>(-1);
inline constexpr std::array<Role, 2> kRoles{Role::reference, Role::distorted};

enum class Stage : uint8_t { waiting, begun, done };

inline size_t index_of(Role role) { return static_cast<size_t>(role); }

struct FramePipeline::Frame {
  // What a feature does with the frame.
  struct Use {
    Stage derivation = Stage::done;
    Stage measurement = Stage::done;
    size_t windows = 0;  // that contain the frame, were pushed and are not measured yet
    std::array<std::shared_ptr<const DerivedFrame>, 2> derived;
    std::vector<double> numbers;
  };

  int64_t index = 0;   // from the first of the sequence
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
  std::vector<Frame*> measured{};  // all that are measured together, of which `frame` is the first

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

}  // namespace acuity

#endif
