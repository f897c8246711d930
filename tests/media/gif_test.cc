// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

const File kPalette = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9};  // red, green, blue, dark

Drawing indices(int width, int height, std::vector<uint16_t> samples) {
  Drawing drawing;
  drawing.width = width;
  drawing.height = height;
  drawing.channels = 1;
  drawing.samples = std::move(samples);
  return drawing;
}

// One letter a pixel: r, g, b, d, and a dot where nothing is seen.
std::string seen(const Picture& picture) {
  std::string text;
  const std::vector<double> values = values_of(picture);
  const auto channels = static_cast<size_t>(picture.view.channel_count());
  for (size_t i = 0; i < values.size(); i += channels) {
    if (i > 0 && i / channels % static_cast<size_t>(picture.view.width) == 0) text += '/';
    text += channels == 4 && values[i + 3] == 0 ? '.'
            : values[i] == 255                  ? 'r'
            : values[i + 1] == 255              ? 'g'
            : values[i + 2] == 255              ? 'b'
                                                : 'd';
  }
  return text;
}

Picture decode_frame(const File& file, int64_t frame) {
  Result<Picture> picture = decode_picture(file, "test", {}, frame);
  EXPECT_TRUE(picture.ok()) << picture.status().message();
  return picture.ok() ? *picture : Picture();
}

TEST(Gif, IsAPictureLikeOthers) {
  const Picture picture = decode(encode_gif(3, 2, kPalette, {{.drawing = indices(3, 2, {0, 1, 2, 2, 1, 0})}}));
  EXPECT_EQ(picture.format, "GIF");
  EXPECT_EQ(picture.view.channels, Channels::rgb);
  EXPECT_EQ(seen(picture), "rgb/bgr");
  EXPECT_TRUE(lists_only(picture.assumed, "sRGB"));
}

TEST(Gif, KnowsTransparency) {
  const Picture picture =
      decode(encode_gif(3, 2, kPalette, {{.drawing = indices(3, 2, {0, 1, 3, 2, 3, 0}), .transparent = 3}}));
  EXPECT_EQ(picture.view.channels, Channels::rgba);
  EXPECT_TRUE(lists(picture.found, "alpha"));
  EXPECT_EQ(seen(picture), "rg./b.r");
}

TEST(Gif, PutsRowsOfInterlacedFilesInOrder) {
  Drawing drawing = draw(5, 19, 1, 2);
  const File plain = encode_gif(5, 19, kPalette, {{.drawing = drawing}});
  const File interlaced = encode_gif(5, 19, kPalette, {{.drawing = drawing, .interlaced = true}});
  EXPECT_EQ(values_of(decode(plain)), values_of(decode(interlaced)));
}

TEST(Gif, FramesAreDrawnOnWhatIsThere) {
  const auto dot = [](int x, int index, int disposal) {
    return GifFrameOptions{.drawing = indices(1, 1, {static_cast<uint16_t>(index)}), .x = x, .disposal = disposal};
  };
  const File file = encode_gif(4, 1, kPalette,
                               {{.drawing = indices(4, 1, {0, 3, 3, 0}), .transparent = 3},
                                dot(1, 1, 3),  // goes away again
                                dot(2, 2, 2),  // leaves nothing behind
                                dot(0, 1, 1)});
  EXPECT_EQ(seen(decode_frame(file, 0)), "r..r");
  EXPECT_EQ(seen(decode_frame(file, 1)), "rg.r");
  EXPECT_EQ(seen(decode_frame(file, 2)), "r.br");
  EXPECT_EQ(seen(decode_frame(file, 3)), "g..r");
  EXPECT_TRUE(lists(decode_frame(file, 3).found, "picture 3 of 4"));
  EXPECT_TRUE(says(refusal(file), {"holds 4 pictures", "--frame N", "0 to 3"}));
}

TEST(Gif, FramesMayHaveColoursOfTheirOwn) {
  const File file = encode_gif(1, 1, kPalette, {{.drawing = indices(1, 1, {1}), .palette = {0, 0, 255, 255, 0, 0}}});
  EXPECT_EQ(seen(decode(file)), "r");
}

TEST(Gif, RefusesWhatCannotBe) {
  EXPECT_TRUE(says(refusal(encode_gif(2, 2, kPalette, {{.drawing = flat(2, 2, {0}), .x = 1}})), {"beyond its canvas"}));
  EXPECT_TRUE(says(refusal(encode_gif(2, 2, kPalette, {})), {"no picture"}));
  EXPECT_TRUE(
      says(refusal(encode_gif(1, 1, {1, 2, 3, 4, 5, 6}, {{.drawing = indices(1, 1, {3})}})), {"colour 3 of 2"}));
}

}  // namespace
}  // namespace acuity::tests
