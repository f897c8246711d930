// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether a device computes what IEEE 754 says: the kernel of probe_kernels.h runs on inputs whose last bit tells.
#ifndef ACUITY_DEVICE_PROBE_H
#define ACUITY_DEVICE_PROBE_H

#include <string>
#include <vector>

#include "device/device.h"

namespace acuity {

enum class ProbeOperation { multiply_add, fma, divide, square_root, barrier, shuffle, fma_of_quotient };

/// One wrong answer.
struct ProbeMistake {
  ProbeOperation operation = ProbeOperation::fma;
  bool subnormal = false;  // an input or the expected answer is: the device may only be flushing them to zero
  float a = 0.0f;
  float b = 0.0f;
  float c = 0.0f;
  float answer = 0.0f;
  float expected = 0.0f;
};

struct ProbeReport {
  std::vector<ProbeMistake> mistakes;

  bool wrong(ProbeOperation operation) const;
  /// Without mistakes, or with such alone as come from taking the smallest numbers for zero, which Vulkan cannot
  /// forbid.
  bool acceptable() const;
  /// The first mistake, if possible one that is not acceptable, in words, e.g. "fma(0x1p+0, 0x1p+0, 0x1p+0) gave 0x0p+0
  /// where 0x1p+1 is right"; empty without one.
  std::string first_mistake() const;
};

/// Runs the known-answer kernel. The Status tells that it could not be run; wrong answers are in the report.
Result<ProbeReport> probe_device(Device& device);

/// Which of 64-bit integers and double precision a device has and gets wrong.
struct NeedsReport {
  uint32_t wrong = 0;  // bits of Need
  std::string note;    // the first mistake in each, in words; empty without one
};
NeedsReport probe_needs_of(Device& device);

}  // namespace acuity

#endif
