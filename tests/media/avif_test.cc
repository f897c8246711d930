// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <avif/avif.h>

#include "media/decode.h"
#include "media/video.h"

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
        EXPECT_EQ(picture.view.type, SampleType::f32);
        std::vector<double> expected = values_of(drawing);
        for (double& value : expected) value /= full;
        EXPECT_LE(distance(values_of(picture), expected), 2.0 / full) << bits << " bits, format " << format;
        EXPECT_TRUE(lists(picture.found, full_range ? "full range" : "limited range"));
        EXPECT_EQ(picture.assumed.size(), format == 1 ? 0u : 1u);  // where colour is sited
      }
    }
  }
}

// The samples as libavif decodes them, converted as a frame of video.
std::vector<double> as_video(const File& file, Matrix matrix, Siting siting) {
  avifDecoder* decoder = avifDecoderCreate();
  avifDecoderSetIOMemory(decoder, file.data(), file.size());
  EXPECT_EQ(avifDecoderParse(decoder), AVIF_RESULT_OK);
  EXPECT_EQ(avifDecoderNextImage(decoder), AVIF_RESULT_OK);
  const avifImage& image = *decoder->image;
  VideoFormat format;
  format.width = static_cast<int>(image.width);
  format.height = static_cast<int>(image.height);
  format.depth = static_cast<int>(image.depth);
  format.subsampling = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV420   ? Subsampling::yuv420
                       : image.yuvFormat == AVIF_PIXEL_FORMAT_YUV422 ? Subsampling::yuv422
                                                                     : Subsampling::yuv444;
  format.full_range = image.yuvRange == AVIF_RANGE_FULL;
  format.matrix = matrix;
  format.siting = siting;
  VideoFrame frame;
  for (size_t p = 0; p < 3; ++p) {
    const int width = p == 0 ? format.width : format.chroma_width();
    const int height = p == 0 ? format.height : format.chroma_height();
    for (int y = 0; y < height; ++y) {
      const uint8_t* row = image.yuvPlanes[p] + static_cast<size_t>(y) * image.yuvRowBytes[p];
      frame.samples.insert(frame.samples.end(), row, row + width * (format.depth > 8 ? 2 : 1));
    }
  }
  Picture picture;
  FrameConverter convert;
  picture.view = convert(format, frame, Threads(1));
  const std::vector<double> values = values_of(picture);
  avifDecoderDestroy(decoder);
  return values;
}

TEST(Avif, BecomesRgbAsVideoDoes) {
  for (const int bits : {8, 10}) {
    for (const int format : {1, 2, 3}) {
      // AV1 has a number for where colour lies in 4:2:0 alone.
      for (const int siting : format == 3 ? std::vector<int>{0, 1, 2} : std::vector<int>{0}) {
        // More rows than are converted at once, and odd sizes.
        const File file =
            encode_avif(draw(21, 141, 3, bits), {.format = format, .full_range = false, .matrix = 9, .siting = siting});
        const Siting meant[] = {Siting::centre, Siting::left, Siting::top_left};
        const Picture picture = decode(file);
        EXPECT_EQ(values_of(picture), as_video(file, Matrix::bt2020, meant[siting]))
            << bits << " " << format << " " << siting;
        if (format > 1) {
          EXPECT_TRUE(lists(siting == 0 ? picture.assumed : picture.found, "chroma sited"));
        }
      }
    }
  }
}

TEST(Avif, ExpandsLimitedRange) {
  const Drawing luma{4, 1, 1, 8, {16, 235, 0, 255}};
  EXPECT_LE(distance(values_of(decode(encode_avif(luma, {.full_range = false}))), {0, 1, 0, 1}), 1e-7);
  const Drawing white = flat(2, 2, {235, 128, 128});
  for (const double value : values_of(decode(encode_avif(white, {.full_range = false, .matrix = 1, .planes = true})))) {
    EXPECT_NEAR(value, 1, 1e-7);
  }
}

TEST(Avif, RefusesOtherEquations) {
  EXPECT_TRUE(says(refusal(encode_avif(draw(8, 8, 3, 8), {.matrix = 8})), {"matrix 8"}));
  EXPECT_TRUE(says(refusal(encode_avif(draw(8, 8, 3, 8), {.full_range = false, .planes = true})), {"limited range"}));
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

}  // namespace
}  // namespace acuity::tests
