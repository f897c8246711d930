// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measures metrics on a device, and decoding, for the capability file, with drawn pictures and short runs.
#ifndef ACUITY_CLI_CALIBRATE_H
#define ACUITY_CLI_CALIBRATE_H

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "acuity/scorer.h"
#include "base/stopwatch.h"
#include "engine/chooser.h"

namespace acuity::cli {

struct Calibration {
  std::vector<DeviceState> devices;  // whose id and key count
  std::vector<const MetricInfo*> metrics;
  bool decoding = false;   // of picture files, by one thread of the CPU
  double limit_ms = 50e3;  // what is not begun by then is left out
  std::function<void(const std::string&)> progress;
  std::function<bool()> stop;  // an interrupt
};

struct CalibrationResult {
  int measured = 0;                   // metrics on a device at a size, formats at a size
  int left_out = 0;                   // for want of time
  std::vector<std::string> failures;  // one sentence each
};

/// Sizes that matter most come first. The figures are in process_measurements() afterwards.
CalibrationResult calibrate(const Calibration& calibration);

}  // namespace acuity::cli

#endif
