// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Tga, KeepsEverySample) {
  for (const int channels : {1, 3, 4}) {
    for (const bool run_length : {false, true}) {
      Drawing drawing = draw(7, 5, channels, 8);
      std::fill_n(drawing.samples.begin() + 8, 24, uint16_t{77});  // something to run over
      for (const bool top : {false, true}) {
        for (const bool right : {false, true}) {
          expect_samples(decode(encode_tga(drawing, {.run_length = run_length, .top = top, .right = right})), drawing);
        }
      }
    }
  }
}

TEST(Tga, LooksPalettesUp) {
  const Drawing indices{3, 1, 1, 8, {1, 0, 2}};
  const File palette = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(values_of(decode(encode_tga(indices, {.palette = palette}))),
            (std::vector<double>{4, 5, 6, 1, 2, 3, 7, 8, 9}));
  EXPECT_TRUE(says(refusal(encode_tga(flat(2, 2, {3}), {.palette = palette})), {"colour 3"}));
}

TEST(Tga, StretchesFiveBits) {
  const Drawing drawing{2, 1, 3, 5, {0, 15, 31, 31, 0, 1}};
  EXPECT_EQ(values_of(decode(encode_tga(drawing, {.bits = 16}))), (std::vector<double>{0, 123, 255, 255, 0, 8}));
}

TEST(Tga, HasAlphaOnlyWhereTheFileSaysSo) {
  const Drawing drawing{1, 1, 4, 8, {60, 30, 15, 120}};
  EXPECT_EQ(decode(encode_tga(drawing, {.attribute_bits = 0})).view.channels, Channels::rgb);
  EXPECT_TRUE(lists(decode(encode_tga(drawing, {.attribute_bits = 0})).assumed, "opaque"));
  EXPECT_EQ(decode(encode_tga(drawing, {.alpha_kind = 0})).view.channels, Channels::rgb);
  expect_samples(decode(encode_tga(drawing, {.alpha_kind = 3})), drawing);
  const Picture premultiplied = decode(encode_tga(drawing, {.alpha_kind = 4}));
  EXPECT_LE(distance(values_of(premultiplied), {0.5, 0.25, 0.125, 120 / 255.0}), 1e-7);
}

TEST(Tga, IsOnlyWhatMakesSense) {
  // Without a mark at the beginning, hardly anything else may be taken for it.
  for (size_t i = 0; i < 18; ++i) {
    if ((i >= 8 && i < 16) || i == 0) continue;  // the origin, the size and the length of a comment may be anything
    File file = encode_tga(draw(7, 5, 3, 8));
    file[i] = 0xcc;
    EXPECT_TRUE(says(refusal(file), {"known format"})) << i;
  }
}

TEST(Tga, RunsStayWithinThePicture) {
  File file = encode_tga(flat(3, 2, {1, 2, 3}), {.run_length = true});
  file[18] = 0x86;
  EXPECT_TRUE(says(refusal(file), {"beyond"}));
}

}  // namespace
}  // namespace acuity::tests
