// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/chooser.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/first_guesses.h"
#include "engine/plan.h"
#include "lang/targets.h"

namespace acuity {
namespace {

double pixels_of(const RowsToPlace& rows) { return static_cast<double>(rows.width) * rows.height; }

// A time, and whether it was measured.
struct Expected {
  double ns = 0;
  bool measured = true;
};

// What all metrics together take for a row on a device. What was not measured in this mode is derived from the mode
// nearest to it, and guessed if there is none.
class Expectations {
 public:
  Expectations(const RowsToPlace& rows, const DeviceState& device, const Measurements& measured)
      : rows_(rows), device_(device), measured_(measured) {}

  Expected row(RowMode mode) const {
    Expected sum;
    for (const CostedMetric& metric : rows_.metrics) {
      const Expected one = of_metric(metric, mode);
      sum.ns += one.ns;
      sum.measured = sum.measured && one.measured;
    }
    if (device_.is_cpu) sum.ns /= std::max(device_.threads, 1);
    return sum;
  }

  Expected cold_ms() const {
    if (device_.is_cpu || device_.is_open) return {};
    const MeasuredDevice* known = measured_.device(device_.key);
    return known != nullptr && known->cold_ms > 0 ? Expected{known->cold_ms, true} : Expected{guesses::kColdMs, false};
  }

 private:
  std::optional<double> find(const CostedMetric& metric, RowMode mode) const {
    for (const bool many : {mode.many, !mode.many}) {
      mode.many = many;
      if (auto found = measured_.row_ns(device_.key, metric.name, mode, pixels_of(rows_))) return found;
    }
    return std::nullopt;
  }

  Expected of_metric(const CostedMetric& metric, RowMode mode) const {
    if (const auto found = find(metric, mode)) return {*found, true};
    if (mode.strip) {
      mode.strip = false;
      return {guesses::kStripFactor * of_metric(metric, mode).ns, false};
    }
    if (mode.kind != RowMode::Kind::pair) {
      const bool prepares = mode.kind == RowMode::Kind::prepare;
      mode.kind = RowMode::Kind::pair;
      return {(prepares ? guesses::kPrepareFactor : 1) * of_metric(metric, mode).ns, false};
    }
    const double pixels = pixels_of(rows_);
    if (device_.is_cpu) return {metric.guess_ns * pixels, false};
    const double own = guesses::kGpuRowNs / static_cast<double>(std::max<size_t>(rows_.metrics.size(), 1));
    return {own + guesses::kGpuPixelNs * pixels, false};
  }

  const RowsToPlace& rows_;
  const DeviceState& device_;
  const Measurements& measured_;
};

std::string mebibytes(int64_t bytes) {
  return fmt::format("{:.0f} MiB", std::ceil(static_cast<double>(bytes) / (1 << 20)));
}

int64_t bytes_on(const DeviceState& device, const MemoryBytes& memory) {
  return device.is_cpu ? memory.host : memory.device;
}

MemoryBytes sum(const MemoryBytes& a, const MemoryBytes& b) { return {a.host + b.host, a.device + b.device}; }

// Why a device cannot do these rows at all; empty if it can.
std::string obstacle(const RowsToPlace& rows, const DeviceState& device) {
  if (!device.unusable.empty()) return device.unusable;
  if (device.is_cpu) return "";
  if (device.is_software && !device.is_named) return "it is software, not a GPU; it is used only if it is named";
  for (const CostedMetric& metric : rows.metrics) {
    if (!metric.on_gpu) return fmt::format("{} has no GPU version", metric.name);
    if (rows.want_map && !metric.map_on_gpu)
      return fmt::format("{} makes difference maps on the CPU only", metric.name);
  }
  return "";
}

// Memory plans are the same for all GPUs of a backend and for all options: each is made once.
class Plans {
 public:
  explicit Plans(const RowsToPlace& rows) : rows_(rows) {}

