// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cmath>

#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Jxl, KeepsEverySampleOfLosslessFiles) {
  for (int bits : {8, 16}) {
    for (int channels : {1, 2, 3, 4}) {
      for (bool container : {false, true}) {
        const Drawing drawing = draw(19, 11, channels, bits);
        const Picture picture = decode(encode_jxl(drawing, {.container = container}));
        expect_samples(picture, drawing);
        EXPECT_TRUE(picture.assumed.empty());
      }
    }
  }
}

TEST(Jxl, KeepsDepthsAboveEightBits) {
  for (int bits : {9, 10, 12, 14}) {
    const Drawing drawing = draw(19, 11, 3, bits);
    const Picture picture = decode(encode_jxl(drawing));
    EXPECT_EQ(picture.view.depth, bits);
    EXPECT_TRUE(lists(picture.found, std::to_string(bits) + "-bit RGB"));
    expect_samples(picture, drawing);
  }
}

TEST(Jxl, StretchesOtherDepthsToSixteenBits) {
  for (int bits : {1, 5, 15}) {
    const Drawing drawing = draw(19, 11, 3, bits);
    const Picture picture = decode(encode_jxl(drawing));
    EXPECT_EQ(picture.view.depth, 16);
    EXPECT_TRUE(lists(picture.found, std::to_string(bits) + "-bit RGB"));
    std::vector<double> expected = values_of(drawing);
    for (double& value : expected) value *= 65535.0 / ((1 << bits) - 1);
    EXPECT_LE(distance(values_of(picture), expected), 0.51) << bits;
  }
}

TEST(Jxl, KeepsFloats) {
  const Drawing drawing = draw(9, 7, 4, 12);
  const Picture picture = decode(encode_jxl(drawing, {.is_float = true, .transfer = 8}));
  EXPECT_EQ(picture.view.type, SampleType::f32);
  EXPECT_EQ(picture.view.colour.transfer, Transfer::linear);
  EXPECT_TRUE(lists(picture.found, "32-bit float RGB"));
  std::vector<double> expected = values_of(drawing);
  for (double& value : expected) value = static_cast<double>(static_cast<float>(value / 4095));
  EXPECT_EQ(values_of(picture), expected);
}

TEST(Jxl, ReadsXybWithoutRoundingToEightBits) {
  const Drawing drawing = flat(32, 32, {200, 100, 50});
  const Picture picture = decode(encode_jxl(drawing, {.lossless = false}));
  EXPECT_EQ(picture.view.type, SampleType::u16);
  EXPECT_EQ(picture.view.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(lists(picture.found, "coded as XYB"));
  std::vector<double> expected = values_of(drawing);
  for (double& value : expected) value *= 257;
  EXPECT_LE(distance(values_of(picture), expected), 3 * 257);
  // With a profile in place of an enumerated space, light comes out.
  const Picture profiled = decode(encode_jxl(drawing, {.lossless = false, .icc = rgb_profile()}));
  EXPECT_EQ(profiled.view.type, SampleType::f32);
  EXPECT_EQ(profiled.view.colour.transfer, Transfer::linear);
  EXPECT_NEAR(values_of(profiled)[0], std::pow(200 / 255.0, 1.8), 0.02);
}

TEST(Jxl, ReadsEnumeratedColour) {
  const Drawing drawing = draw(8, 8, 3, 8);
  const auto colour = [&drawing](const JxlOptions& options) {
    return decode(encode_jxl(drawing, options)).view.colour;
  };
  EXPECT_EQ(colour({.transfer = 13, .primaries = 1}).primaries, Primaries::bt709);
  EXPECT_EQ(colour({.transfer = 13, .primaries = 11}).primaries, Primaries::display_p3);
  const Colour pq = colour({.transfer = 16, .primaries = 9});
  EXPECT_EQ(pq.primaries, Primaries::bt2020);
  EXPECT_EQ(pq.transfer, Transfer::pq);
  const Colour hlg = colour({.transfer = 18, .primaries = 9, .intensity = 600});
  EXPECT_EQ(hlg.transfer, Transfer::hlg);
  EXPECT_EQ(hlg.peak_nits, 600);
  EXPECT_EQ(colour({.transfer = 8}).transfer, Transfer::linear);
  EXPECT_EQ(colour({.transfer = 1}).transfer, Transfer::bt1886);
  const Colour gamma = colour({.transfer = 65535, .gamma = 0.5});
  EXPECT_EQ(gamma.transfer, Transfer::gamma);
  EXPECT_NEAR(gamma.gamma, 2, 1e-6);
  EXPECT_TRUE(says(refusal(encode_jxl(drawing, {.transfer = 17})), {"transfer function 17"}));
}

// cjxl takes over the gamma that ImageMagick writes into PNG for sRGB.
TEST(Jxl, TakesTheGammaOfSrgbForSrgb) {
  const Picture picture = decode(encode_jxl(draw(4, 4, 3, 8), {.transfer = 65535, .gamma = 0.45455}));
  EXPECT_EQ(picture.view.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(lists(picture.found, "means sRGB"));
  EXPECT_EQ(decode(encode_jxl(draw(4, 4, 3, 8), {.transfer = 65535, .gamma = 0.4})).view.colour.transfer,
            Transfer::gamma);
}

TEST(Jxl, ReadsTheProfile) {
  const Picture picture = decode(encode_jxl(draw(8, 8, 3, 8), {.icc = rgb_profile()}));
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, rgb_profile());
  EXPECT_TRUE(lists(picture.found, "ICC profile 'test RGB'"));
}

TEST(Jxl, TurnsAsItSays) {
  const char* expected[] = {"abc/def", "cba/fed", "fed/cba", "def/abc", "ad/be/cf", "da/eb/fc", "fc/eb/da", "cf/be/ad"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(spell(decode(encode_jxl(letters(3), {.orientation = orientation}))), expected[orientation - 1]);
  }
}

TEST(Jxl, DividesPremultipliedAlphaOut) {
  // libjxl 0.7 cannot write such a file, but one bit of the header makes one of a file with straight alpha.
  const File straight = encode_jxl({2, 1, 4, 8, {60, 30, 15, 120, 0, 0, 0, 0}}, {.name_alpha = true});
  int found = 0;
  for (size_t bit = 0; bit < size_t{8} * 32; ++bit) {
    File file = straight;
    file[bit / 8] = static_cast<uint8_t>(file[bit / 8] ^ 1 << bit % 8);
    const Result<Picture> picture = decode_picture(file, "test");
    if (!picture.ok() || !lists(picture->found, "premultiplied alpha divided out")) continue;
    ++found;
    EXPECT_LE(distance(values_of(*picture), {0.5, 0.25, 0.125, 120 / 255.0, 0, 0, 0, 0}), 1e-7);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace acuity::tests
