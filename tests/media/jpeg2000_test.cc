// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Jpeg2000, KeepsEverySampleOfLosslessFiles) {
  for (const int channels : {1, 2, 3, 4}) {
    for (const int bits : {8, 10, 12, 16}) {
      const Drawing drawing = draw(17, 11, channels, bits);
      expect_samples(decode(encode_jpeg2000(drawing)), drawing);
      if (channels % 2 == 1) expect_samples(decode(encode_jpeg2000(drawing, {.container = false})), drawing);
    }
  }
  EXPECT_TRUE(lists(decode(encode_jpeg2000(draw(8, 8, 3, 8))).found, "sRGB"));
  EXPECT_TRUE(lists_only(decode(encode_jpeg2000(draw(8, 8, 3, 8), {.container = false})).assumed, "sRGB"));
}

TEST(Jpeg2000, StretchesFewBits) {
  EXPECT_EQ(values_of(decode(encode_jpeg2000({2, 2, 1, 4, {0, 1, 14, 15}}))), (std::vector<double>{0, 17, 238, 255}));
  const Picture six = decode(encode_jpeg2000({2, 2, 1, 6, {0, 1, 62, 63}}));
  EXPECT_EQ(six.view.type, SampleType::f32);
  EXPECT_LE(distance(values_of(six), {0, 1 / 63.0, 62 / 63.0, 1}), 1e-7);
}

TEST(Jpeg2000, ConvertsYcc) {
  for (const int halved : {0, 1, 2}) {
    // Red of BT.601 in full range.
    const Picture picture = decode(encode_jpeg2000(flat(9, 7, {76, 85, 255}), {.sycc = true, .halved = halved}));
    const std::vector<double> values = values_of(picture);
    for (size_t i = 0; i < values.size(); i += 3) {
      EXPECT_NEAR(values[i], 1, 0.005);
      EXPECT_NEAR(values[i + 1], 0, 0.005);
      EXPECT_NEAR(values[i + 2], 0, 0.005);
    }
    EXPECT_TRUE(lists(picture.found, "sYCC"));
  }
}

TEST(Jpeg2000, TakesOnlyOpacityForAlpha) {
  const Drawing drawing = draw(9, 7, 4, 8);
  File file = encode_jpeg2000(drawing);
  constexpr std::string_view kType = "cdef";
  const auto box = std::search(file.begin(), file.end(), kType.begin(), kType.end());
  ASSERT_NE(box, file.end());
  // After the number of channels: for each its number, its kind and its colour, in two bytes each.
  std::fill_n(box + 4 + 2 + 3 * 6 + 2, 4, uint8_t{0xff});  // the fourth: of no kind
  const Picture picture = decode(file);
  std::vector<double> expected = values_of(drawing), colours;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i % 4 != 3) colours.push_back(expected[i]);
  }
  EXPECT_EQ(picture.view.channels, Channels::rgb);
  EXPECT_EQ(values_of(picture), colours);
  EXPECT_TRUE(lists(picture.found, "1 more samples per pixel, ignored"));
}

TEST(Jpeg2000, RefusesWhatHasNoMeaning) {
  EXPECT_TRUE(says(refusal(encode_jpeg2000(draw(8, 8, 4, 8), {.alpha = false})), {"4 components of colour"}));
  EXPECT_TRUE(says(refusal(encode_jpeg2000(flat(8, 8, {1, 2, 3}), {.signed_samples = 1})), {"signed"}));
  EXPECT_TRUE(says(refusal(encode_jpeg2000(draw(8, 8, 3, 8), {.halved = 2})), {"different sizes"}));
}

TEST(Jpeg2000, RefusesColoursThatItCannotTell) {
  File file = encode_jpeg2000(draw(8, 8, 3, 8));
  constexpr std::string_view kType = "colr";
  const auto box = std::search(file.begin(), file.end(), kType.begin(), kType.end());
  ASSERT_NE(box, file.end());
  uint8_t &method = box[4], &space = box[10];
  for (const int other : {1, 3, 20, 21}) {  // Y'CbCr of BT.709 and of BT.601, e-sRGB, ROMM RGB
    space = static_cast<uint8_t>(other);
    EXPECT_TRUE(says(refusal(file), {"colour space " + std::to_string(other), "convert it to sRGB"}));
  }
  method = 3;  // any ICC profile
  EXPECT_TRUE(says(refusal(file), {"by method 3"}));
  method = 1;
  space = 0;
  EXPECT_TRUE(lists_only(decode(file).assumed, "sRGB"));
}

}  // namespace
}  // namespace acuity::tests
