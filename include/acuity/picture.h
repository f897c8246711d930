// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads picture files.
#ifndef ACUITY_PICTURE_H
#define ACUITY_PICTURE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/export.h"
#include "acuity/image.h"
#include "acuity/status.h"

namespace acuity {

/// Limits for a file. A file that declares more is refused before memory is allocated for it.
struct PictureLimits {
  int64_t maximum_side = 65535;               ///< pixels
  int64_t maximum_pixels = int64_t{1} << 28;  ///< width times height
  int64_t maximum_file_bytes = int64_t{1} << 31;
  int64_t maximum_decoded_bytes = int64_t{1} << 32;
};

/// A decoded picture: the samples as the file holds them, and everything known about their colour.
class Picture {
 public:
  ImageView view;                    ///< into this picture's own memory
  std::string format;                ///< "PNG", "JPEG", ...
  std::vector<std::string> found;    ///< what the file states: "8-bit RGB", "ICC profile 'Display P3'", ...
  std::vector<std::string> assumed;  ///< what it does not state and was assumed: "sRGB", ...
  bool says_transfer = true;         ///< false: view.colour holds an assumed transfer function
  bool says_primaries = true;        ///< false: view.colour holds assumed primaries
  std::shared_ptr<std::byte[]> pixels;
};

/// Reads a file, or standard input when path is "-". The format is recognised by content, never by name. Of a file with
/// several pictures (an animation, pages) `frame` chooses one, counted from 0; without it such a file is refused.
ACUITY_API Result<Picture> read_picture(const std::string& path, const PictureLimits& limits = {},
                                        std::optional<int64_t> frame = {});

/// Decodes a file already in memory; `name` is used in messages.
ACUITY_API Result<Picture> decode_picture(std::span<const uint8_t> file, std::string_view name,
                                          const PictureLimits& limits = {}, std::optional<int64_t> frame = {});

}  // namespace acuity

#endif
