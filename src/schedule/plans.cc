// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/plans.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "base/try.h"
#include "device/one_card.h"
#include "engine/chooser.h"

namespace acuity {
namespace {

constexpr int kFewestRows = 16;
constexpr size_t kMostPlans = 4096;

int64_t number_in(const char* path) {
  std::ifstream file(path);
  int64_t number = -1;
  file >> number;
  return file ? number : -1;
}

// The product of all times that were measured on every one of them.
void sort_by_speed(std::vector<DeviceInfo>& card, const Measurements& measured) {
  if (card.size() < 2) return;
  std::map<std::string, double> times;  // logarithms, by id
  for (const auto& [key, figure] : measured.figures()) {
    const auto& [owner, metric, mode, size] = key;
    if (owner != measured_key(card.front())) continue;
    std::vector<double> of_all;
    for (const DeviceInfo& device : card) {
      const auto found = measured.figures().find({measured_key(device), metric, mode, size});
      if (found != measured.figures().end()) of_all.push_back(std::log(found->second.ns));
    }
    if (of_all.size() < card.size()) continue;
    for (size_t i = 0; i < card.size(); ++i) times[card[i].id] += of_all[i];
  }
  // A few, one by one: std::stable_sort uses what C++20 removed, which clang refuses.
  for (auto next = card.begin(); next != card.end(); ++next) {
    const auto place = std::upper_bound(
        card.begin(), next, *next, [&](const DeviceInfo& a, const DeviceInfo& b) { return times[a.id] < times[b.id]; });
    std::rotate(place, next, next + 1);
  }
}

// Whether the place is the card that the device is, perhaps through another backend.
bool is_card_of(const Place& place, const DeviceInfo& device) {
  return place.id == device.id || (place.device && show_one_card(place.device->info(), device));
}

}  // namespace

int64_t default_memory_limit() {
  int64_t free = int64_t{sysconf(_SC_AVPHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream facts("/proc/meminfo");
  for (std::string line; std::getline(facts, line);) {
    long long kibibytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kibibytes) == 1) free = int64_t{kibibytes} << 10;
  }
  // A container may have less than the machine.
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) free = std::min(free, std::max<int64_t>(limit - used, 0));
  return std::max<int64_t>(free / 2, int64_t{64} << 20);
}

std::vector<std::vector<DeviceInfo>> cards_of(const DeviceList& list, const Measurements& measured) {
  std::vector<std::vector<DeviceInfo>> cards;
  for (const DeviceInfo& device : list.devices) {
    if (device.is_software) continue;
    const auto found = std::find_if(cards.begin(), cards.end(), [&](const std::vector<DeviceInfo>& card) {
      return !device.same_as.empty() && card.front().id == device.same_as;
    });
    if (found == cards.end()) {
      cards.push_back({device});
    } else {
      found->push_back(device);
    }
  }
  for (std::vector<DeviceInfo>& card : cards) sort_by_speed(card, measured);
  return cards;
}

Result<std::vector<Place>> open_places(const std::vector<std::string>& names) {
  std::vector<Place> places;
  const auto add = [&](const std::string& id) -> Status {
    Place place{.id = id};
    if (id != "cpu") {
      ACUITY_TRY_ASSIGN(place.device, open_device(id));
      place.id = place.device->info().id;
      place.pool = DevicePool::of(place.device);
    }
    const bool again = std::any_of(places.begin(), places.end(), [&](const Place& one) {
      return place.is_cpu() ? one.is_cpu() : is_card_of(one, place.device->info());
    });
    if (!again) places.push_back(std::move(place));
    return {};
  };
  for (const std::string& name : names) {
    if (name != "auto") {
      ACUITY_TRY(add(name));
      continue;
    }
    for (const std::vector<DeviceInfo>& card : cards_of(list_devices(), process_measurements().now())) {
      const bool is_named = std::any_of(card.begin(), card.end(), [&](const DeviceInfo& device) {
        return std::any_of(places.begin(), places.end(), [&](const Place& one) { return is_card_of(one, device); });
      });
      if (is_named) continue;
      // One that does not work is left out: nobody asked for it.
      (void)std::any_of(card.begin(), card.end(), [&](const DeviceInfo& device) { return add(device.id).ok(); });
    }
    ACUITY_TRY(add("cpu"));
  }
  if (places.empty()) return Status(StatusCode::usage, "no device was given; use auto, cpu, or the name of a GPU");
  return places;
}

Result<MemoryPlan> Plans::plan(const MetricSet& metrics, int width, int height, std::optional<Backend> gpu,
                               int strip_rows, int threads) {
  const Key key{metrics.key, width, height, gpu, strip_rows, threads};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  ScorerOptions options{.metrics = metrics.requests,
                        .device = gpu ? backend_name(*gpu) : "cpu",
                        .memory = strip_rows > 0 ? MemoryMode::strip(strip_rows) : MemoryMode::full(),
                        .threads = threads,
                        .want_map = options_.want_map};
  MemoryPlan plan;
  ACUITY_TRY_ASSIGN(plan, plan_memory(options, width, height));
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostPlans) known_.clear();
  known_[key] = plan;
  return plan;
}

Result<int> Plans::smaller_strip(const MetricSet& metrics, int width, int height, std::optional<Backend> gpu, int rows,
                                 int threads, int64_t available) {
  if (!is_automatic()) return 0;
  for (int next = rows > 0 ? rows / 2 : static_cast<int>(std::bit_floor(static_cast<unsigned>(height)));
       next >= kFewestRows; next /= 2) {
    MemoryPlan needs;
    ACUITY_TRY_ASSIGN(needs, plan(metrics, width, height, gpu, next, threads));
    if ((gpu ? needs.pair.device : needs.pair.host) <= available) return next;
  }
  return 0;
}

}  // namespace acuity
