// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the options of libvmaf's command mean.
#ifndef ACUITY_CLI_VMAF_PLAN_H
#define ACUITY_CLI_VMAF_PLAN_H

#include <optional>
#include <string>
#include <vector>

#include "acuity/frame_scorer.h"
#include "cli/request.h"
#include "media/video.h"

namespace acuity::cli {

enum class VmafFormat { xml, json, csv, sub };

struct VmafModel {
  std::string name = "vmaf";  // of the output
  std::string source{};       // a name or a file, as given
  FrameMetricRequest request{};
};

struct VmafFeature {
  FrameMetricRequest request{};
  bool debug = false;  // with what libvmaf shows only then
};

struct VmafPlan {
  std::string reference, distorted;
  VideoOptions stream;
  std::string output;  // empty: none
  VmafFormat format = VmafFormat::xml;
  std::optional<int> significant_digits;  // of numbers; none: as libvmaf prints them
  std::vector<VmafModel> models;
  std::vector<VmafFeature> features;  // those of the models first
  std::string device = "cpu";         // "gpu": the first there is
  int frames_in_flight = 0;           // 0: as many as keep it busy
  int threads = 1;
  int subsample = 1;
  int frames = 0;  // at most; 0: all
  int skip_reference = 0;
  int skip_distorted = 0;
  bool predict = true;
  bool quiet = false;
  bool common_depth = false;  // brings both to the greater depth
  std::vector<std::string> notes;
};

const std::vector<Option>& vmaf_options();
Result<VmafPlan> plan_vmaf(const Request& request);

}  // namespace acuity::cli

#endif
