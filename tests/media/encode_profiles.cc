// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>

#include <lcms2.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

constexpr cmsCIELab kCyanInk{60, -20, -25};

File saved(cmsHPROFILE profile) {
  cmsUInt32Number size = 0;
  cmsSaveProfileToMem(profile, nullptr, &size);
  File file(size);
  cmsSaveProfileToMem(profile, file.data(), &size);
  cmsCloseProfile(profile);
  // The time it was made, which would tell two calls apart whenever a second passes between them.
  constexpr size_t kTime = 24, kTimeBytes = 12;
  std::fill_n(file.begin() + kTime, kTimeBytes, uint8_t{0});
  return file;
}

void describe(cmsHPROFILE profile, const char* text) {
  cmsMLU* description = cmsMLUalloc(nullptr, 1);
  cmsMLUsetASCII(description, "en", "US", text);
  cmsWriteTag(profile, cmsSigProfileDescriptionTag, description);
  cmsMLUfree(description);
}

// Bilinear in ink, so that the corners of the table say everything.
cmsInt32Number ink_to_lab(const cmsUInt16Number in[], cmsUInt16Number out[], void*) {
  const double cyan = in[0] / 65535.0, paper = 1 - in[3] / 65535.0;
  cmsCIELab lab{};
  lab.L = paper * (100 + cyan * (kCyanInk.L - 100));
  lab.a = paper * cyan * kCyanInk.a;
  lab.b = paper * cyan * kCyanInk.b;
  cmsFloat2LabEncoded(out, &lab);
  return TRUE;
}

}  // namespace

File rgb_profile() {
  const cmsCIExyY white{0.3127, 0.3290, 1};
  const cmsCIExyYTRIPLE primaries{{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
  cmsToneCurve* curve = cmsBuildGamma(nullptr, 1.8);
  cmsToneCurve* curves[] = {curve, curve, curve};
  cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, curves);
  cmsFreeToneCurve(curve);
  describe(profile, "test RGB");
  return saved(profile);
}

File srgb_profile() { return saved(cmsCreate_sRGBProfile()); }

File grey_profile() {
  const cmsCIExyY white{0.3127, 0.3290, 1};
  cmsToneCurve* curve = cmsBuildGamma(nullptr, 2.2);
  cmsHPROFILE profile = cmsCreateGrayProfile(&white, curve);
  cmsFreeToneCurve(curve);
  describe(profile, "test grey");
  return saved(profile);
}

File cmyk_profile() {
  cmsHPROFILE profile = cmsCreateProfilePlaceholder(nullptr);
  cmsSetProfileVersion(profile, 4.3);
  cmsSetDeviceClass(profile, cmsSigOutputClass);
  cmsSetColorSpace(profile, cmsSigCmykData);
  cmsSetPCS(profile, cmsSigLabData);
  describe(profile, "test CMYK");
  cmsPipeline* pipeline = cmsPipelineAlloc(nullptr, 4, 3);
  cmsStage* table = cmsStageAllocCLut16bit(nullptr, 9, 4, 3, nullptr);
  cmsStageSampleCLut16bit(table, ink_to_lab, nullptr, 0);
  // The tag's type wants curves around the table.
  cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(nullptr, 4, nullptr));
  cmsPipelineInsertStage(pipeline, cmsAT_END, table);
  cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(nullptr, 3, nullptr));
  for (const cmsTagSignature tag : {cmsSigAToB0Tag, cmsSigAToB1Tag}) cmsWriteTag(profile, tag, pipeline);
  cmsPipelineFree(pipeline);
  return saved(profile);
}

std::array<double, 3> cyan_ink_as_srgb() {
  cmsHPROFILE lab = cmsCreateLab4Profile(nullptr), srgb = cmsCreate_sRGBProfile();
  cmsHTRANSFORM transform =
      cmsCreateTransform(lab, TYPE_Lab_DBL, srgb, TYPE_RGB_DBL, INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_NOOPTIMIZE);
  std::array<double, 3> rgb{};
  cmsDoTransform(transform, &kCyanInk, rgb.data(), 1);
  cmsDeleteTransform(transform);
  cmsCloseProfile(lab);
  cmsCloseProfile(srgb);
  return rgb;
}

}  // namespace acuity::tests