  const Result<MemoryPlan>& of(const DeviceState& device, int strip_rows) {
    std::optional<Backend> gpu;
    if (!device.is_cpu) gpu = backend_of(device.id).value_or(Backend::cuda);
    const auto [found, is_new] = plans_.try_emplace({gpu, strip_rows}, MemoryPlan{});
    if (is_new && rows_.plan) found->second = rows_.plan(gpu, strip_rows);
    return found->second;
  }

 private:
  const RowsToPlace& rows_;
  std::map<std::pair<std::optional<Backend>, int>, Result<MemoryPlan>> plans_;
};

class Options {
 public:
  Options(const RowsToPlace& rows, const Measurements& measured) : rows_(rows), measured_(measured), plans_(rows) {}

  // All that a device offers.
  std::vector<PlaceOption> of(const DeviceState& device) {
    std::vector<PlaceOption> options;
    const std::string why = obstacle(rows_, device);
    for (const bool prepared : {false, true}) {
      if (prepared && rows_.rows_per_reference <= 1) break;
      PlaceOption option{.device = device.id, .prepared = prepared, .strip_rows = rows_.strip_rows};
      option.left_because = why;
      if (!why.empty()) {
        options.push_back(std::move(option));
        break;
      }
      add(device, option, options);
    }
    return options;
  }

 private:
  // With the given strip, and narrower ones until it fits.
  void add(const DeviceState& device, const PlaceOption& begin, std::vector<PlaceOption>& options) {
    for (int strip_rows = begin.strip_rows;;) {
      PlaceOption option = begin;
      option.strip_rows = strip_rows;
      set_memory(device, option);
      set_times(device, option);
      options.push_back(option);
      const bool is_short_of_memory = option.left_because.starts_with(kNeeds);
      if (!is_short_of_memory || !rows_.strips_allowed) return;
      strip_rows = narrower_strip(strip_rows, rows_.height);
      if (strip_rows < kFewestStripRows) return;
    }
  }

  void set_memory(const DeviceState& device, PlaceOption& option) {
    if (!rows_.plan) return;
    const Result<MemoryPlan>& plan = plans_.of(device, option.strip_rows);
    if (!plan.ok()) {
      option.left_because = plan.status().message();
      option.rows_that_fit = 0;
      return;
    }
    option.memory = option.prepared ? sum(plan->reference, plan->against_reference) : plan->pair;
    option.further_row = option.prepared ? plan->against_reference : plan->further_pair;
    if (device.free_bytes < 0) return;
    const int64_t needed = bytes_on(device, option.memory);
    const int64_t further = std::max<int64_t>(bytes_on(device, option.further_row), 1);
    if (needed > device.free_bytes) {
      option.left_because = fmt::format("{} {} of memory, but {} are free", kNeeds, mebibytes(needed),
                                        mebibytes(std::max<int64_t>(device.free_bytes, 0)));
      option.rows_that_fit = 0;
    } else {
      option.rows_that_fit = 1 + (device.free_bytes - needed) / further;
    }
  }

  void set_times(const DeviceState& device, PlaceOption& option) const {
    const Expectations expected(rows_, device, measured_);
    const RowMode::Kind kind = option.prepared ? RowMode::Kind::prepared : RowMode::Kind::pair;
    const bool strip = option.strip_rows > 0;
    const Expected alone = expected.row({kind, strip, false}), busy = expected.row({kind, strip, true});
    const Expected cold = expected.cold_ms();
    option.measured = alone.measured && busy.measured && cold.measured;
    option.cold_ms = cold.ns;
    option.row_ms = alone.ns / 1e6;
    option.busy_row_ms = busy.ns / 1e6;
    if (option.prepared) {
      const Expected prepare = expected.row({RowMode::Kind::prepare, strip, false});
      option.measured = option.measured && prepare.measured;
      option.prepare_ms = prepare.ns / 1e6;
    }
    const double row = per_row_ms(option, rows_);
    option.total_ms = option.cold_ms + static_cast<double>(std::max<int64_t>(rows_.rows, 1)) * row;
  }

 public:
  static double per_row_ms(const PlaceOption& option, const RowsToPlace& rows) {
    return (rows.rows > 1 && rows.rows_at_once ? option.busy_row_ms : option.row_ms) +
           option.prepare_ms / std::max(rows.rows_per_reference, 1.0);
  }

