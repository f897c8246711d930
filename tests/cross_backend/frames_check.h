// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_TESTS_CROSS_BACKEND_FRAMES_CHECK_H
#define ACUITY_TESTS_CROSS_BACKEND_FRAMES_CHECK_H

#include <memory>
#include <string>

#include "cross_backend/kernels_check.h"

namespace acuity::tests {

/// Every feature of video frames that runs on a device: options x depth x subsampling x size, from ordinary and from
/// page-locked memory, == the CPU. `only`: one of them alone.
Tally check_frames(const std::shared_ptr<Device>& device, Amount amount, const std::string& only = "");

/// Every metric of pictures on Y'CbCr frames, on the CPU and on the device, == that of the frames as RGB on the CPU.
Tally check_frame_pictures(const std::shared_ptr<Device>& device, Amount amount);

/// Frames that are on the device already, in the layouts of decoders, for metrics of frames and of pictures: == the
/// same frames in the host's memory on the CPU.
Tally check_surfaces(const std::shared_ptr<Device>& device, Amount amount);

}  // namespace acuity::tests

#endif
