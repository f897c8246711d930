// SPDX-License-Identifier: BSD-2-Clause-Patent
// How large the picture of a file is and in which format, by its header.
#ifndef ACUITY_MEDIA_PICTURE_SIZE_H
#define ACUITY_MEDIA_PICTURE_SIZE_H

#include <optional>
#include <string>

#include "acuity/picture.h"

namespace acuity {

struct PictureSize {
  int width = 0;
  int height = 0;
  std::string format{};  // "PNG"
};

/// Reads as much of the file as its format needs for that. Damage behind the header goes unnoticed, and a picture that
/// EXIF turns has the size before.
Result<PictureSize> picture_size(const std::string& path, const PictureLimits& limits,
                                 std::optional<int64_t> frame = {});

/// "PNG", "JPEG XL", by the first bytes of the file; empty if it is no picture or cannot be read.
std::string format_of_file(const std::string& path);

}  // namespace acuity

#endif
