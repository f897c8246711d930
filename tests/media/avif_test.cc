// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Avif, KeepsEverySampleOfLosslessFiles) {
  for (int bits : {8, 10, 12}) {
    for (int channels : {1, 2, 3, 4}) {
      const Drawing drawing = draw(17, 11, channels, bits);
      const Picture picture = decode(encode_avif(drawing));
      expect_samples(picture, drawing);
      EXPECT_TRUE(lists(picture.found, "full range"));
      EXPECT_TRUE(picture.assumed.empty());
    }
  }
}

TEST(Avif, ReadsEveryChromaFormat) {
  for (int bits : {8, 10, 12}) {
    const auto full = static_cast<uint16_t>((1 << bits) - 1);
    for (int format : {1, 2, 3}) {
      for (bool full_range : {false, true}) {
        const Drawing drawing =
            flat(19, 13, {full, static_cast<uint16_t>(full / 2), static_cast<uint16_t>(full / 4)}, bits);
        const Picture picture = decode(encode_avif(drawing, {.format = format, .full_range = full_range, .matrix = 1}));
        EXPECT_EQ(picture.view.depth, bits);
        EXPECT_LE(distance(values_of(picture), values_of(drawing)), 2) << bits << " bits, format " << format;
        EXPECT_TRUE(lists(picture.found, full_range ? "full range" : "limited range"));
      }
    }
  }
}

TEST(Avif, ExpandsLimitedRange) {
  const Drawing luma{4, 1, 1, 8, {16, 235, 0, 255}};
  EXPECT_EQ(values_of(decode(encode_avif(luma, {.full_range = false}))), (std::vector<double>{0, 255, 0, 255}));
  const Drawing white = flat(2, 2, {235, 128, 128});
  for (const double value : values_of(decode(encode_avif(white, {.full_range = false, .matrix = 1, .planes = true})))) {
    EXPECT_EQ(value, 255);
  }
}

TEST(Avif, ReadsCodePoints) {
  const Drawing drawing = draw(8, 8, 3, 10);
  const Picture pq = decode(encode_avif(drawing, {.primaries = 9, .transfer = 16}));
  EXPECT_EQ(pq.view.colour.transfer, Transfer::pq);
  EXPECT_EQ(pq.view.colour.primaries, Primaries::bt2020);
  const Picture p3 = decode(encode_avif(drawing, {.primaries = 12, .transfer = 13}));
  EXPECT_EQ(p3.view.colour.transfer, Transfer::srgb);
  EXPECT_EQ(p3.view.colour.primaries, Primaries::display_p3);
  const Picture nothing = decode(encode_avif(drawing, {.format = 1, .primaries = 2, .transfer = 2, .matrix = 2}));
  EXPECT_EQ(nothing.view.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(lists(nothing.assumed, "sRGB"));
  EXPECT_TRUE(lists(nothing.assumed, "BT.601 matrix"));
  EXPECT_TRUE(says(refusal(encode_avif(drawing, {.transfer = 17})), {"transfer function 17"}));
}

TEST(Avif, PrefersTheProfile) {
  const Drawing drawing = draw(8, 8, 3, 8);
  const Picture picture = decode(encode_avif(drawing, {.primaries = 9, .transfer = 16, .icc = rgb_profile()}));
  expect_samples(picture, drawing);
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, rgb_profile());
  EXPECT_EQ(picture.view.colour.transfer, Transfer::srgb);
  EXPECT_TRUE(says(refusal(encode_avif(drawing, {.icc = File(200, 'x')})), {"remove the profile"}));
}

TEST(Avif, TurnsAndMirrors) {
  const auto turned = [](int quarter_turns, int mirror) {
    return spell(decode(encode_avif(letters(3), {.quarter_turns = quarter_turns, .mirror = mirror})));
  };
  EXPECT_EQ(turned(-1, -1), "abc/def");
  EXPECT_EQ(turned(0, -1), "abc/def");
  EXPECT_EQ(turned(1, -1), "cf/be/ad");  // against the clock
  EXPECT_EQ(turned(2, -1), "fed/cba");
  EXPECT_EQ(turned(3, -1), "da/eb/fc");
  EXPECT_EQ(turned(-1, 0), "def/abc");  // top and bottom change places
  EXPECT_EQ(turned(-1, 1), "cba/fed");
  EXPECT_EQ(turned(1, 0), "ad/be/cf");
  EXPECT_EQ(turned(1, 1), "fc/eb/da");
  EXPECT_EQ(turned(2, 0), "cba/fed");
  EXPECT_EQ(turned(2, 1), "def/abc");
  EXPECT_EQ(turned(3, 0), "fc/eb/da");
  EXPECT_EQ(turned(3, 1), "ad/be/cf");
}

TEST(Avif, CropsBeforeItTurns) {
  const Picture cropped = decode(encode_avif(letters(3), {.crop = {1, 0, 2, 2}}));
  EXPECT_EQ(cropped.view.width, 2);
  EXPECT_EQ(spell(cropped), "bc/ef");
  EXPECT_TRUE(lists(cropped.found, "cropped from 3x2"));
  EXPECT_EQ(spell(decode(encode_avif(letters(3), {.quarter_turns = 3, .crop = {1, 0, 2, 2}}))), "eb/fc");
}

TEST(Avif, DividesPremultipliedAlphaOut) {
  const Drawing drawing{3, 1, 4, 8, {60, 30, 15, 120, 7, 8, 9, 255, 0, 0, 0, 0}};
  const Picture picture = decode(encode_avif(drawing, {.premultiplied = true}));
  EXPECT_EQ(picture.view.type, SampleType::f32);
  const std::vector<double> expected{0.5, 0.25, 0.125, 120 / 255.0, 7 / 255.0, 8 / 255.0, 9 / 255.0, 1, 0, 0, 0, 0};
  EXPECT_LE(distance(values_of(picture), expected), 1e-7);
  const Drawing impossible{1, 1, 4, 8, {60, 30, 15, 0}};
  EXPECT_TRUE(says(refusal(encode_avif(impossible, {.premultiplied = true})), {"(0, 0)"}));
}

TEST(Avif, RefusesSequences) {
  EXPECT_TRUE(says(refusal(encode_avif(draw(16, 16, 3, 8), {.frames = 3})), {"3 frames"}));
}

}  // namespace
}  // namespace acuity::tests
