// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/rows.h"

#include <cmath>

#include <gtest/gtest.h>

#include "colour/primaries.h"
#include "colour/steps.h"
#include "colour/transfer.h"
#include "lang/targets.h"
#include "support/layouts.h"

namespace acuity {
namespace {

using tests::arrangements;
using tests::Content;
using tests::Layout;
using tests::Sheet;
using Planes = std::array<std::vector<float>, 3>;

constexpr int kWidth = 19, kHeight = 7;
constexpr WorkingSpace kLinear{};
constexpr WorkingSpace kLibjxl{.srgb_curve = WorkingSpace::SrgbCurve::libjxl};
constexpr WorkingSpace kCodes{.encoding = WorkingSpace::Encoding::srgb_codes};

// Multiples of 1/255, so that every type can hold them.
double colourful(int c, int x, int y) { return (x * 37 + y * 101 + c * 59) % 256 / 255.0; }
double grey(int, int x, int y) { return colourful(0, x, y); }

Planes read(const ImageView& view, const WorkingSpace& space, std::optional<float> background = {}, int step = kWidth) {
  Planes planes;
  Result<Rows> rows = Rows::create(view, space, background);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  if (!rows.ok()) return planes;
  const size_t size = static_cast<size_t>(view.width) * static_cast<size_t>(view.height);
  for (auto& plane : planes) plane.resize(size);
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; x += step) {
      const size_t at = static_cast<size_t>(y * view.width + x);
      rows->read(y, x, std::min(x + step, view.width), &planes[0][at], &planes[1][at], &planes[2][at]);
    }
  }
  return planes;
}

float srgb_to_linear_libjxl(float encoded) {
  decode_samples({.curve = CURVE_SRGB_LIBJXL}, nullptr, &encoded, 1);
  return encoded;
}

std::array<float, 3> read_pixel(std::array<float, 3> pixel, const Colour& colour, const WorkingSpace& space) {
  ImageView view = interleaved_view(pixel.data(), 1, 1, Channels::rgb, SampleType::f32);
  view.colour = colour;
  const Planes planes = read(view, space);
  return {planes[0].at(0), planes[1].at(0), planes[2].at(0)};
}

TEST(Rows, EveryArrangementGivesTheSame) {
  for (const WorkingSpace& space : {kLinear, kLibjxl, kCodes}) {
    for (const Channels channels : {Channels::grey, Channels::grey_alpha, Channels::rgb, Channels::rgba}) {
      for (const Layout& type : {Layout{SampleType::u8, 8}, Layout{SampleType::u16, 10}, Layout{SampleType::u16, 16},
                                 Layout{SampleType::f32, 8}}) {
        const Sheet plain(type, kWidth, kHeight, channels, colourful);
        const Planes expected = read(plain.view, space, 0.1f);
        for (const Layout& layout : arrangements(type.type, type.depth)) {
          const Sheet sheet(layout, kWidth, kHeight, channels, colourful);
          EXPECT_EQ(read(sheet.view, space, 0.1f), expected) << layout.name();
          EXPECT_EQ(read(sheet.view, space, 0.1f, 4), expected) << layout.name();
        }
      }
    }
  }
}

