// SPDX-License-Identifier: BSD-2-Clause-Patent
// What memory and kernels metrics need, found by going through a score without doing it: on a device that only counts,
// and with threads that do nothing.
#ifndef ACUITY_ENGINE_PLAN_H
#define ACUITY_ENGINE_PLAN_H

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "acuity/plan.h"
#include "engine/requests.h"
#include "lang/kernel.h"

namespace acuity {

/// What is to be scored, as far as memory goes.
struct SampleKind {
  SampleType type = SampleType::u8;
  Channels channels = Channels::rgb;
  bool is_frame = false;  // of this depth and subsampling, and the above does not count
  int depth = 8;
  Subsampling subsampling = Subsampling::yuv420;

  bool operator==(const SampleKind&) const = default;
};

struct PlannedWork {
  std::span<const RequestedMetric> metrics;
  int width = 0;
  int height = 0;
  int strip_rows = 0;  // 0: the metrics decide
  bool want_map = false;
  int threads = 0;
  std::optional<Backend> gpu{};  // nothing: the CPU
  SampleKind kind{};
};

struct WorkPlan {
  MemoryPlan memory;
  // On a GPU: what a pair runs, and what a prepared reference and pictures against it do.
  std::vector<KernelInfo> kernels_of_pair{};
  std::vector<KernelInfo> kernels_of_reference{};
};

Result<WorkPlan> plan_work(const PlannedWork& work);
Result<MemoryPlan> plan_memory(const PlannedWork& work);

/// Of a GPU by its name, whether it is there or not.
Result<Backend> planned_backend(std::string_view device);

/// The next strip to try if memory is short: powers of two, down to kFewestStripRows.
int narrower_strip(int strip_rows, int height);
inline constexpr int kFewestStripRows = 16;

}  // namespace acuity

#endif
