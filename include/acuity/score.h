// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a metric returns: its value, its other outputs, and how they were computed.
#ifndef ACUITY_SCORE_H
#define ACUITY_SCORE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace acuity {

struct NamedValue {
  std::string name;
  double value = 0;
};

/// A setting of a metric.
struct OptionValue {
  std::string name;
  std::string value;
};

/// One value per pixel, row by row. A larger value is a more visible difference.
struct DifferenceMap {
  int width = 0;
  int height = 0;
  std::vector<float> values;
};

/// How a score was computed.
struct Provenance {
  std::string metric_version;               ///< of the metric's definition, e.g. "2.1"
  std::vector<OptionValue> metric_options;  ///< every option of the metric, with the value in force
  std::string library_version;
  std::string device;  ///< e.g. "cpu (AVX2)"
  int threads = 1;
  std::string memory_mode;    ///< "full" or "strip 64"
  int64_t working_bytes = 0;  ///< memory held for scoring, without the pictures and the map
  std::vector<std::string> assumptions;
  std::vector<NamedValue> timing_ms;  ///< e.g. {"metric", 12.5}
  std::vector<std::string>
      warnings{};  ///< what a reader should know, such as that a GPU failed or samples were clipped
};

struct Score {
  std::string metric;  ///< its name
  double value = 0;
  std::vector<NamedValue> outputs;          ///< the metric's other results, in a fixed order
  DifferenceMap map;                        ///< empty unless requested
  std::vector<DifferenceMap> scale_maps{};  ///< each scale's map at its own size, if `map` is made of them
  Provenance provenance;
};

}  // namespace acuity

#endif
