// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/cmyk.h"

#include <memory>

#include <fmt/format.h>
#include <lcms2.h>

namespace acuity {
namespace {

CmykConversion plain_formula(bool inverted) {
  return [inverted](const uint8_t* cmyk, uint16_t* rgb, size_t count) {
    const uint32_t flip = inverted ? 0 : 255;
    for (size_t i = 0; i < count; ++i, cmyk += 4, rgb += 3) {
      const uint32_t paper = cmyk[3] ^ flip;
      for (size_t c = 0; c < 3; ++c) {
        // (1 - ink) (1 - black), from units of 1 / 255^2 to units of 1 / 65535
        rgb[c] = static_cast<uint16_t>(((cmyk[c] ^ flip) * paper * 257 + 127) / 255);
      }
    }
  };
}

// Everything made in a context must go before the context does.
struct Transform {
  cmsContext context = cmsCreateContext(nullptr, nullptr);
  cmsHPROFILE from = nullptr, to = nullptr;
  cmsHTRANSFORM transform = nullptr;

  Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  ~Transform() {
    if (transform != nullptr) cmsDeleteTransform(transform);
    if (to != nullptr) cmsCloseProfile(to);
    if (from != nullptr) cmsCloseProfile(from);
    if (context != nullptr) cmsDeleteContext(context);
  }
};

}  // namespace

Result<CmykConversion> cmyk_to_srgb(const EncodedFile& encoded, Picture& picture, Bytes profile, bool inverted) {
  if (profile.empty()) {
    picture.assumed.push_back("CMYK to sRGB by (1 - ink)(1 - black), as the file has no profile");
    return plain_formula(inverted);
  }
  const auto made = std::make_shared<Transform>();
  if (made->context == nullptr) return Status(StatusCode::out_of_memory, "out of memory while reading an ICC profile");
  cmsSetLogErrorHandlerTHR(made->context, [](cmsContext, cmsUInt32Number, const char*) {});
  made->from = cmsOpenProfileFromMemTHR(made->context, profile.data(), static_cast<cmsUInt32Number>(profile.size()));
  made->to = cmsCreate_sRGBProfileTHR(made->context);
  if (made->from != nullptr && made->to != nullptr && cmsGetColorSpace(made->from) == cmsSigCmykData) {
    // Unoptimised, because an optimised transform interpolates in a coarse table of its own.
    made->transform = cmsCreateTransformTHR(made->context, made->from, inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8,
                                            made->to, TYPE_RGB_16, INTENT_RELATIVE_COLORIMETRIC,
                                            cmsFLAGS_NOOPTIMIZE | cmsFLAGS_BLACKPOINTCOMPENSATION);
  }
  if (made->transform == nullptr) {
    return Status(
        StatusCode::input,
        fmt::format("'{}' cannot be used: its ICC profile is damaged or not for the CMYK samples it comes with; "
                    "remove the profile or convert the picture to sRGB",
                    encoded.name));
  }
  picture.found.push_back("CMYK ICC profile, converted to sRGB (relative colorimetric, black point compensated)");
  return CmykConversion([made](const uint8_t* cmyk, uint16_t* rgb, size_t count) {
    cmsDoTransform(made->transform, cmyk, rgb, static_cast<cmsUInt32Number>(count));
  });
}

}  // namespace acuity
