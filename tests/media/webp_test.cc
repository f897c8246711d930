// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Webp, KeepsEverySampleOfLosslessFiles) {
  for (int channels : {3, 4}) {
    const Drawing drawing = draw(21, 13, channels, 8);
    const Picture picture = decode(encode_webp(drawing));
    expect_samples(picture, drawing);
    EXPECT_TRUE(lists_only(picture.assumed, "sRGB"));
  }
}

TEST(Webp, ReadsLossyFiles) {
  const Picture picture = decode(encode_webp(flat(32, 16, {200, 100, 50}), {.lossless = false}));
  EXPECT_EQ(picture.view.channels, Channels::rgb);
  EXPECT_LE(distance(values_of(picture), values_of(flat(32, 16, {200, 100, 50}))), 6);
  const Picture with_alpha = decode(encode_webp(flat(32, 16, {200, 100, 50, 77}), {.lossless = false}));
  EXPECT_EQ(with_alpha.view.channels, Channels::rgba);
  EXPECT_TRUE(lists(with_alpha.found, "alpha"));
  EXPECT_EQ(values_of(with_alpha)[3], 77);
}

TEST(Webp, ReadsTheProfile) {
  const Drawing drawing = draw(8, 8, 4, 8);
  const Picture picture = decode(encode_webp(drawing, {.icc = rgb_profile()}));
  expect_samples(picture, drawing);
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, rgb_profile());
  EXPECT_TRUE(says(refusal(encode_webp(drawing, {.icc = File(200, 'x')})), {"remove the profile"}));
}

TEST(Webp, TurnsAsExifSays) {
  EXPECT_EQ(spell(decode(encode_webp(letters(3), {.exif = exif(6)}))), "da/eb/fc");
  File prefixed;
  append(prefixed, std::string_view("Exif\0\0", 6));
  const File data = exif(8, false);
  prefixed.insert(prefixed.end(), data.begin(), data.end());
  EXPECT_EQ(spell(decode(encode_webp(letters(3), {.exif = prefixed}))), "cf/be/ad");
}

}  // namespace
}  // namespace acuity::tests
