// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric must offer to be scored with. src/metrics/mse is the example to copy.
#ifndef ACUITY_ENGINE_METRIC_H
#define ACUITY_ENGINE_METRIC_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/image.h"
#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "base/task_threads.h"
#include "base/threads.h"
#include "engine/input.h"
#include "engine/options.h"

namespace acuity {

/// What one run of a metric found; the engine adds the provenance.
struct Measurement {
  double value = 0;
  std::vector<NamedValue> outputs;
  DifferenceMap map;                        // empty unless asked for
  std::vector<DifferenceMap> scale_maps{};  // likewise
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings{};
};

/// What a metric prepared of a reference. It never changes; metrics of the same entry, options, size and device share
/// it, on several threads at once.
class PreparedReference {
 public:
  virtual ~PreparedReference() = default;
  /// Memory held, here and on the device.
  virtual size_t bytes() const = 0;
};

/// A metric for pictures of one size, one pair at a time. The engine has checked every picture before it arrives
/// here: the size is the metric's, planes are there, depths make sense, floats are finite. After a failure that is not
/// the input's the engine makes a new one.
class Metric {
 public:
  struct Setup {
    int width = 0;
    int height = 0;
    bool want_map = false;
    OptionValues options{};            // of the metric's own table
    int strip_rows = 0;                // 0: the metric decides
    const Threads* threads = nullptr;  // outlives the metric
    TaskThreads* tasks = nullptr;      // likewise
    std::shared_ptr<DevicePool> pool;  // of the device; null: the CPU

    Senders senders() const { return {threads, tasks}; }
  };

  virtual ~Metric() = default;
  /// Bytes held for scoring; the pictures themselves and what was prepared of a reference are not counted.
  virtual size_t working_bytes() const = 0;
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const Input& reference) = 0;
  /// Against what another metric, or this one, prepared.
  virtual Result<Measurement> score(const PreparedReference& reference, const Input& distorted) = 0;
  virtual Result<Measurement> score(const Input& reference, const Input& distorted) = 0;
};

/// For metrics that have nothing to prepare: the reference itself.
class PreparedInput final : public PreparedReference {
 public:
  explicit PreparedInput(Input input) : input_(std::move(input)) {}
  const Input& input() const { return input_; }
  size_t bytes() const override { return bytes_of(input_); }

 private:
  Input input_;
};

/// A row of the registry.
struct MetricEntry {
  MetricInfo info;
  Result<std::unique_ptr<Metric>> (*create)(const Metric::Setup& setup);
  std::string (*meaning)(double value);
  bool on_gpu = false;      // create() takes a device too
  double cpu_ns = 20;       // what a pixel of a pair takes one thread, roughly; --device auto weighs it
  bool map_on_gpu = false;  // a device makes the map too
  /// Whether what options name can be used, such as files, before a picture is read; null: they name nothing.
  Status (*check_options)(const OptionValues& options) = nullptr;
};

/// Every metric, in the order lists show them; engine/registry.cc names them.
const std::vector<MetricEntry>& registry();

/// The check_options of a metric of pictures or frames, after the check of its table.
Status check_options_of(std::string_view metric, const std::vector<OptionValue>& options);

}  // namespace acuity

#endif
