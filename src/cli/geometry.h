// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the options say of sizes: which part of either side is compared, and which side is scaled to the other's size.
#ifndef ACUITY_CLI_GEOMETRY_H
#define ACUITY_CLI_GEOMETRY_H

#include <optional>
#include <vector>

#include "acuity/status.h"
#include "cli/request.h"
#include "media/crop.h"
#include "media/video.h"

namespace acuity::cli {

struct Geometry {
  std::optional<Crop> crop_reference;  // done before scaling
  std::optional<Crop> crop_distorted;
  std::optional<bool> scale_reference;  // which side is brought to the size of the other; none: neither
  Scaler scaler = Scaler::bicubic;
};

const std::vector<Option>& geometry_options();
Result<Geometry> plan_geometry(const Request& request);

/// The two sides of a video, cropped and scaled.
struct StreamPair {
  std::unique_ptr<FrameStream> reference;
  std::unique_ptr<FrameStream> distorted;
};
Result<StreamPair> with_geometry(StreamPair streams, const Geometry& geometry, const std::string& reference_name,
                                 const std::string& distorted_name);

}  // namespace acuity::cli

#endif
