// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files that hold several pictures: one is chosen, or all are frames of a video.
#include "media/decode.h"
#include "media/video.h"

namespace acuity::tests {
namespace {

Picture decode_frame(const File& file, int64_t frame) {
  Result<Picture> picture = decode_picture(file, "test", {}, frame);
  EXPECT_TRUE(picture.ok()) << picture.status().message();
  return picture.ok() ? *picture : Picture();
}

struct Several {
  std::string format;
  Drawing drawing;
  File file;
};

std::vector<Several> three_of_each() {
  const Drawing rgb = draw(13, 9, 3, 8), rgba = draw(13, 9, 4, 8), deep = draw(13, 9, 3, 10);
  std::vector<PngFrameOptions> frames;
  for (int i = 0; i < 3; ++i) frames.push_back({.drawing = frame_of(rgba, i)});
  return {{"PNG", rgba, encode_png_animation(frames)},
          {"WebP", rgba, encode_webp(rgba, {.frames = 3})},
          {"AVIF", deep, encode_avif(deep, {.frames = 3})},
          {"JPEG XL", rgba, encode_jxl(rgba, {.frames = 3})},
          {"TIFF", rgb, encode_tiff(rgb, {.pages = 3})}};
}

TEST(Frames, OneIsChosen) {
  for (const Several& several : three_of_each()) {
    SCOPED_TRACE(several.format);
    for (int i = 0; i < 3; ++i) {
      const Picture picture = decode_frame(several.file, i);
      EXPECT_EQ(picture.format, several.format);
      expect_samples(picture, frame_of(several.drawing, i));
      EXPECT_TRUE(lists(picture.found, "picture " + std::to_string(i) + " of 3"));
    }
    EXPECT_TRUE(says(refusal(several.file), {"holds 3 pictures", "--frame N", "0 to 2"}));
    const Result<Picture> missing = decode_picture(several.file, "test", {}, 3);
    ASSERT_FALSE(missing.ok());
    EXPECT_TRUE(says(missing.status().message(), {"no picture 3", "holds 3"}));
  }
}

TEST(Frames, AFileOfOneHasNoOther) {
  const File file = encode_png(draw(5, 5, 3, 8));
  expect_samples(decode_frame(file, 0), draw(5, 5, 3, 8));
  const Result<Picture> missing = decode_picture(file, "test", {}, 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(says(missing.status().message(), {"no picture 1", "holds one", "leave out --frame"}));
}

TEST(Frames, AllAreAVideo) {
  for (Several& several : three_of_each()) {
    SCOPED_TRACE(several.format);
    auto source = open_video(fmemopen(several.file.data(), several.file.size(), "rb"), "test", {});
    ASSERT_TRUE(source.ok()) << source.status().message();
    EXPECT_EQ((*source)->format().frames, 3);
    EXPECT_TRUE(lists((*source)->format().found, several.format == "TIFF" ? "3 pages" : "3 frames"));
    EXPECT_EQ((*source)->format().rate.denominator == 0, several.format == "TIFF");
    VideoFrame frame;
    for (int i = 0; i < 3; ++i) {
      const Result<bool> more = (*source)->next(frame);
      ASSERT_TRUE(more.ok() && *more) << more.status().message();
      EXPECT_EQ(frame.index, i);
      expect_samples(*frame.picture, frame_of(several.drawing, i));
    }
    const Result<bool> more = (*source)->next(frame);
    EXPECT_TRUE(more.ok() && !*more);
  }
}

TEST(Frames, AreTimedAsTheFileSays) {
  const auto rate = [](File file) {
    auto source = open_video(fmemopen(file.data(), file.size(), "rb"), "test", {});
    EXPECT_TRUE(source.ok());
    return source.ok() ? describe((*source)->format().rate) : "";
  };
  const Drawing dot = flat(1, 1, {0});
  const File palette(6, 0);
  EXPECT_EQ(rate(encode_gif(1, 1, palette, {{.drawing = dot, .hundredths = 4}, {.drawing = dot, .hundredths = 4}})),
            "25 frames per second");
  EXPECT_EQ(rate(encode_gif(1, 1, palette, {{.drawing = dot, .hundredths = 10}, {.drawing = dot, .hundredths = 20}})),
            "20/3 frames per second");
  EXPECT_EQ(rate(encode_webp(draw(4, 4, 4, 8), {.frames = 2})), "10 frames per second");
  EXPECT_EQ(rate(encode_gif(1, 1, palette, {{.drawing = dot}})), "unknown frame rate");
}

TEST(Frames, OfPngAreDrawnOnWhatIsThere) {
  const std::vector<uint16_t> red = {200, 0, 0, 255}, half = {0, 100, 0, 128}, nothing = {50, 50, 50, 0};
  const File file = encode_png_animation({{.drawing = flat(3, 1, red)},
                                          {.drawing = flat(1, 1, half), .x = 1, .disposal = 2, .blend = 1},
                                          {.drawing = flat(1, 1, nothing), .x = 2, .blend = 1},
                                          {.drawing = flat(1, 1, nothing), .x = 2, .disposal = 1, .blend = 0},
                                          {.drawing = flat(1, 1, half), .x = 2, .blend = 1}});
  const auto pixel = [&](int frame, size_t x) {
    const Picture picture = decode_frame(file, frame);
    const std::vector<double> values = values_of(picture);
    const auto channels = static_cast<ptrdiff_t>(picture.view.channel_count());
    std::vector<double> samples(values.begin() + static_cast<ptrdiff_t>(x) * channels,
                                values.begin() + static_cast<ptrdiff_t>(x + 1) * channels);
    if (channels == 3) samples.push_back(255);
    return samples;
  };
  using Pixel = std::vector<double>;
  EXPECT_EQ(pixel(0, 1), (Pixel{200, 0, 0, 255}));
  EXPECT_EQ(pixel(1, 1), (Pixel{100, 50, 0, 255}));  // 200 * 127 / 255 = 99.6, 100 * 128 / 255 = 50.2
  EXPECT_EQ(pixel(2, 1), (Pixel{200, 0, 0, 255}));   // as it was before
  EXPECT_EQ(pixel(2, 2), (Pixel{200, 0, 0, 255}));   // nothing over something
  EXPECT_EQ(pixel(3, 2), (Pixel{50, 50, 50, 0}));    // in its place
  EXPECT_EQ(pixel(4, 2), (Pixel{0, 100, 0, 128}));   // cleared before
  EXPECT_EQ(decode_frame(file, 0).view.channels, Channels::rgb);
  EXPECT_EQ(decode_frame(file, 3).view.channels, Channels::rgba);
}

TEST(Frames, OfPngMayHaveAPaletteOrAStillThatIsNotAmongThem) {
  const Drawing indices{4, 1, 1, 2, {0, 1, 2, 3}};
  const PngOptions options{.palette = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2}};
  const File file = encode_png_animation({{.drawing = indices}, {.drawing = frame_of(indices, 3)}}, true, options);
  EXPECT_EQ(values_of(decode_frame(file, 0)), values_of(decode(encode_png(indices, options))));
  EXPECT_EQ(values_of(decode_frame(file, 1)), values_of(decode(encode_png(frame_of(indices, 3), options))));
}

TEST(Frames, OfPngAreRefusedWhereDamaged) {
  const File file = encode_png_animation({{.drawing = draw(5, 4, 3, 8)}, {.drawing = draw(5, 4, 3, 8)}});
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(decode_picture(std::span(file).first(size), "bad.file", {}, 1).ok()) << size;
  }
  for (size_t i = 8; i < file.size(); ++i) {
    File bad = file;
    bad[i] ^= 1;
    // A wrong name of a chunk may turn out as another length or a missing frame, never as a picture.
    EXPECT_FALSE(decode_picture(bad, "bad.file", {}, 1).ok()) << i;
  }
  EXPECT_TRUE(says(refusal(encode_png_animation({{.drawing = draw(5, 4, 3, 8)}, {.drawing = draw(5, 4, 3, 8), .x = 1}}),
                           StatusCode::input),
                   {"holds 2"}));
  const Result<Picture> beyond = decode_picture(
      encode_png_animation({{.drawing = draw(5, 4, 3, 8)}, {.drawing = draw(5, 4, 3, 8), .x = 1}}), "bad.file", {}, 1);
  ASSERT_FALSE(beyond.ok());
  EXPECT_TRUE(says(beyond.status().message(), {"beyond its canvas"}));
}

}  // namespace
}  // namespace acuity::tests
