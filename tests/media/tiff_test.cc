// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <limits>

#include "media/decode.h"

namespace acuity::tests {
namespace {

constexpr int kMinIsWhite = 0, kPalette = 3, kSeparated = 5, kYCbCr = 6;
constexpr int kLzw = 5, kJpeg = 7, kDeflate = 8, kPackBits = 32773, kFax4 = 4;

TEST(Tiff, KeepsEverySampleInEveryArrangement) {
  for (int bits : {8, 12, 16}) {
    for (int channels : {1, 2, 3, 4}) {
      for (int planar : {1, 2}) {
        for (int tile : {0, 16}) {
          const Drawing drawing = draw(37, 21, channels, bits);
          const Picture picture = decode(
              encode_tiff(drawing, {.compression = kDeflate, .tile = tile, .rows_per_strip = 4, .planar = planar}));
          expect_samples(picture, drawing);
          EXPECT_TRUE(lists_only(picture.assumed, "sRGB"));
        }
      }
    }
  }
}

TEST(Tiff, ReadsBothByteOrdersBigFilesAndCompressions) {
  const Drawing drawing = draw(20, 10, 3, 16);
  for (int compression : {1, kLzw, kDeflate, kPackBits}) {
    for (bool big_endian : {false, true}) {
      for (bool big_tiff : {false, true}) {
        const TiffOptions options{.compression = compression, .big_endian = big_endian, .big_tiff = big_tiff};
        expect_samples(decode(encode_tiff(drawing, options)), drawing);
      }
    }
  }
}

TEST(Tiff, ReadsJpegInside) {
  const Drawing drawing = flat(32, 32, {200, 100, 50});
  const Picture picture =
      decode(encode_tiff(drawing, {.photometric = kYCbCr, .compression = kJpeg, .rows_per_strip = 16}));
  EXPECT_LE(distance(values_of(picture), values_of(drawing)), 2);
}

TEST(Tiff, DoesNotTakeSeparatePlanesOfYCbCrForRgb) {
  const TiffOptions options{.photometric = kYCbCr, .compression = kJpeg, .planar = 2};
  EXPECT_TRUE(says(refusal(encode_tiff(flat(32, 32, {76, 85, 255}), options)), {"photometric kind 6"}));
}

TEST(Tiff, DoesNotCallAnUnknownCompressionDamage) {
  File file = encode_tiff(draw(8, 8, 3, 8));
  const File none = {0x03, 0x01, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00};  // the tag, one number, and that
  const auto tag = std::search(file.begin(), file.end(), none.begin(), none.end());
  ASSERT_NE(tag, file.end());
  tag[8] = 50002 & 0xff;  // JPEG XL
  tag[9] = 50002 >> 8;
  const std::string message = refusal(file);
  EXPECT_TRUE(says(message, {"compression 50002", "convert it"}));
  EXPECT_EQ(message.find("damaged"), std::string::npos) << message;
}

TEST(Tiff, ReadsBilevelAndFewBits) {
  for (int bits : {1, 2, 4}) {
    for (int compression : {1, bits == 1 ? kFax4 : kLzw}) {
      const Drawing drawing = draw(21, 5, 1, bits);
      const int maximum = (1 << bits) - 1;
      std::vector<double> expected = values_of(drawing), inverted = expected;
      for (double& value : expected) value *= 255.0 / maximum;
      for (double& value : inverted) value = (maximum - value) * 255 / maximum;
      const Picture picture = decode(encode_tiff(drawing, {.compression = compression}));
      EXPECT_EQ(values_of(picture), expected);
      EXPECT_TRUE(lists(picture.found, std::to_string(bits) + "-bit grey"));
      EXPECT_EQ(values_of(decode(encode_tiff(drawing, {.photometric = kMinIsWhite, .compression = compression}))),
                inverted);
    }
  }
}

TEST(Tiff, LooksColoursUpInThePalette) {
  const Drawing indices{3, 1, 1, 2, {3, 0, 2}};
  const std::vector<uint16_t> palette{1000, 0, 3, 65535, 2000, 0, 4, 256, 3000, 0, 5, 257};
  const Picture picture = decode(encode_tiff(indices, {.photometric = kPalette, .palette = palette}));
  EXPECT_EQ(picture.view.type, SampleType::u16);
  EXPECT_EQ(values_of(picture), (std::vector<double>{65535, 256, 257, 1000, 2000, 3000, 3, 4, 5}));
  // A palette of 8-bit values, as old writers made them.
  const std::vector<uint16_t> small{0, 1, 2, 255, 0, 1, 2, 255, 0, 1, 2, 128};
  EXPECT_EQ(values_of(decode(encode_tiff(indices, {.photometric = kPalette, .palette = small}))),
            (std::vector<double>{65535, 65535, 128 * 257, 0, 0, 0, 514, 514, 514}));
}

TEST(Tiff, KeepsFloats) {
  const std::vector<float> floats{0.f, -1.5f, 1e-30f, 3e8f, 0.1f, 0.2f, 7.f, 8.f, 9.f, 10.f, 11.f, 12.f};
  for (int planar : {1, 2}) {
    const Picture picture = decode(encode_tiff({2, 2, 3, 8, {}}, {.planar = planar}, floats));
    EXPECT_EQ(picture.view.type, SampleType::f32);
    EXPECT_EQ(values_of(picture), std::vector<double>(floats.begin(), floats.end()));
    EXPECT_EQ(picture.view.colour.transfer, Transfer::linear);
    EXPECT_TRUE(lists_only(picture.assumed, "linear light"));
  }
  std::vector<float> bad = floats;
  bad[4] = std::numeric_limits<float>::quiet_NaN();
  const std::string message = refusal(encode_tiff({2, 2, 3, 8, {}}, {}, bad));
  EXPECT_TRUE(says(message, {"NaN"}));
  EXPECT_TRUE(says(message, {"(1, 0)"}));
}

TEST(Tiff, ReadsTheProfile) {
  const Picture picture = decode(encode_tiff(draw(8, 8, 3, 8), {.icc = rgb_profile()}));
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, rgb_profile());
  EXPECT_TRUE(says(refusal(encode_tiff(draw(8, 8, 3, 8), {.icc = File(200, 'x')})), {"remove the profile"}));
}

TEST(Tiff, TurnsAsItSays) {
  const char* expected[] = {"abc/def", "cba/fed", "fed/cba", "def/abc", "ad/be/cf", "da/eb/fc", "fc/eb/da", "cf/be/ad"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Picture picture = decode(encode_tiff(letters(3), {.orientation = orientation}));
    EXPECT_EQ(spell(picture), expected[orientation - 1]);
  }
}

TEST(Tiff, DividesPremultipliedAlphaOut) {
  const Drawing drawing{2, 1, 4, 16, {6000, 3000, 1500, 12000, 0, 0, 0, 0}};
  const Picture picture = decode(encode_tiff(drawing, {.alpha = 1}));
  EXPECT_EQ(picture.view.type, SampleType::f32);
  EXPECT_LE(distance(values_of(picture), {0.5, 0.25, 0.125, 12000 / 65535.0, 0, 0, 0, 0}), 1e-7);
  EXPECT_TRUE(lists(picture.found, "premultiplied"));
  const Drawing impossible{2, 1, 4, 16, {6000, 3000, 1500, 12000, 1, 0, 0, 0}};
  EXPECT_TRUE(says(refusal(encode_tiff(impossible, {.alpha = 1})), {"(1, 0)"}));
}

TEST(Tiff, IgnoresSamplesThatAreNotAlphaAndSaysSo) {
  const Drawing drawing{1, 1, 4, 8, {1, 2, 3, 4}};
  for (int planar : {1, 2}) {
    const Picture picture = decode(encode_tiff(drawing, {.planar = planar, .alpha = 0}));
    EXPECT_EQ(picture.view.channels, Channels::rgb);
    EXPECT_EQ(values_of(picture), (std::vector<double>{1, 2, 3}));
    EXPECT_TRUE(lists(picture.found, "ignored"));
  }
}

TEST(Tiff, RefusesWhatItDoesNotRead) {
  EXPECT_TRUE(says(refusal(encode_tiff(draw(8, 8, 4, 8), {.photometric = kSeparated})), {"photometric kind 5"}));
  EXPECT_TRUE(says(refusal(encode_tiff(draw(8, 8, 3, 16), {.sample_format = 2})), {"format 2"}));
}

}  // namespace
}  // namespace acuity::tests
