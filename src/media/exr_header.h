// SPDX-License-Identifier: BSD-2-Clause-Patent
// The headers of an OpenEXR file, checked before the library reads them.
#ifndef ACUITY_MEDIA_EXR_HEADER_H
#define ACUITY_MEDIA_EXR_HEADER_H

#include <cstdint>
#include <vector>

#include "media/decoder.h"

namespace acuity {

/// A copy of the file up to the end of its headers, which OpenEXR can read with no more memory than that has bytes.
/// OpenEXR reads every attribute, and some by sizes of their own, whatever size is stated before them: 2 GB for a file
/// of 300 bytes. So attributes that decide how pixels are read must have their type and size, and all others get a type
/// that OpenEXR does not know: it keeps their bytes as they are.
Result<std::vector<uint8_t>> checked_exr_headers(const EncodedFile& encoded);

}  // namespace acuity

#endif
