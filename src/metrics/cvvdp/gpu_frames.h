// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames on a GPU, whichever.
#ifndef ACUITY_METRICS_CVVDP_GPU_FRAMES_H
#define ACUITY_METRICS_CVVDP_GPU_FRAMES_H

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/device_feature.h"
#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/scales.h"

namespace acuity::cvvdp {

struct FrameSetup {
  std::array<FrameFormat, 2> formats;  // by Role
  Photometry photometry;
  std::vector<Scale> scales;
  std::array<std::vector<float>, kChannels> filters;  // over time
  bool symmetric = false;                             // before the first frame; otherwise that frame is shown
  std::string resizing;                               // a mode of ResizedAxis, or kNoResizing
  bool clips_first = false;                           // red, green and blue, where frames are resized
  std::array<std::vector<float>, 2> tables;           // by Role: the light of codes, if frames are codes
};

/// From what was found in a frame, or in a video's only frame as a still picture, to the feature's numbers.
using FillNumbers = void (*)(Differences differences, std::span<double> numbers);

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const FrameSetup& setup,
                                                                  FillNumbers fill);

}  // namespace acuity::cvvdp

#endif
