// SPDX-License-Identifier: BSD-2-Clause-Patent
// A part of a picture or of every frame of a video, because the user asked for it.
#ifndef ACUITY_MEDIA_CROP_H
#define ACUITY_MEDIA_CROP_H

#include <memory>
#include <string_view>

#include "acuity/picture.h"
#include "media/video.h"

namespace acuity {

struct Crop {
  int width = 0;
  int height = 0;
  int x = 0;  ///< of its left column
  int y = 0;  ///< of its top row
};

/// Narrows the view of a picture. What was done is added to what was found. `name` is for messages.
Status crop_picture(Picture& picture, const Crop& crop, std::string_view name);

/// A part of each frame of a stream. Where colour is subsampled, the part must not cut through what a sample stands
/// for.
Result<std::unique_ptr<FrameStream>> with_crop(std::unique_ptr<FrameStream> stream, const Crop& crop,
                                               std::string_view name);

}  // namespace acuity

#endif
