// SPDX-License-Identifier: BSD-2-Clause-Patent
// Writing pictures, as output_file.h writes.
#ifndef ACUITY_MEDIA_WRITE_H
#define ACUITY_MEDIA_WRITE_H

#include <cstdint>
#include <span>
#include <string>

#include "acuity/status.h"

namespace acuity {

/// 8-bit sRGB, three samples a pixel, rows from the top; `description` goes into the file as text.
Status write_png(const std::string& path, int width, int height, std::span<const uint8_t> rgb,
                 const std::string& description);

/// One float a pixel, rows from the top (the format itself stores them from the bottom).
Status write_pfm(const std::string& path, int width, int height, std::span<const float> values);

}  // namespace acuity

#endif
