// SPDX-License-Identifier: BSD-2-Clause-Patent
// Writing pictures, as output_file.h writes.
#ifndef ACUITY_MEDIA_WRITE_H
#define ACUITY_MEDIA_WRITE_H

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "acuity/status.h"

namespace acuity {

/// A picture of at most 256 sRGB colours: for each pixel, rows from the top, its place in the palette. `description`
/// goes into the file as text.
Status write_png(const std::string& path, int width, int height, std::span<const uint8_t> pixels,
                 std::span<const std::array<uint8_t, 3>> palette, const std::string& description);

/// A picture of any sRGB colours, one for each pixel.
Status write_png(const std::string& path, int width, int height, std::span<const std::array<uint8_t, 3>> pixels,
                 const std::string& description);

/// One float a pixel, rows from the top (the format itself stores them from the bottom).
Status write_pfm(const std::string& path, int width, int height, std::span<const float> values);

}  // namespace acuity

#endif