// How equal pixels may come: in 8 bits, in 16, as floats that were divided, and as floats multiplied by a reciprocal.
TEST(Rows, EqualPixelsAreEqualInEveryType) {
  constexpr WorkingSpace kSingle{.srgb_curve = WorkingSpace::SrgbCurve::single};
  const auto some_clear = [](int c, int x, int y) { return c == 3 ? (x + y) % 4 * 85 / 255.0 : colourful(c, x, y); };
  for (const WorkingSpace& space : {kLinear, kLibjxl, kCodes, kSingle}) {
    for (const Channels channels : {Channels::grey, Channels::grey_alpha, Channels::rgb, Channels::rgba}) {
      for (const Transfer transfer :
           {Transfer::srgb, Transfer::linear, Transfer::gamma, Transfer::bt1886, Transfer::pq, Transfer::hlg}) {
        for (const Primaries primaries : {Primaries::bt709, Primaries::display_p3}) {
          Sheet u8({SampleType::u8, 8}, kWidth, kHeight, channels, some_clear);
          Sheet u16({SampleType::u16, 16}, kWidth, kHeight, channels, some_clear);
          Sheet divided({SampleType::f32, 8}, kWidth, kHeight, channels, some_clear);
          Sheet multiplied({SampleType::f32, 8}, kWidth, kHeight, channels, [&](int c, int x, int y) {
            return static_cast<float>(std::lround(some_clear(c, x, y) * 255)) * (1 / 255.0f);
          });
          for (Sheet* sheet : {&u8, &u16, &divided, &multiplied}) {
            sheet->view.colour.transfer = transfer;
            sheet->view.colour.primaries = primaries;
          }
          const Planes expected = read(u8.view, space, 0.1f);
          EXPECT_EQ(read(u16.view, space, 0.1f), expected);
          EXPECT_EQ(read(divided.view, space, 0.1f), expected);
          if (transfer == Transfer::linear) continue;  // whose floats are taken as they are
          EXPECT_EQ(read(multiplied.view, space, 0.1f), expected);
        }
      }
    }
  }
}

TEST(Rows, FloatsOfEveryCodeAreThatCode) {
  for (const WorkingSpace& space : {kLinear, kLibjxl, kCodes}) {
    for (const int depth : {10, 12, 16}) {
      const int codes = 1 << depth;
      const Content ramp = [codes](int, int x, int y) { return (x + y * 64) / (codes - 1.0); };
      const Sheet integers({SampleType::u16, depth}, 64, codes / 64, Channels::grey, ramp);
      const Sheet floats({SampleType::f32, 8}, 64, codes / 64, Channels::grey, ramp);
      EXPECT_EQ(read(integers.view, space, {}, 64), read(floats.view, space, {}, 64)) << depth;
    }
  }
}

TEST(Rows, GreyIsRgbOfThreeEqualSamples) {
  for (const WorkingSpace& space : {kLinear, kLibjxl, kCodes}) {
    for (Transfer transfer :
         {Transfer::srgb, Transfer::linear, Transfer::gamma, Transfer::bt1886, Transfer::pq, Transfer::hlg}) {
      for (const Primaries primaries : {Primaries::bt709, Primaries::display_p3, Primaries::bt2020}) {
        for (const Layout& type : {Layout{SampleType::u8, 8}, Layout{SampleType::f32, 8}}) {
          Sheet one(type, kWidth, kHeight, Channels::grey, grey);
          Sheet three(type, kWidth, kHeight, Channels::rgb, grey);
          one.view.colour = three.view.colour = {.transfer = transfer, .primaries = primaries};
          EXPECT_EQ(read(one.view, space), read(three.view, space))
              << "transfer " << static_cast<int>(transfer) << ", primaries " << static_cast<int>(primaries);
        }
      }
    }
  }
}

TEST(Rows, SrgbCodesComeOutUnchanged) {
  const Sheet u8({SampleType::u8, 8}, 256, 1, Channels::rgb, [](int, int x, int) { return x / 255.0; });
  const Planes planes = read(u8.view, kCodes);
  for (int x = 0; x < 256; ++x) EXPECT_EQ(planes[1][static_cast<size_t>(x)], static_cast<float>(x));

  const Sheet u10({SampleType::u16, 10}, 1024, 1, Channels::rgb, [](int, int x, int) { return x / 1023.0; });
  const Planes wide = read(u10.view, kCodes);
  for (int x = 0; x < 1024; ++x) {
    const double fraction = static_cast<float>(x / 1023.0);
    EXPECT_EQ(wide[2][static_cast<size_t>(x)], static_cast<float>(fraction * 255)) << x;
  }
}

