// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/batch_progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/work.h"

namespace acuity::cli {
namespace {

constexpr double kTerminalInterval = 100;  // milliseconds
constexpr double kLineInterval = 10'000;

std::string seconds_of(double milliseconds) { return fmt::format("{:.1f} s", milliseconds / 1000); }

std::string mib_of(int64_t bytes) { return fmt::format("{} MiB", (bytes + (1 << 19)) >> 20); }

std::string rows_of(int64_t count) { return fmt::format("{} row{}", count, count == 1 ? "" : "s"); }

// Minutes and hours are easier to read than thousands of seconds.
std::string left(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

}  // namespace

int64_t BatchCounts::failed() const {
  int64_t sum = 0;
  for (const auto& [kind, rows] : failures) sum += rows;
  return sum;
}

void BatchCounts::note(const TaskResult& result) {
  if (!result.status.ok()) {
    ++failures[kind_of_failure(result)];
    return;
  }
  ++scored;
  for (const Attempt& attempt : result.attempts) {
    const std::string mode = attempt.memory_mode.empty() ? "" : ", " + attempt.memory_mode;
    Left& rows = left[attempt.device + mode];
    if (rows.rows++ == 0) rows.why = attempt.why.message();
  }
}

std::string BatchProgress::told(const BatchCounts& counts) const {
  const int64_t all = counts.kept + counts.done();
  const double rate = static_cast<double>(counts.done()) / std::max(seconds(), 0.001);
  std::string text = total_ ? fmt::format("{} of {} rows", all, *total_) : rows_of(all);
  text += fmt::format(", {:.1f} rows/s", rate);
  if (total_ && counts.done() > 0) text += fmt::format(", {}", left(static_cast<double>(*total_ - all) / rate));
  if (counts.failed() > 0) text += fmt::format(", {} failed", counts.failed());
  return text;
}

void BatchProgress::show(const BatchCounts& counts) {
  const double now = watch_.milliseconds();
  if (now - shown_ms_ < (console_.shows_progress() ? kTerminalInterval : kLineInterval)) return;
  shown_ms_ = now;
  console_.shows_progress() ? console_.progress(told(counts)) : console_.note(told(counts));
}

std::vector<std::string> batch_summary(const BatchCounts& counts, double seconds,
                                       const std::optional<SchedulerStatistics>& statistics) {
  std::vector<std::string> lines;
  std::string first = fmt::format("{} scored", rows_of(counts.scored));
  if (counts.failed() > 0) {
    std::vector<std::string> kinds;
    for (const auto& [kind, rows] : counts.failures) kinds.push_back(fmt::format("{} {}", kind, rows));
    first += fmt::format(", {} failed ({})", counts.failed(), fmt::join(kinds, ", "));
  }
  if (counts.kept > 0) {
    first += fmt::format("; {} {} there before", counts.kept, counts.kept == 1 ? "was" : "were");
    if (counts.kept_failed > 0) first += fmt::format(", {} of them failed", counts.kept_failed);
  }
  if (counts.done() > 0) {
    first += fmt::format("; {:.1f} s, {:.1f} rows/s", seconds,
                         static_cast<double>(counts.done()) / std::max(seconds, 0.001));
  }
  lines.push_back(first);
  if (!statistics || counts.done() == 0) return lines;
  std::string time = fmt::format("time of all threads and GPUs: read {}, decode {}, upload {}, prepare references {}",
                                 seconds_of(statistics->read_ms), seconds_of(statistics->decode_ms),
                                 seconds_of(statistics->upload_ms), seconds_of(statistics->prepare_ms));
  for (const NamedValue& metric : statistics->metrics)
    time += fmt::format(", {} {}", metric.name, seconds_of(metric.value));
  lines.push_back(time + fmt::format(", nothing to do {}; rows waited {}", seconds_of(statistics->idle_ms),
                                     seconds_of(statistics->waiting_ms)));
  const int64_t lookups = statistics->references_found + statistics->references_decoded;
  if (lookups > 0) {
    lines.push_back(
        fmt::format("references: {} of {} rows found theirs decoded ({:.1f} %), {} decoded, {} prepared",
                    statistics->references_found, lookups,
                    100.0 * static_cast<double>(statistics->references_found) / static_cast<double>(lookups),
                    statistics->references_decoded, statistics->references_prepared));
  }
  std::string devices;
  for (const SchedulerStatistics::Device& device : statistics->devices) {
    devices += fmt::format("{}{} {}, busy {}{}", devices.empty() ? "" : ", ", device.device, rows_of(device.tasks),
                           seconds_of(device.busy_ms), device.is_lost ? " (lost)" : "");
  }
  lines.push_back(fmt::format("devices: {}; memory at most {} of {}", devices.empty() ? "none" : devices,
                              mib_of(statistics->peak_host_bytes), mib_of(statistics->memory_limit_bytes)));
  for (const auto& [place, rows] : counts.left) {
    lines.push_back(fmt::format("not on {}: {}, the first because: {}", place, rows_of(rows.rows), rows.why));
  }
  return lines;
}

}  // namespace acuity::cli
