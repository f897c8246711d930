// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/gpu_metrics.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/frame_metric.h"
#include "engine/metric.h"
#include "lang/kernel.h"

namespace acuity::cli {

bool has_gpu_version(const MetricInfo& metric) {
  const auto is_it = [&](const auto& entry) { return entry.info.name == metric.name; };
  if (!metric.is_frame_metric) {
    const auto found = std::find_if(registry().begin(), registry().end(), is_it);
    return found != registry().end() && found->on_gpu;
  }
  const auto found = std::find_if(frame_metrics().begin(), frame_metrics().end(), is_it);
  if (found == frame_metrics().end()) return false;
  if (found->feature != nullptr) return found->feature->on_gpu;
  return std::all_of(features().begin(), features().end(), [](const FeatureEntry& entry) { return entry.on_gpu; });
}

std::string lacks_in_words(uint32_t lacks) {
  std::vector<const char*> words;
  for (const auto& [need, name] : {std::pair{needs_int64, "64-bit integers"},
                                   {needs_double, "doubles"},
                                   {needs_storage16, "16-bit memory"},
                                   {needs_storage8, "8-bit memory"}}) {
    if ((lacks & need) != 0) words.push_back(name);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace acuity::cli
