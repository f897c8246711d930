// SPDX-License-Identifier: BSD-2-Clause-Patent
// Named spans of time for NVIDIA's profilers (NVTX), if ACUITY_NVTX is 1. Their library is loaded then; nothing else is
// needed.
#ifndef ACUITY_BASE_PROFILER_RANGE_H
#define ACUITY_BASE_PROFILER_RANGE_H

namespace acuity {

/// What this thread does while the object lives. They nest.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) noexcept;
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace acuity

#endif