TEST(Rows, LinearIsTheCurve) {
  const Sheet sheet({SampleType::u8, 8}, 256, 1, Channels::rgb, [](int, int x, int) { return x / 255.0; });
  const Planes exact = read(sheet.view, kLinear), libjxl = read(sheet.view, kLibjxl);
  for (int x = 0; x < 256; ++x) {
    EXPECT_EQ(exact[0][static_cast<size_t>(x)], static_cast<float>(srgb_to_linear(x / 255.0)));
    EXPECT_EQ(libjxl[0][static_cast<size_t>(x)], srgb_to_linear_libjxl(static_cast<float>(x) * (1.0f / 255.0f)));
  }
}

TEST(Rows, SamplesBeyondTheirDepthCountAsTheLargest) {
  const std::array<uint16_t, 3> pixel{1023, 1024, 65535};
  ImageView view = interleaved_view(pixel.data(), 1, 1, Channels::rgb, SampleType::u16);
  view.depth = 10;
  const Planes planes = read(view, kCodes);
  EXPECT_EQ(planes[0][0], 255);
  EXPECT_EQ(planes[1][0], 255);
  EXPECT_EQ(planes[2][0], 255);
}

TEST(Rows, AlphaIsCompositedInTheEncodedSpace) {
  const std::array<float, 4> pixel{0.81f, 0.43f, 0.21f, 0.25f};
  ImageView view = interleaved_view(pixel.data(), 1, 1, Channels::rgba, SampleType::f32);
  view.depth = 32;  // floats have none; whatever is there must not matter
  const Planes planes = read(view, kLibjxl, 0.9f);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(planes[c][0], srgb_to_linear_libjxl(0.25f * pixel[c] + (1.f - 0.25f) * 0.9f));
  }

  const std::array<uint8_t, 4> bytes{200, 100, 50, 51};
  const ImageView integers = interleaved_view(bytes.data(), 1, 1, Channels::rgba, SampleType::u8);
  const float scale = 1.0f / 255.0f, alpha = 51 * scale;
  EXPECT_EQ(read(integers, kLibjxl, 0.1f)[0][0], srgb_to_linear_libjxl(alpha * (200 * scale) + (1.f - alpha) * 0.1f));
}

TEST(Rows, OpaqueAlphaIsNoAlphaAndFullTransparencyIsTheBackground) {
  for (const WorkingSpace& space : {kLinear, kLibjxl, kCodes}) {
    for (const Layout& type : {Layout{SampleType::u8, 8}, Layout{SampleType::u16, 12}, Layout{SampleType::f32, 8}}) {
      const Sheet rgb(type, kWidth, kHeight, Channels::rgb, colourful);
      const Sheet opaque(type, kWidth, kHeight, Channels::rgba,
                         [](int c, int x, int y) { return c == 3 ? 1 : colourful(c, x, y); });
      EXPECT_EQ(read(opaque.view, space, 0.5f), read(rgb.view, space)) << type.name();

      const Sheet clear(type, kWidth, kHeight, Channels::rgba,
                        [](int c, int x, int y) { return c == 3 ? 0 : colourful(c, x, y); });
      std::array<float, 3> background{0.5f, 0.5f, 0.5f};
      const Planes expected = read(interleaved_view(background.data(), 1, 1, Channels::rgb, SampleType::f32), space);
      for (const auto& plane : read(clear.view, space, 0.5f)) {
        for (float value : plane) ASSERT_EQ(value, expected[0][0]) << type.name();
      }
    }
  }
}

TEST(Rows, AlphaWithoutBackgroundIsAnError) {
  const Sheet sheet({SampleType::u8, 8}, 1, 1, Channels::rgba, colourful);
  EXPECT_FALSE(Rows::create(sheet.view, kLinear, std::nullopt).ok());
}

