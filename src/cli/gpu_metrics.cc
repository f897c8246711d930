// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/gpu_metrics.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/counting_device.h"
#include "engine/device_feature.h"
#include "engine/frame_metric.h"
#include "engine/metric.h"
#include "engine/plan.h"
#include "lang/kernel.h"

namespace acuity::cli {
namespace {

constexpr int kSide = 512;  // large enough for all

// Of some video, with default options.
Feature::Setup usual_setup() {
  Feature::Setup setup;
  setup.format.width = setup.format.height = kSide;
  setup.format.rate = {25, 1};
  setup.distorted = setup.format;
  return setup;
}

const MetricEntry* find_entry(const MetricInfo& metric) {
  const auto found = std::find_if(registry().begin(), registry().end(),
                                  [&](const MetricEntry& entry) { return entry.info.name == metric.name; });
  return found == registry().end() ? nullptr : &*found;
}

std::vector<KernelInfo> kernels_of_pictures(const MetricInfo& metric) {
  RequestedMetric requested{.entry = find_entry(metric), .options = {}};
  const Result<OptionValues> defaults = OptionValues::parse(metric, {});
  if (!defaults.ok()) return {};
  requested.options = *defaults;
  const Result<WorkPlan> plan =
      plan_work({.metrics = {&requested, 1}, .width = kSide, .height = kSide, .threads = 1, .gpu = Backend::cuda});
  if (!plan.ok()) return {};
  std::vector<KernelInfo> kernels = plan->kernels_of_pair;
  kernels.insert(kernels.end(), plan->kernels_of_reference.begin(), plan->kernels_of_reference.end());
  return kernels;
}

std::vector<FeatureRequest> features_of(const FrameMetricEntry& entry) {
  Feature::Setup setup = usual_setup();
  const Result<OptionValues> defaults = OptionValues::parse(entry.info, {});
  if (!defaults.ok()) return {};
  setup.options = *defaults;
  const auto metric = entry.create(setup, entry);
  return metric.ok() ? (*metric)->needs() : std::vector<FeatureRequest>();
}

}  // namespace

bool has_gpu_version(const MetricInfo& metric) {
  if (!metric.is_frame_metric) {
    const MetricEntry* entry = find_entry(metric);
    return entry != nullptr && entry->on_gpu;
  }
  const std::vector<FeatureRequest> needed = features_of(*find_frame_metric(metric.name));
  return !needed.empty() &&
         std::all_of(needed.begin(), needed.end(), [](const FeatureRequest& need) { return need.entry->on_gpu; });
}

std::vector<KernelInfo> gpu_kernels(const MetricInfo& metric) {
  if (!has_gpu_version(metric)) return {};
  if (!metric.is_frame_metric) return kernels_of_pictures(metric);
  CountingDevice device;
  for (const FeatureRequest& need : features_of(*find_frame_metric(metric.name))) {
    Feature::Setup setup = usual_setup();
    setup.options = need.enough.value_or(need.options);
    const Result<std::unique_ptr<Feature>> feature = need.entry->create(setup);
    if (feature.ok()) (void)(*feature)->create_device_worker(device);
  }
  return device.kernels();
}

uint32_t gpu_needs(const MetricInfo& metric) {
  uint32_t needs = 0;
  for (const KernelInfo& kernel : gpu_kernels(metric)) needs |= kernel.needs;
  return needs;
}

std::string needs_in_words(uint32_t needs) {
  std::vector<const char*> words;
  for (const auto& [need, name] : {std::pair{needs_int64, "64-bit integers"},
                                   {needs_double, "doubles"},
                                   {needs_storage16, "16-bit memory"},
                                   {needs_storage8, "8-bit memory"}}) {
    if ((needs & need) != 0) words.push_back(name);
  }
  return fmt::format("{}", fmt::join(words, " and "));
}

}  // namespace acuity::cli
