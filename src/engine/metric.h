// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric must offer to be scored with. src/metrics/mse is the example to copy.
#ifndef ACUITY_ENGINE_METRIC_H
#define ACUITY_ENGINE_METRIC_H

#include <memory>
#include <string>
#include <vector>

#include "acuity/image.h"
#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "base/threads.h"
#include "device/device.h"
#include "engine/options.h"

namespace acuity {

/// What one run of a metric found; the engine adds the provenance.
struct Measurement {
  double value = 0;
  std::vector<NamedValue> outputs;
  DifferenceMap map;                        // empty unless asked for
  std::vector<DifferenceMap> scale_maps{};  // likewise
  std::vector<std::string> assumptions;
};

/// A metric at work on pictures of one size. The engine has checked every view before it arrives here: the size is the
/// metric's, planes are there, depths make sense, floats are finite.
class Metric {
 public:
  struct Setup {
    int width = 0;
    int height = 0;
    bool want_map = false;
    OptionValues options{};            // of the metric's own table
    int strip_rows = 0;                // 0: the metric decides
    const Threads* threads = nullptr;  // outlives the metric
    Device* device = nullptr;          // null: the CPU; outlives the metric
  };

  virtual ~Metric() = default;
  /// Bytes held for scoring, the pictures themselves not counted.
  virtual size_t working_bytes() const = 0;
  virtual Status set_reference(const ImageView& reference) = 0;
  virtual Result<Measurement> score(const ImageView& distorted) = 0;  // after set_reference
  virtual Result<Measurement> score(const ImageView& reference, const ImageView& distorted) = 0;
};

/// A row of the registry.
struct MetricEntry {
  MetricInfo info;
  Result<std::unique_ptr<Metric>> (*create)(const Metric::Setup& setup);
  std::string (*meaning)(double value);
  bool on_gpu = false;      // create() takes a device too
  double cpu_ns = 20;       // what a pixel of a pair takes one thread, roughly; --device auto weighs it
  bool map_on_gpu = false;  // a device makes the map too
};

/// Every metric, in the order lists show them; engine/registry.cc names them.
const std::vector<MetricEntry>& registry();

}  // namespace acuity

#endif
