// SPDX-License-Identifier: BSD-2-Clause-Patent
// The header of YUV4MPEG2, the form in which programs hand each other uncompressed video.
#ifndef ACUITY_MEDIA_Y4M_H
#define ACUITY_MEDIA_Y4M_H

#include <string_view>

#include "media/video.h"

namespace acuity {

inline constexpr std::string_view kY4mMagic = "YUV4MPEG2";

/// What a header line says (without its line feed). What it leaves open stays empty in `said`.
Status read_y4m_header(std::string_view line, std::string_view name, VideoFormat& format, SampleFacts& said);

}  // namespace acuity

#endif
