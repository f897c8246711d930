// SPDX-License-Identifier: BSD-2-Clause-Patent
// The chunks of a PNG file that libpng is not asked about: those about colour, where its answers are incomplete (it
// does not know cICP, and quietly drops a profile it dislikes), and those about orientation and animation.
#ifndef ACUITY_MEDIA_PNG_CHUNKS_H
#define ACUITY_MEDIA_PNG_CHUNKS_H

#include <optional>

#include "media/decoder.h"

namespace acuity {

/// The content of the first chunk of that type, as far as the file has it whole. The checksums are libpng's business.
std::optional<Bytes> find_png_chunk(Bytes file, std::string_view type);

/// Names the picture's colour: cICP over iCCP over sRGB over gAMA and cHRM, as the PNG specification ranks them.
Status read_png_colour(const EncodedFile& encoded, Picture& picture);

uint32_t big_endian_32(const uint8_t* bytes);

}  // namespace acuity

#endif
