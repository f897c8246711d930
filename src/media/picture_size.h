// SPDX-License-Identifier: BSD-2-Clause-Patent
// How large the picture of a file is, by its header.
#ifndef ACUITY_MEDIA_PICTURE_SIZE_H
#define ACUITY_MEDIA_PICTURE_SIZE_H

#include <optional>
#include <string>

#include "acuity/picture.h"

namespace acuity {

struct PictureSize {
  int width = 0;
  int height = 0;
};

/// Reads as much of the file as its format needs for that. Damage behind the header goes unnoticed, and a picture that
/// EXIF turns has the size before.
Result<PictureSize> picture_size(const std::string& path, const PictureLimits& limits,
                                 std::optional<int64_t> frame = {});

}  // namespace acuity

#endif