TEST(Rows, PrimariesAreConverted) {
  for (Primaries primaries : {Primaries::display_p3, Primaries::bt2020}) {
    const Colour colour{.transfer = Transfer::linear, .primaries = primaries};
    const Vector3 expected = *to_bt709(chromaticities_of(colour)) * Vector3{0.75, 0.25, 0.5};
    const auto rgb = read_pixel({0.75f, 0.25f, 0.5f}, colour, kLinear);
    for (size_t c = 0; c < 3; ++c) EXPECT_FLOAT_EQ(rgb[c], static_cast<float>(expected[c]));
  }
  // The red of P3 lies outside sRGB and must not be cut off.
  const auto red = read_pixel({1, 0, 0}, {.primaries = Primaries::display_p3}, kLinear);
  EXPECT_NEAR(red[0], 1.22494, 1e-4);
  EXPECT_NEAR(red[1], -0.04206, 1e-4);
  // sRGB given by coordinates is sRGB.
  Sheet named({SampleType::u8, 8}, kWidth, kHeight, Channels::rgb, colourful);
  const Planes expected = read(named.view, kLibjxl);
  named.view.colour.primaries = Primaries::custom;
  EXPECT_EQ(read(named.view, kLibjxl), expected);
}

TEST(Rows, OtherWhitesAreAdapted) {
  Colour colour{.transfer = Transfer::linear, .primaries = Primaries::custom};
  colour.chromaticities.white = {0.3457, 0.3585};
  for (float value : read_pixel({0.5f, 0.5f, 0.5f}, colour, kLinear)) EXPECT_NEAR(value, 0.5, 1e-6);
}

TEST(Rows, TransfersFollowTheirDefinition) {
  EXPECT_FLOAT_EQ(read_pixel({0.5f, 0, 0}, {.transfer = Transfer::gamma, .gamma = 1.8}, kLinear)[0],
                  std::pow(0.5f, 1.8f));
  EXPECT_FLOAT_EQ(read_pixel({0.5f, 0, 0}, {.transfer = Transfer::bt1886}, kLinear)[0], std::pow(0.5f, 2.4f));
  EXPECT_FLOAT_EQ(read_pixel({-0.25f, 0, 0}, {.transfer = Transfer::linear}, kLinear)[0], -0.25f);
}

TEST(Rows, AbsoluteTransfersAreScaledToWhite) {
  const WorkingSpace hundred{.nits_of_one = 100};
  const auto encoded = static_cast<float>(nits_to_pq(203));
  EXPECT_NEAR(read_pixel({encoded, encoded, encoded}, {.transfer = Transfer::pq}, kLinear)[1], 1, 1e-5);
  EXPECT_NEAR(read_pixel({encoded, encoded, encoded}, {.transfer = Transfer::pq}, hundred)[1], 2.03, 1e-5);

  // HLG: the brightness of a colour sets the gain of all three channels.
  const Colour hlg{.transfer = Transfer::hlg, .primaries = Primaries::bt2020, .peak_nits = 2000};
  const auto rgb = read_pixel({0.9f, 0.6f, 0.3f}, hlg, hundred);
  const Vector3 scene{hlg_to_scene(0.9f), hlg_to_scene(0.6f), hlg_to_scene(0.3f)};
  const double luminance = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2];
  const double gain = 2000 * std::pow(luminance, hlg_system_gamma(2000) - 1) / 100;
  const Vector3 expected =
      *to_bt709(chromaticities_of(hlg)) * Vector3{gain * scene[0], gain * scene[1], gain * scene[2]};
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(rgb[c] / expected[c], 1, 1e-4);
  for (float value : read_pixel({0, 0, 0}, hlg, kLinear)) EXPECT_EQ(value, 0);
}

TEST(Rows, CodesOfOtherSpacesAreSrgbEncoded) {
  EXPECT_NEAR(read_pixel({0.18f, 0.18f, 0.18f}, {.transfer = Transfer::linear}, kCodes)[0], 255 * 0.4613561, 1e-4);
  // Through the matrix as well, where the last step cannot be part of a curve.
  const Colour p3{.primaries = Primaries::display_p3};
  for (float value : read_pixel({0.5f, 0.5f, 0.5f}, p3, kCodes)) EXPECT_NEAR(value, 127.5, 1e-3);
}

