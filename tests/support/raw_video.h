// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_TESTS_SUPPORT_RAW_VIDEO_H
#define ACUITY_TESTS_SUPPORT_RAW_VIDEO_H

#include <string>
#include <vector>

#include "support/synthetic_video.h"

namespace acuity::tests {

/// Frames as a file of raw YUV holds them.
inline std::string raw_video(const std::vector<OwnedFrame>& frames) {
  std::string bytes;
  for (const OwnedFrame& frame : frames) {
    for (const std::vector<uint8_t>& plane : frame.planes) bytes.append(plane.begin(), plane.end());
  }
  return bytes;
}

}  // namespace acuity::tests

#endif
