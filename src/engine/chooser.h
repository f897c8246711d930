// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where and how rows are best scored: a function of the work, the devices and what was measured, without side effects.
// It can cost time, never change a score. "auto", the scheduler and `acuity plan` use it.
#ifndef ACUITY_ENGINE_CHOOSER_H
#define ACUITY_ENGINE_CHOOSER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acuity/plan.h"
#include "acuity/status.h"
#include "device/device.h"
#include "engine/measurements.h"
#include "engine/requests.h"

namespace acuity {

/// A metric or a feature, as far as its costs matter.
struct CostedMetric {
  std::string name{};       // as measured
  double guess_ns = 20;     // per pixel of a pair on one thread of the CPU, while nothing was measured
  bool on_gpu = false;      // a GPU computes it
  bool map_on_gpu = false;  // and its difference map
};
CostedMetric costed(const MetricEntry& metric);
std::vector<CostedMetric> costed(std::span<const RequestedMetric> metrics);

/// Rows of one size and kind.
struct RowsToPlace {
  std::vector<CostedMetric> metrics{};
  int width = 0;
  int height = 0;
  int64_t rows = 1;               // how many are expected in all
  double rows_per_reference = 1;  // more than 1: preparing references is considered
  bool rows_at_once = false;  // several in flight: a device is worth what it does in a while, not how soon one is done
  bool one_device = false;    // only the best takes part
  bool want_map = false;
  int strip_rows = 0;          // the caller's, which no option exceeds; 0: as the memory of the device asks for
  bool strips_allowed = true;  // if full does not fit
  /// Memory that all metrics together need in strips of so many rows; 0: full. No backend: on the CPU. Not set: memory
  /// is not considered.
  std::function<Result<MemoryPlan>(std::optional<Backend> gpu, int strip_rows)> plan{};
  /// What decoding takes for a row, of one thread: its picture, and its share of the reference. So many threads do it,
  /// whichever device scores; on the CPU they are those that score.
  double decode_ns = 0;
  int decode_threads = 1;
};

/// A device at this moment.
struct DeviceState {
  std::string id{};    // "cpu", "cuda:0"
  std::string key{};   // in Measurements
  std::string name{};  // "NVIDIA H200"
  bool is_cpu = false;
  bool is_software = false;    // used only if it is named
  bool is_named = false;       // the user asked for it
  bool is_open = false;        // no cold start any more
  int threads = 1;             // of the CPU: those that score
  int64_t free_bytes = -1;     // device memory; of the CPU: of the host, for scoring. -1: unknown, not considered
  std::string same_card_as{};  // the id of another one in the list
  std::string unusable{};      // why it cannot be used now, such as "it was lost"; usually empty
};

/// The key and the state of a GPU that was found, and of the CPU with so many threads. All memory of the GPU counts as
/// free, which is an upper bound; most_available_bytes() knows better.
std::string measured_key(const DeviceInfo& device);
std::string measured_cpu_key();
DeviceState state_of(const DeviceInfo& device);
DeviceState state_of_cpu(int threads);

/// A way to do the rows.
struct PlaceOption {
  std::string device{};        // its id
  bool prepared = false;       // against a prepared reference
  int strip_rows = 0;          // 0: full
  bool measured = false;       // all times are; otherwise some are guessed
  double cold_ms = 0;          // before the first row; 0 if the device is open
  double row_ms = 0;           // one row alone
  double busy_row_ms = 0;      // a row while several are in flight: what a further row costs
  double prepare_ms = 0;       // a reference, if prepared
  double total_ms = 0;         // all rows on this device only, with cold start and preparing, without decoding
  MemoryBytes memory{};        // for one row, with its reference
  MemoryBytes further_row{};   // for each further one at the same time
  int64_t rows_that_fit = 1;   // at the same time in the free memory; 0: not even one, or none can be planned
  std::string left_because{};  // why it was not taken; empty if it was
};

/// What a device that takes part does.
struct PlaceShare {
  size_t option = 0;    // in Placement::options
  double ready_ms = 0;  // when its first row begins: of a GPU after its cold start, of the CPU when all is decoded
  double row_ms = 0;    // a row each: give the next to whoever is done soonest
  double share = 0;     // of all rows, from 0 to 1
};

struct Placement {
  /// Every option of every device, in the order of the devices.
  std::vector<PlaceOption> options;
  /// Devices that work at once and finish together; the first is the one to use if only one is. Empty: none can do it,
  /// and the options tell why.
  std::vector<PlaceShare> shares;
  double decode_ms = 0;  // all rows, beside what GPUs do and before what the CPU does
  double total_ms = 0;   // with all of `shares`, and decoding

  const PlaceOption* best() const { return shares.empty() ? nullptr : &options[shares.front().option]; }
  const PlaceOption* option_of(const std::string& device) const;
};

/// A device that cannot do the rows, and one that would not finish a row before the others have finished all, is left
/// out; of a card that two backends list, the slower one is.
Placement place_rows(const RowsToPlace& rows, std::span<const DeviceState> devices, const Measurements& measured);

/// "12 ms (measured)": all rows on this device only.
std::string time_text(const PlaceOption& option);
/// "12 ms", "3.5 s"
std::string time_text(double milliseconds);

}  // namespace acuity

#endif