 private:
  static constexpr std::string_view kNeeds = "needs";
  const RowsToPlace& rows_;
  const Measurements& measured_;
  Plans plans_;
};

// The fastest that is possible; the others are left for it.
std::optional<size_t> fastest(std::vector<PlaceOption>& options) {
  std::optional<size_t> best;
  for (size_t i = 0; i < options.size(); ++i) {
    if (!options[i].left_because.empty()) continue;
    if (!best || options[i].total_ms < options[*best].total_ms) best = i;
  }
  for (size_t i = 0; best && i < options.size(); ++i) {
    if (i == *best || !options[i].left_because.empty()) continue;
    options[i].left_because = fmt::format("slower on this device: {} instead of {}", time_text(options[i].total_ms),
                                          time_text(options[*best].total_ms));
  }
  return best;
}

// One option for each device that could take part, by its place in Placement::options.
struct Candidate {
  const DeviceState* device;
  size_t option;
};

bool same_card(const DeviceState& a, const DeviceState& b) {
  if (a.is_cpu || b.is_cpu) return false;
  return a.same_card_as == b.id || b.same_card_as == a.id ||
         (!a.same_card_as.empty() && a.same_card_as == b.same_card_as);
}

// The candidates are in the order of how soon they would be done alone.
void drop_same_cards(std::vector<Candidate>& candidates, std::vector<PlaceOption>& options) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t j = i + 1; j < candidates.size();) {
      if (!same_card(*candidates[i].device, *candidates[j].device)) {
        ++j;
        continue;
      }
      PlaceOption& slower = options[candidates[j].option];
      slower.left_because = fmt::format(
          "the same card as {}, which is expected to be as fast or faster: {} instead of {}", candidates[i].device->id,
          time_text(options[candidates[i].option].total_ms), time_text(slower.total_ms));
      candidates.erase(candidates.begin() + static_cast<ptrdiff_t>(j));
    }
  }
}

// When all rows are done if each gets as many as let them finish together. Who is not ready by then gets none.
double finish_ms(std::vector<PlaceShare> shares, double rows) {
  std::sort(shares.begin(), shares.end(),
            [](const PlaceShare& a, const PlaceShare& b) { return a.ready_ms < b.ready_ms; });
  double speed = 0, head_start = 0;
  for (const PlaceShare& share : shares) {
    if (speed > 0 && share.ready_ms >= (rows + head_start) / speed) break;
    speed += 1 / share.row_ms;
    head_start += share.ready_ms / share.row_ms;
  }
  return (rows + head_start) / speed;
}

void keep_first(std::vector<PlaceShare>& shares, std::vector<PlaceOption>& options) {
  for (size_t i = 1; i < shares.size(); ++i) {
    PlaceOption& option = options[shares[i].option];
    option.left_because = fmt::format("slower: {} instead of {}", time_text(option.total_ms),
                                      time_text(options[shares.front().option].total_ms));
  }
  if (shares.size() > 1) shares.resize(1);
}

// Those that would have done no row before the others have done all.
void drop_late(std::vector<PlaceShare>& shares, std::vector<PlaceOption>& options, double rows) {
  const auto first_row_ms = [](const PlaceShare& share) { return share.ready_ms + share.row_ms; };
  while (shares.size() > 1) {
    const auto last = std::max_element(shares.begin(), shares.end(), [&](const PlaceShare& a, const PlaceShare& b) {
      return first_row_ms(a) < first_row_ms(b);
    });
    const PlaceShare late = *last;
    std::vector<PlaceShare> others = shares;
    others.erase(others.begin() + (last - shares.begin()));
    const double without_ms = finish_ms(others, rows);
    if (first_row_ms(late) < without_ms) return;
    const bool decodes = options[late.option].cold_ms < late.ready_ms;
    options[late.option].left_because =
        fmt::format("its first row would be done after {}{}, and without it all rows are done after {}",
                    time_text(first_row_ms(late)), decodes ? ", when all are decoded" : "", time_text(without_ms));
    shares = std::move(others);
  }
}

}  // namespace

