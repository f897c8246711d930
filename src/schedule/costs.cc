// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/costs.h"

#include <bit>
#include <utility>

#include "engine/chooser.h"
#include "engine/measurements.h"

namespace acuity {
namespace {

constexpr double kUnknownNs = 20;  // per pixel, of what the chooser has no option for
constexpr size_t kMostKnown = 4096;
constexpr int64_t kManyRows = 1'000'000;

double pixels_of(int width, int height) { return static_cast<double>(width) * static_cast<double>(height); }

}  // namespace

std::vector<double> Costs::expected(const MetricSet& metrics, int width, int height) const {
  RowsToPlace rows;
  rows.metrics = metrics.costs;
  rows.width = width;
  rows.height = height;
  rows.rows = kManyRows;
  rows.rows_at_once = true;
  rows.want_map = want_map_;
  std::vector<DeviceState> states;
  for (const Place& place : places_) {
    states.push_back(place.is_cpu() ? state_of_cpu(1) : state_of(place.device->info()));
    states.back().is_named = true;
    states.back().is_open = true;
  }
  const Placement placement = place_rows(rows, states, process_measurements().now());
  std::vector<double> ns;
  for (const Place& place : places_) {
    const PlaceOption* option = placement.option_of(place.id);
    const double row_ns = option == nullptr ? 0 : option->busy_row_ms * 1e6;
    ns.push_back(row_ns > 0 ? row_ns / pixels_of(width, height) : kUnknownNs);
  }
  return ns;
}

std::vector<double>& Costs::known(const MetricSet& metrics, int width, int height) {
  const Key key{metrics.key, std::bit_width(static_cast<uint64_t>(int64_t{width} * height))};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[key] = expected(metrics, width, height);
}

double Costs::row_ns(size_t place, const MetricSet& metrics, int width, int height) {
  const std::lock_guard lock(mutex_);
  return known(metrics, width, height)[place] * pixels_of(width, height);
}

void Costs::note(size_t place, const MetricSet& metrics, int width, int height, double ns) {
  const std::lock_guard lock(mutex_);
  double& known_ns = known(metrics, width, height)[place];
  known_ns += (ns / pixels_of(width, height) - known_ns) / 8;
}

}  // namespace acuity
