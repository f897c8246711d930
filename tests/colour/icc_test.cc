// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/icc.h"

#include <cmath>
#include <thread>

#include <gtest/gtest.h>
#include <lcms2.h>

#include "colour/rows.h"
#include "colour/transfer.h"
#include "support/layouts.h"
#include "support/slow_machine.h"

namespace acuity {
namespace {

using tests::Sheet;
using Bytes = std::vector<uint8_t>;

constexpr cmsCIExyY kD65{0.3127, 0.3290, 1};
constexpr cmsCIExyYTRIPLE kBt709{{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
constexpr cmsCIExyYTRIPLE kDisplayP3{{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}};

Bytes save(cmsHPROFILE profile) {
  cmsUInt32Number size = 0;
  cmsSaveProfileToMem(profile, nullptr, &size);
  Bytes bytes(size);
  cmsSaveProfileToMem(profile, bytes.data(), &size);
  cmsCloseProfile(profile);
  return bytes;
}

cmsToneCurve* srgb_curve() {
  const cmsFloat64Number parameters[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  return cmsBuildParametricToneCurve(nullptr, 4, parameters);
}

cmsToneCurve* tabulated_srgb_curve(int entries) {
  std::vector<cmsUInt16Number> table(static_cast<size_t>(entries));
  for (int i = 0; i < entries; ++i) {
    table[static_cast<size_t>(i)] = static_cast<cmsUInt16Number>(srgb_to_linear(i / (entries - 1.0)) * 65535 + 0.5);
  }
  return cmsBuildTabulatedToneCurve16(nullptr, static_cast<cmsUInt32Number>(entries), table.data());
}

Bytes rgb_profile(const cmsCIExyYTRIPLE& primaries, cmsToneCurve* curve) {
  cmsToneCurve* curves[] = {curve, curve, curve};
  Bytes bytes = save(cmsCreateRGBProfile(&kD65, &primaries, curves));
  cmsFreeToneCurve(curve);
  return bytes;
}

Bytes grey_profile(cmsToneCurve* curve) {
  Bytes bytes = save(cmsCreateGrayProfile(cmsD50_xyY(), curve));
  cmsFreeToneCurve(curve);
  return bytes;
}

// An RGB profile that is a look-up table, made by baking sRGB into one.
Bytes table_profile() {
  cmsHPROFILE srgb = cmsCreate_sRGBProfile(), lab = cmsCreateLab4Profile(nullptr);
  cmsHTRANSFORM transform = cmsCreateTransform(srgb, TYPE_RGB_16, lab, TYPE_Lab_16, INTENT_RELATIVE_COLORIMETRIC, 0);
  cmsHPROFILE link = cmsTransform2DeviceLink(transform, 4.3, cmsFLAGS_GUESSDEVICECLASS | cmsFLAGS_HIGHRESPRECALC);
  cmsDeleteTransform(transform);
  cmsCloseProfile(srgb);
  cmsCloseProfile(lab);
  return save(link);
}

std::array<std::vector<float>, 3> read(ImageView view, const Bytes& profile, const WorkingSpace& space = {}) {
  view.colour.icc = std::make_shared<const Bytes>(profile);
  std::array<std::vector<float>, 3> planes;
  for (auto& plane : planes) plane.resize(static_cast<size_t>(view.width));
  Result<Rows> rows = Rows::create(view, space, {});
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  if (rows.ok()) rows->read(0, 0, view.width, planes[0].data(), planes[1].data(), planes[2].data());
  return planes;
}

double ramp(int c, int x, int) { return (c == 0 ? x : c == 1 ? 255 - x : x * 7 % 256) / 255.0; }

std::array<std::vector<float>, 3> read(ImageView view, const Colour& colour, const WorkingSpace& space = {}) {
  view.colour = colour;
  std::array<std::vector<float>, 3> planes;
  for (auto& plane : planes) plane.resize(static_cast<size_t>(view.width));
  Result<Rows> rows = Rows::create(view, space, {});
  rows->read(0, 0, view.width, planes[0].data(), planes[1].data(), planes[2].data());
  return planes;
}

void expect_near(const std::array<std::vector<float>, 3>& a, const std::array<std::vector<float>, 3>& b,
                 double tolerance) {
  for (size_t c = 0; c < 3; ++c) {
    for (size_t i = 0; i < a[c].size(); ++i) ASSERT_NEAR(a[c][i], b[c][i], tolerance) << "channel " << c << " at " << i;
  }
}

const Sheet& rgb_ramp() {
  static const Sheet sheet({SampleType::u8, 8}, 256, 1, Channels::rgb, ramp);
  return sheet;
}
const Sheet& grey_ramp() {
  static const Sheet sheet({SampleType::u8, 8}, 256, 1, Channels::grey, ramp);
  return sheet;
}

TEST(Icc, SrgbProfilesScoreExactlyAsUntagged) {
  for (const Bytes& profile :
       {save(cmsCreate_sRGBProfile()), rgb_profile(kBt709, srgb_curve()),
        rgb_profile(kBt709, tabulated_srgb_curve(1024)), rgb_profile(kBt709, tabulated_srgb_curve(4096))}) {
    Result<IccConversion> icc = read_icc(profile, false);
    ASSERT_TRUE(icc.ok()) << icc.status().message();
    EXPECT_TRUE(icc->is_srgb);
    EXPECT_EQ(read(rgb_ramp().view, profile), read(rgb_ramp().view, Colour{}));
  }
  EXPECT_TRUE(read_icc(grey_profile(srgb_curve()), true)->is_srgb);
  EXPECT_EQ(read(grey_ramp().view, grey_profile(srgb_curve())), read(grey_ramp().view, Colour{}));
  EXPECT_EQ(read(grey_ramp().view, save(cmsCreate_sRGBProfile())), read(grey_ramp().view, Colour{}));
}

TEST(Icc, LookAlikesAreNotSrgb) {
  EXPECT_FALSE(read_icc(rgb_profile(kBt709, cmsBuildGamma(nullptr, 2.2)), false)->is_srgb);
  EXPECT_FALSE(read_icc(rgb_profile(kDisplayP3, srgb_curve()), false)->is_srgb);
  EXPECT_FALSE(read_icc(grey_profile(cmsBuildGamma(nullptr, 2.2)), true)->is_srgb);
}

TEST(Icc, AgreesWithTheSameColourByName) {
  const ImageView& view = rgb_ramp().view;
  expect_near(read(view, rgb_profile(kDisplayP3, srgb_curve())), read(view, Colour{.primaries = Primaries::display_p3}),
              1e-4);
  expect_near(read(view, rgb_profile(kBt709, cmsBuildGamma(nullptr, 1.8))),
              read(view, Colour{.transfer = Transfer::gamma, .gamma = 1.8}), 1e-4);
  expect_near(read(grey_ramp().view, grey_profile(cmsBuildGamma(nullptr, 2.2))),
              read(grey_ramp().view, Colour{.transfer = Transfer::gamma, .gamma = 2.2}), 2e-5);
  const WorkingSpace codes{.encoding = WorkingSpace::Encoding::srgb_codes};
  expect_near(read(view, rgb_profile(kDisplayP3, srgb_curve()), codes),
              read(view, Colour{.primaries = Primaries::display_p3}, codes), 0.1);
}

// All types, as lcms2 evaluates them.
TEST(Icc, ParametricCurvesAreLcmss) {
  constexpr std::array<std::array<cmsFloat64Number, 7>, 5> kParameters{
      {{2.2},
       {2.1, 1.1, -0.1},
       {1.9, 0.9, -0.2, 0.05},
       {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045},
       {2.3, 0.9, 0.1, 0.2, 0.1005, 0.02, 0.01}}};
  for (int type = 1; type <= 5; ++type) {
    cmsToneCurve* tone = cmsBuildParametricToneCurve(nullptr, type, kParameters[static_cast<size_t>(type) - 1].data());
    ASSERT_NE(tone, nullptr);
    cmsToneCurve* copy = cmsDupToneCurve(tone);
    const Result<IccConversion> icc = read_icc(grey_profile(copy), true);
    ASSERT_TRUE(icc.ok()) << icc.status().message();
    for (int i = 0; i <= 1000; ++i) {
      // Files have 16 bits for the fraction of a parameter.
      EXPECT_NEAR(icc->curves[0](i / 1000.0), cmsEvalToneCurveFloat(tone, static_cast<float>(i) / 1000), 5e-5)
          << type << " at " << i;
    }
    cmsFreeToneCurve(tone);
  }
}

TEST(Icc, TabulatedCurvesKeepTheirPrecisionInTheDarks) {
  // Evaluated in 16 bit the darkest steps would be 2 % off.
  const auto table = read(rgb_ramp().view, rgb_profile(kDisplayP3, tabulated_srgb_curve(4096)));
  const auto exact = read(rgb_ramp().view, Colour{.primaries = Primaries::display_p3});
  for (size_t i = 1; i < 16; ++i) EXPECT_NEAR(table[2][i] / exact[2][i], 1, 6e-3) << i;
}

TEST(Icc, LookUpTablesGoThroughLcms) {
  const Bytes profile = table_profile();
  Result<IccConversion> icc = read_icc(profile, false);
  ASSERT_TRUE(icc.ok()) << icc.status().message();
  ASSERT_TRUE(icc->pixels != nullptr);
  expect_near(read(rgb_ramp().view, profile), read(rgb_ramp().view, Colour{}), 4e-3);

  // Several threads may use it at once.
  std::array<std::array<std::vector<float>, 3>, 4> results;
  ImageView view = rgb_ramp().view;
  view.colour.icc = std::make_shared<const Bytes>(profile);
  Result<Rows> rows = Rows::create(view, {}, {});
  std::vector<std::thread> threads;
  for (auto& planes : results) {
    threads.emplace_back([&planes, &rows] {
      for (auto& plane : planes) plane.resize(256);
      for (int i = 0; i < 50; ++i) rows->read(0, 0, 256, planes[0].data(), planes[1].data(), planes[2].data());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& planes : results) EXPECT_EQ(planes, results[0]);
}

TEST(Icc, DescriptionTellsWhetherItWasSrgb) {
  ImageView view = rgb_ramp().view;
  view.colour.icc = std::make_shared<const Bytes>(save(cmsCreate_sRGBProfile()));
  EXPECT_EQ(Rows::create(view, {}, {})->description(), "ICC profile 'sRGB built-in' is sRGB and read as such");
  view.colour.icc = std::make_shared<const Bytes>(rgb_profile(kDisplayP3, srgb_curve()));
  EXPECT_EQ(Rows::create(view, {}, {})->description(),
            "ICC profile 'RGB built-in' converted to linear light of BT.709 primaries, relative colorimetric");
}

TEST(Icc, UnusableProfilesAreRefused) {
  const auto refused = [](const Bytes& bytes, bool grey) {
    return read_icc(bytes, grey).status().code() == StatusCode::input;
  };
  EXPECT_TRUE(refused({}, false));
  EXPECT_TRUE(refused(Bytes(200, 0x41), false));
  EXPECT_TRUE(refused(grey_profile(srgb_curve()), false));           // grey profile on an RGB picture
  EXPECT_TRUE(refused(save(cmsCreateLab4Profile(nullptr)), false));  // neither grey nor RGB
  Bytes cut = rgb_profile(kBt709, srgb_curve());
  cut.resize(cut.size() / 3);
  EXPECT_TRUE(refused(cut, false));
  const Bytes whole = rgb_profile(kBt709, tabulated_srgb_curve(64));
  for (size_t at = 0; at < whole.size(); at += tests::kSlowMachine ? 7 : 1) {  // damage anywhere must be survived
    Bytes damaged = whole;
    damaged[at] ^= 0xFF;
    (void)read_icc(damaged, false).status();
    (void)read_icc(damaged, true).status();
  }
}

}  // namespace
}  // namespace acuity
