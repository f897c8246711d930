// SPDX-License-Identifier: BSD-2-Clause-Patent
// What memory metrics need, found by going through a score without doing it: on a device that only counts, and with
// threads that do nothing.
#ifndef ACUITY_ENGINE_PLAN_H
#define ACUITY_ENGINE_PLAN_H

#include <span>

#include "acuity/plan.h"
#include "engine/requests.h"

namespace acuity {

struct PlannedWork {
  std::span<const RequestedMetric> metrics;
  int width = 0;
  int height = 0;
  int strip_rows = 0;  // 0: the metrics decide
  bool want_map = false;
  int threads = 0;
  bool on_gpu = false;
  SampleType type = SampleType::u8;
  Channels channels = Channels::rgb;
};

Result<MemoryPlan> plan_memory(const PlannedWork& work);

}  // namespace acuity

#endif
