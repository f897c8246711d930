// SPDX-License-Identifier: BSD-2-Clause-Patent
// Results in the forms libvmaf's command writes, byte for byte but for the version and the frame rate.
#ifndef ACUITY_CLI_VMAF_OUTPUT_H
#define ACUITY_CLI_VMAF_OUTPUT_H

#include <string>
#include <vector>

#include "acuity/frame_scorer.h"
#include "cli/vmaf_plan.h"

namespace acuity::cli {

struct VmafResults {
  int width = 0;
  int height = 0;
  double frames_per_second = 0;
  int subsample = 1;                 // frame i of a column has the number i * subsample
  std::vector<FrameOutput> columns;  // each has a value for every frame
  std::vector<NamedValue> aggregates;
  std::string incomplete;  // why frames are missing at the end; empty: all are there
  std::vector<std::string> warnings;
};

std::string vmaf_version();
std::string format_vmaf(const VmafResults& results, VmafFormat format, std::optional<int> significant_digits);

}  // namespace acuity::cli

#endif
