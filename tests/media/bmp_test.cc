// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Bmp, KeepsEverySample) {
  for (const bool top_down : {false, true}) {
    expect_samples(decode(encode_bmp(draw(7, 5, 3, 8), {.top_down = top_down})), draw(7, 5, 3, 8));
  }
  for (const int header : {12, 40, 52, 56, 64, 108, 124}) {
    expect_samples(decode(encode_bmp(draw(7, 5, 3, 8), {.header = header})), draw(7, 5, 3, 8));
  }
}

TEST(Bmp, HasAlphaWhereAMaskSaysSo) {
  const Drawing drawing = draw(7, 5, 4, 8);
  const std::vector<uint32_t> masks = {0xff0000, 0xff00, 0xff, 0xff000000};
  for (const int header : {56, 108, 124}) {
    expect_samples(decode(encode_bmp(drawing, {.header = header, .bits = 32, .compression = 3, .masks = masks})),
                   drawing);
  }
  expect_samples(decode(encode_bmp(drawing, {.bits = 32, .compression = 6, .masks = masks})), drawing);
  const Picture opaque = decode(encode_bmp(drawing, {.bits = 32}));
  EXPECT_EQ(opaque.view.channels, Channels::rgb);
  EXPECT_TRUE(lists(opaque.assumed, "opaque"));
}

TEST(Bmp, StretchesSixteenBits) {
  const Drawing drawing{3, 1, 3, 5, {0, 15, 31, 31, 0, 1, 16, 30, 2}};
  EXPECT_EQ(values_of(decode(encode_bmp(drawing, {.bits = 16}))),
            (std::vector<double>{0, 123, 255, 255, 0, 8, 132, 247, 16}));
  EXPECT_TRUE(
      says(refusal(encode_bmp(drawing, {.bits = 16, .compression = 3, .masks = {0xffc0, 0x38, 7}})), {"0000ffc0"}));
  EXPECT_TRUE(
      says(refusal(encode_bmp(drawing, {.bits = 16, .compression = 3, .masks = {0xf0f0, 8, 7}})), {"0000f0f0"}));
}

TEST(Bmp, LooksPalettesUp) {
  for (const int bits : {1, 4, 8}) {
    const Drawing indices = draw(9, 5, 1, bits);
    File palette;
    for (int i = 0; i < 1 << bits; ++i) {
      for (int c = 0; c < 3; ++c) palette.push_back(static_cast<uint8_t>(5 * i + c));
    }
    std::vector<double> expected;
    for (const uint16_t index : indices.samples) {
      for (size_t c = 0; c < 3; ++c) expected.push_back(palette[size_t{3} * index + c]);
    }
    for (const int header : {12, 40}) {
      EXPECT_EQ(values_of(decode(encode_bmp(indices, {.header = header, .bits = bits, .palette = palette}))), expected);
    }
    if (bits == 1) continue;
    palette.resize(3);
    EXPECT_TRUE(says(refusal(encode_bmp(indices, {.bits = bits, .palette = palette})), {"of 1"}));
  }
}

TEST(Bmp, ExpandsRuns) {
  const File palette = {0, 0, 0, 10, 11, 12, 20, 21, 22, 30, 31, 32};
  const Drawing size{4, 2, 1, 8, {}};
  const auto indices = [&](const File& pixels, int compression) {
    std::vector<int> list;
    const std::vector<double> values = values_of(decode(encode_bmp(
        size, {.bits = compression == 1 ? 8 : 4, .compression = compression, .palette = palette, .pixels = pixels})));
    for (size_t i = 0; i < values.size(); i += 3) list.push_back(static_cast<int>(values[i]) / 10);
    return list;
  };
  using Indices = std::vector<int>;
  EXPECT_EQ(indices({4, 2, 0, 0, 0, 3, 1, 2, 3, 0, 1, 1, 0, 0, 0, 1}, 1), (Indices{1, 2, 3, 1, 2, 2, 2, 2}));
  EXPECT_EQ(indices({4, 0x12, 0, 0, 0, 4, 0x32, 0x10, 0, 1}, 2), (Indices{3, 2, 1, 0, 1, 2, 1, 2}));
  EXPECT_EQ(indices({1, 3, 0, 2, 2, 1, 1, 2, 0, 1}, 1), (Indices{0, 0, 0, 2, 3, 0, 0, 0}));
  const auto wrong = [&](const File& pixels) {
    return refusal(encode_bmp(size, {.bits = 8, .compression = 1, .palette = palette, .pixels = pixels}));
  };
  EXPECT_TRUE(says(wrong({5, 1, 0, 1}), {"beyond"}));
  EXPECT_TRUE(says(wrong({4, 1, 0, 0, 4, 1, 0, 0, 1, 1, 0, 1}), {"beyond"}));
  EXPECT_TRUE(says(wrong({4, 1}), {"ends within its pixels"}));
  EXPECT_TRUE(says(wrong({0, 4, 1, 2}), {"ends within its pixels"}));
  EXPECT_TRUE(says(wrong({4, 9, 0, 1}), {"colour 9 of 4"}));
  const Picture part =
      decode(encode_bmp(size, {.bits = 8, .compression = 1, .palette = palette, .pixels = {1, 1, 0, 1}}));
  EXPECT_TRUE(lists(part.assumed, "leaves pixels out"));
}

TEST(Bmp, ReadsItsProfile) {
  const Picture picture = decode(encode_bmp(draw(7, 5, 3, 8), {.header = 124, .icc = rgb_profile()}));
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, rgb_profile());
}

TEST(Bmp, RefusesOtherKinds) {
  EXPECT_TRUE(says(refusal(encode_bmp(draw(7, 5, 3, 8), {.compression = 4})), {"compression 4"}));
  EXPECT_TRUE(
      says(refusal(encode_bmp(draw(7, 5, 1, 8), {.bits = 8, .compression = 1, .top_down = true, .palette = File(768)})),
           {"compression 1"}));
}

}  // namespace
}  // namespace acuity::tests
