// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <limits>

#include "media/decode.h"

namespace acuity::tests {
namespace {

File text(std::string_view content) { return {content.begin(), content.end()}; }

TEST(Pnm, KeepsEverySample) {
  for (const char kind : {'2', '3', '5', '6', '7'}) {
    for (int bits : {8, 10, 16}) {
      const int channels = kind == '2' || kind == '5' ? 1 : 3;
      const Drawing drawing = draw(7, 5, channels, bits);
      const Picture picture = decode(encode_pnm(kind, drawing, (1 << bits) - 1));
      expect_samples(picture, drawing);
      EXPECT_TRUE(lists_only(picture.assumed, "sRGB"));
    }
  }
  for (int channels : {2, 4}) {
    const Drawing drawing = draw(7, 5, channels, 16);
    expect_samples(decode(encode_pnm('7', drawing, 65535)), drawing);
  }
}

TEST(Pnm, ReadsBitmapsWithBlackAsOne) {
  for (const char kind : {'1', '4'}) {
    const Drawing drawing = draw(11, 3, 1, 1);
    std::vector<double> expected;
    for (const uint16_t bit : drawing.samples) expected.push_back(bit == 1 ? 0 : 255);
    const Picture picture = decode(encode_pnm(kind, drawing, 1));
    EXPECT_EQ(values_of(picture), expected);
    EXPECT_TRUE(lists(picture.found, "1-bit grey"));
  }
}

TEST(Pnm, RescalesOtherRangesExactly) {
  const Drawing drawing{4, 1, 1, 16, {0, 1, 50, 100}};
  const Picture picture = decode(encode_pnm('5', drawing, 100));
  EXPECT_EQ(picture.view.type, SampleType::f32);
  EXPECT_EQ(values_of(picture), (std::vector<double>{0.0, static_cast<double>(0.01f), 0.5, 1.0}));
  EXPECT_TRUE(lists(picture.found, "grey of 0 .. 100"));
  // 15 goes into 255 without a remainder.
  const Drawing four_bits{3, 1, 1, 8, {0, 7, 15}};
  const Picture exact = decode(encode_pnm('2', four_bits, 15));
  EXPECT_EQ(exact.view.type, SampleType::u8);
  EXPECT_EQ(values_of(exact), (std::vector<double>{0, 119, 255}));
}

TEST(Pnm, RefusesBrokenFiles) {
  EXPECT_TRUE(says(refusal(text("P5\n4 4\n255\nabc")), {"ends too early"}));
  EXPECT_TRUE(says(refusal(text("P2\n2 1\n255\n1")), {"ends too early"}));
  EXPECT_TRUE(says(refusal(text("P2\n2 1\n255\n10 ")), {"row 0"}));
  EXPECT_TRUE(says(refusal(text("P2\n2 1\n100\n1 101 ")), {"0 .. 100"}));
  EXPECT_TRUE(says(refusal(text("P2\n2 1\n255\n1 x ")), {"row 0"}));
  EXPECT_TRUE(says(refusal(text("P1\n2 1\n12")), {"row 0"}));
  EXPECT_TRUE(says(refusal(text("P5\n1 1\n70000\nabc")), {"65535"}));
  EXPECT_TRUE(says(refusal(text("P5\n1 1\n0\nabc")), {"65535"}));
  EXPECT_TRUE(says(refusal(text("P5\n1\n")), {"width or height"}));
  EXPECT_TRUE(says(refusal(text("P5\n-1 1\n255\na")), {"width or height"}));
  EXPECT_TRUE(says(refusal(text("P5\n99999999999 1\n255\na")), {"width or height"}));
  EXPECT_TRUE(says(refusal(text("P5\n0 0\n255\n")), {"0x0"}));
  EXPECT_TRUE(says(refusal(text("P5\n1 1\n255\naP5\n1 1\n255\na")), {"split it"}));
  EXPECT_TRUE(says(refusal(text("P2 1 1 255 1 2")), {"split it"}));
  EXPECT_TRUE(says(refusal(text("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\nabc")), {"CMYK"}));
  EXPECT_TRUE(
      says(refusal(text("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\nabc")), {"3 samples"}));
  EXPECT_TRUE(says(refusal(text("P7\nWIDTH 1\nLENGTH 1\n")), {"LENGTH"}));
  EXPECT_TRUE(says(refusal(text("P7\nWIDTH 1\n")), {"field name"}));
  EXPECT_TRUE(says(refusal(text("P5\n# no end")), {"width or height"}));
}

TEST(Pfm, KeepsFloatsFromTheBottomUpInBothByteOrders) {
  std::vector<float> floats{-2.f, 0.25f, 1e10f, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f};
  for (bool little_endian : {false, true}) {
    const Picture picture = decode(encode_pfm(2, 2, 3, floats, little_endian));
    EXPECT_EQ(picture.view.channels, Channels::rgb);
    EXPECT_EQ(values_of(picture), std::vector<double>(floats.begin(), floats.end()));
    EXPECT_EQ(picture.view.colour.transfer, Transfer::linear);
    EXPECT_TRUE(lists_only(picture.assumed, "linear light"));
    const Picture grey = decode(encode_pfm(3, 4, 1, floats, little_endian));
    EXPECT_EQ(grey.view.channels, Channels::grey);
    EXPECT_EQ(values_of(grey), std::vector<double>(floats.begin(), floats.end()));
  }
  floats[5] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(says(refusal(encode_pfm(2, 2, 3, floats, true)), {"infinity in channel B of pixel (1, 0)"}));
}

TEST(Pfm, RefusesBrokenFiles) {
  EXPECT_TRUE(says(refusal(text("Pf\n1 1\n-1.0\nabc")), {"3 bytes follow its header, not 4"}));
  EXPECT_TRUE(says(refusal(text("Pf\n1 1\n-1.0\nabcde")), {"5 bytes"}));
  EXPECT_TRUE(says(refusal(text("Pf\n1 1\nx\nabcd")), {"scale"}));
  EXPECT_TRUE(says(refusal(text("Pf\n1 1\n0\nabcd")), {"scale"}));
  EXPECT_TRUE(says(refusal(text("Pf\n1 1\nnan\nabcd")), {"scale"}));
  const Picture scaled = decode(text(std::string_view("Pf\n1 1\n-2.5\n\0\0\0\0", 16)));
  EXPECT_TRUE(lists(scaled.found, "scale 2.5, not applied"));
}

}  // namespace
}  // namespace acuity::tests
