// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples go through Y'CbCr of 8 bits, so that they come out near what went in.
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Heic, IsAPictureWithAlpha) {
  for (const int channels : {3, 4}) {
    const Drawing drawing = draw(64, 48, channels, 8);
    const Picture picture = decode(encode_heic(drawing));
    EXPECT_EQ(picture.format, "HEIC");
    EXPECT_EQ(picture.view.channel_count(), channels);
    EXPECT_EQ(picture.view.width, 64);
    EXPECT_EQ(picture.view.height, 48);
    std::vector<double> expected = values_of(drawing);
    for (double& value : expected) value /= 255;
    EXPECT_LE(distance(values_of(picture), expected), 3 / 255.0);
    EXPECT_TRUE(lists(picture.found, "yuv444p"));
  }
}

TEST(Heic, MayHaveMoreThanEightBits) {
  for (const int bits : {10, 12}) {
    const Drawing drawing = draw(64, 48, 3, bits);
    const Picture picture = decode(encode_heic(drawing));
    const double most = (1 << bits) - 1;
    std::vector<double> expected = values_of(drawing);
    for (double& value : expected) value /= most;
    EXPECT_LE(distance(values_of(picture), expected), 3 / most) << bits;
    EXPECT_TRUE(lists(picture.found, std::to_string(bits) + "-bit RGB"));
  }
}

TEST(Heic, MayBeAGridOfTiles) {
  const Drawing left = flat(64, 64, {250, 10, 10}), right = flat(64, 64, {10, 10, 250});
  for (const int width : {128, 100}) {
    const Picture picture = decode(encode_heic_grid(left, right, width, 60));
    ASSERT_EQ(picture.view.width, width);
    ASSERT_EQ(picture.view.height, 60);
    const std::vector<double> values = values_of(picture);
    for (const auto& [x, red] : {std::pair<size_t, double>{0, 250}, {63, 250}, {64, 10}, {99, 10}}) {
      EXPECT_NEAR(255 * values[3 * (59 * static_cast<size_t>(width) + x)], red, 3) << x;
    }
  }
  EXPECT_TRUE(says(refusal(encode_heic_grid(left, right, 130, 60)), {"the tiles of its grid do not cover it"}));
}

TEST(Heic, IsTurned) {
  Drawing drawing = flat(64, 32, {0, 0, 0});
  std::fill_n(drawing.samples.begin(), 3 * 64 * 8, uint16_t{255});      // a white band at the top
  const Picture picture = decode(encode_heic(drawing, {.turned = 6}));  // which is then at the right
  ASSERT_EQ(picture.view.width, 32);
  ASSERT_EQ(picture.view.height, 64);
  const std::vector<double> values = values_of(picture);
  EXPECT_LE(values[0], 0.01);
  EXPECT_GE(values[3 * 31], 0.99);
}

TEST(Heic, ReadsItsProfile) {
  const Picture picture = decode(encode_heic(draw(64, 48, 3, 8), {.icc = rgb_profile()}));
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, rgb_profile());
}

}  // namespace
}  // namespace acuity::tests