CostedMetric costed(const MetricEntry& metric) {
  return {metric.info.name, metric.cpu_ns, metric.on_gpu, metric.map_on_gpu};
}

std::vector<CostedMetric> costed(std::span<const RequestedMetric> metrics) {
  std::vector<CostedMetric> list;
  for (const RequestedMetric& metric : metrics) {
    list.push_back(costed(*metric.entry));
  }
  return list;
}

std::string measured_key(const DeviceInfo& device) {
  const std::string card = !device.uuid.empty() ? device.uuid : device.id + " " + device.name;
  return fmt::format("{} {} {}", backend_name(device.backend), card, device.driver);
}

std::string measured_cpu_key() { return fmt::format("cpu {}", cpu_target()); }

DeviceState state_of(const DeviceInfo& device) {
  return {.id = device.id,
          .key = measured_key(device),
          .name = device.name,
          .is_software = device.is_software,
          .free_bytes = device.memory_bytes,
          .same_card_as = device.same_as};
}

DeviceState state_of_cpu(int threads) {
  return {.id = "cpu", .key = measured_cpu_key(), .name = cpu_target(), .is_cpu = true, .threads = threads};
}

const PlaceOption* Placement::option_of(const std::string& device) const {
  const auto found = std::find_if(shares.begin(), shares.end(),
                                  [&](const PlaceShare& share) { return options[share.option].device == device; });
  return found == shares.end() ? nullptr : &options[found->option];
}

Placement place_rows(const RowsToPlace& rows, std::span<const DeviceState> devices, const Measurements& measured) {
  Placement placement;
  std::vector<PlaceOption>& all = placement.options;
  std::vector<Candidate> candidates;
  Options options(rows, measured);
  for (const DeviceState& device : devices) {
    std::vector<PlaceOption> its = options.of(device);
    if (const std::optional<size_t> best = fastest(its)) candidates.push_back({&device, all.size() + *best});
    all.insert(all.end(), its.begin(), its.end());
  }
  // Of those that are equal, the first of the list.
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    return std::pair(all[a.option].total_ms, a.option) < std::pair(all[b.option].total_ms, b.option);
  });
  drop_same_cards(candidates, all);

  const auto count = static_cast<double>(std::max<int64_t>(rows.rows, 1));
  placement.decode_ms = count * rows.decode_ns / 1e6 / std::max(rows.decode_threads, 1);
  std::vector<PlaceShare>& shares = placement.shares;
  for (const Candidate& candidate : candidates) {
    const PlaceOption& option = all[candidate.option];
    // Decoding keeps the threads of the CPU from scoring. A GPU need not wait for it if there are other rows.
    double ready_ms = option.cold_ms;
    if (candidate.device->is_cpu) ready_ms += placement.decode_ms;
    if (rows.rows <= 1) ready_ms = std::max(ready_ms, placement.decode_ms);
    // A row takes some time whatever was measured.
    shares.push_back({candidate.option, ready_ms, std::max(Options::per_row_ms(option, rows), 1e-6), 0});
  }
  if (rows.one_device || rows.rows <= 1) {
    keep_first(shares, all);
  } else {
    drop_late(shares, all, count);
  }
  if (shares.empty()) return placement;
  const double finished_ms = finish_ms(shares, count);
  for (PlaceShare& share : shares) {
    share.share = std::min((finished_ms - share.ready_ms) / share.row_ms / count, 1.0);
  }
  placement.total_ms = std::max(finished_ms, placement.decode_ms);
  return placement;
}

std::string time_text(const PlaceOption& option) {
  return fmt::format("{} ({})", time_text(option.total_ms), option.measured ? "measured" : "guessed");
}

std::string time_text(double milliseconds) {
  const double seconds = milliseconds / 1000;
  if (milliseconds < 1) return fmt::format("{:.2f} ms", milliseconds);
  if (milliseconds < 10) return fmt::format("{:.1f} ms", milliseconds);
  if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace acuity