TEST(Rows, CodesOfMixedChannelsAreExactToAFewUnitsInTheLastPlace) {
  // Linear light of P3 greys is that of BT.709; only the matrix and the sRGB curve are at work.
  const Sheet sheet({SampleType::f32, 8}, 4001, 1, Channels::rgb,
                    [](int c, int x, int) { return (c == 1 ? 1e-5 : 1) * (x - 1000) / 3000.0; });
  ImageView view = sheet.view;
  view.colour = {.transfer = Transfer::linear, .primaries = Primaries::display_p3};
  const Matrix3 matrix = *to_bt709(chromaticities_of(view.colour));
  const Planes planes = read(view, kCodes, {}, 37);
  for (int x = 0; x <= 4000; ++x) {
    const double bright = static_cast<float>((x - 1000) / 3000.0),
                 dark = static_cast<float>(1e-5 * (x - 1000) / 3000.0);
    const Vector3 light = matrix * Vector3{bright, dark, bright};
    for (size_t c = 0; c < 3; ++c) {
      const double expected = 255 * linear_to_srgb(static_cast<float>(light[c]));
      // The matrix rounds light to 1.4e-7 of itself, and near black the curve doubles that: 3.05e-7 is the worst.
      ASSERT_NEAR(planes[c][static_cast<size_t>(x)], expected, std::abs(expected) * 3.1e-7) << x;
    }
  }
}

TEST(Rows, EveryTargetGivesTheSameBits) {
  for (const Transfer transfer :
       {Transfer::srgb, Transfer::linear, Transfer::gamma, Transfer::bt1886, Transfer::pq, Transfer::hlg}) {
    for (const Channels channels : {Channels::grey, Channels::rgb, Channels::rgba}) {
      for (const WorkingSpace& space : {kLinear, kLibjxl, kCodes}) {
        Sheet sheet({SampleType::f32, 8}, kWidth, kHeight, channels, colourful);
        sheet.view.colour = {.transfer = transfer, .primaries = Primaries::display_p3};
        const Planes expected = read(sheet.view, space, 0.3f);
        for (const std::string& target : cpu_targets()) {
          ASSERT_TRUE(limit_cpu(target).ok());
          EXPECT_EQ(read(sheet.view, space, 0.3f), expected) << target << ", transfer " << static_cast<int>(transfer);
        }
        ASSERT_TRUE(limit_cpu("").ok());
      }
    }
  }
}

TEST(Rows, ImpossibleColourIsRefused) {
  Sheet sheet({SampleType::u8, 8}, 1, 1, Channels::rgb, colourful);
  const auto refused = [&](const Colour& colour) {
    sheet.view.colour = colour;
    return Rows::create(sheet.view, kLinear, {}).status().code() == StatusCode::input;
  };
  EXPECT_TRUE(refused({.transfer = Transfer::gamma, .gamma = 0}));
  EXPECT_TRUE(refused({.transfer = Transfer::gamma, .gamma = std::nan("")}));
  EXPECT_TRUE(refused({.transfer = Transfer::hlg, .peak_nits = -5}));
  EXPECT_TRUE(refused({.transfer = Transfer::hlg, .peak_nits = 1}));
  Colour flat{.primaries = Primaries::custom};
  flat.chromaticities.red = flat.chromaticities.green;
  EXPECT_TRUE(refused(flat));
}

TEST(Rows, DescriptionSaysWhatWasDone) {
  Sheet sheet({SampleType::u8, 8}, 1, 1, Channels::rgb, colourful);
  EXPECT_EQ(Rows::create(sheet.view, kLinear, {})->description(), "sRGB decoded to linear light");
  EXPECT_EQ(Rows::create(sheet.view, kCodes, {})->description(), "sRGB codes used as they are");
  sheet.view.colour = {.transfer = Transfer::linear};
  EXPECT_EQ(Rows::create(sheet.view, kLinear, {})->description(), "linear light used as it is");
  EXPECT_EQ(Rows::create(sheet.view, kCodes, {})->description(),
            "linear with BT.709 primaries converted to sRGB codes");
  sheet.view.colour = {.transfer = Transfer::pq, .primaries = Primaries::bt2020};
  EXPECT_EQ(Rows::create(sheet.view, kLinear, {})->description(),
            "PQ with BT.2020 primaries converted to linear light of BT.709 primaries, white at 203 nit");
}

}  // namespace
}  // namespace acuity
