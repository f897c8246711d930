// SPDX-License-Identifier: BSD-2-Clause-Patent
// The list of metrics. A new one of pictures adds its entries here; those of frames are in frame_metrics.cc.
#include <algorithm>

#include "base/guard.h"
#include "base/try.h"
#include "engine/frame_metric.h"
#include "engine/metric.h"
#include "metrics/butteraugli/metric.h"
#include "metrics/cvvdp/metric.h"
#include "metrics/dssim/metric.h"
#include "metrics/iwssim/metric.h"
#include "metrics/mse/metric.h"
#include "metrics/ssimulacra2/metric.h"
#include "metrics/zensim/metric.h"

namespace acuity {

const std::vector<MetricEntry>& registry() {
  static const std::vector<MetricEntry> entries = {
      ssimulacra2_entry(), butteraugli_entry(), cvvdp_entry(), dssim_entry(), iwssim_entry(),
      msssim_entry(),      zensim_entry(),      psnr_entry(),  mse_entry(),
  };
  return entries;
}

std::span<const MetricInfo> metrics() {
  return nothing_if_out_of_memory<std::span<const MetricInfo>>([] {
    static const std::vector<MetricInfo> infos = [] {
      std::vector<MetricInfo> list;
      for (const MetricEntry& entry : registry()) list.push_back(entry.info);
      for (const FrameMetricEntry& entry : frame_metrics()) list.push_back(entry.info);
      return list;
    }();
    return std::span<const MetricInfo>(infos);
  });
}

const MetricInfo* find_metric(std::string_view name) {
  const auto list = metrics();
  const auto found = std::find_if(list.begin(), list.end(), [&](const MetricInfo& info) { return info.name == name; });
  return found == list.end() ? nullptr : &*found;
}

Status check_options_of(std::string_view metric, const std::vector<OptionValue>& options) {
  const auto check = [&](const auto& entry) -> Status {
    if (entry.check_options == nullptr) return {};
    OptionValues values;
    ACUITY_TRY_ASSIGN(values, OptionValues::parse(entry.info, options));
    return entry.check_options(values);
  };
  for (const MetricEntry& entry : registry()) {
    if (entry.info.name == metric) return check(entry);
  }
  const FrameMetricEntry* entry = find_frame_metric(metric);
  return entry == nullptr ? Status() : check(*entry);
}

std::string meaning(std::string_view metric, double value) {
  return nothing_if_out_of_memory<std::string>([&]() -> std::string {
    for (const MetricEntry& entry : registry()) {
      if (entry.info.name == metric) return entry.meaning(value);
    }
    const FrameMetricEntry* entry = find_frame_metric(metric);
    return entry == nullptr ? "" : entry->meaning(value);
  });
}

}  // namespace acuity
