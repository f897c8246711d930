// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

// Smooth, so that JPEG at quality 100 keeps it to within a few steps.
Drawing ramp(int channels) {
  Drawing drawing{40, 24, channels, 8, {}};
  for (int y = 0; y < drawing.height; ++y) {
    for (int x = 0; x < drawing.width; ++x) {
      for (int c = 0; c < channels; ++c)
        drawing.samples.push_back(static_cast<uint16_t>(20 + 4 * x + 2 * y * (c + 1) / 2));
    }
  }
  return drawing;
}

TEST(Jpeg, ReadsGreyAndColour) {
  const Drawing grey = ramp(1), rgb = ramp(3);
  const Picture grey_picture = decode(encode_jpeg(grey));
  EXPECT_EQ(grey_picture.view.channels, Channels::grey);
  EXPECT_LE(distance(values_of(grey_picture), values_of(grey)), 2);
  for (const JpegOptions& options : {JpegOptions{}, JpegOptions{.keep_rgb = true}, JpegOptions{.progressive = true},
                                     JpegOptions{.arithmetic = true}, JpegOptions{.subsample = true}}) {
    const Picture picture = decode(encode_jpeg(rgb, options));
    EXPECT_EQ(picture.view.channels, Channels::rgb);
    EXPECT_EQ(picture.view.type, SampleType::u8);
    EXPECT_LE(distance(values_of(picture), values_of(rgb)), 4);
    EXPECT_TRUE(lists(picture.found, "8-bit RGB"));
    EXPECT_TRUE(lists_only(picture.assumed, "sRGB"));
  }
}

TEST(Jpeg, PutsAProfileOfManyPiecesTogether) {
  // Padding beyond 64 KiB makes it take two segments.
  File profile = rgb_profile();
  profile.resize(150000);
  for (int i = 0; i < 4; ++i) profile[static_cast<size_t>(i)] = static_cast<uint8_t>(profile.size() >> (24 - 8 * i));
  const Picture picture = decode(encode_jpeg(ramp(3), {.icc = profile}));
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_EQ(*picture.view.colour.icc, profile);
  EXPECT_TRUE(lists(picture.found, "ICC profile 'test RGB'"));
  EXPECT_TRUE(picture.assumed.empty());

  File file = encode_jpeg(ramp(3), {.icc = profile});
  const std::string_view mark("ICC_PROFILE\0", 12);
  auto piece = std::search(file.begin(), file.end(), mark.begin(), mark.end());
  ASSERT_NE(piece, file.end());
  piece[12] = 2;  // the first piece says it is the second
  EXPECT_TRUE(says(refusal(file), {"remove the profile"}));
  EXPECT_TRUE(says(refusal(encode_jpeg(ramp(3), {.icc = File(300, 'x')})), {"remove the profile"}));
  EXPECT_TRUE(says(refusal(encode_jpeg(ramp(3), {.icc = grey_profile()})), {"remove the profile"}));
}

TEST(Jpeg, ReadsCmykByTheFormula) {
  // Ink 0.2 0.4 0.6 and black 0.5, in 1 / 255.
  const std::vector<uint16_t> ink{51, 102, 153, 128};
  const double paper = 127;
  for (const JpegOptions& options : {JpegOptions{.cmyk = true}, JpegOptions{.cmyk = true, .adobe = false},
                                     JpegOptions{.cmyk = true, .ycck = true}}) {
    const Picture picture = decode(encode_jpeg(flat(16, 16, ink), options));
    EXPECT_EQ(picture.view.channels, Channels::rgb);
    EXPECT_EQ(picture.view.type, SampleType::u16);
    EXPECT_EQ(picture.view.depth, 16);
    const std::vector<double> values = values_of(picture);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(values[c], (255 - ink[c]) * paper / 255 / 255 * 65535, options.ycck ? 400 : 1) << c;
    }
    EXPECT_TRUE(lists(picture.found, "8-bit CMYK"));
    EXPECT_TRUE(lists_only(picture.assumed, "CMYK"));
  }
}

TEST(Jpeg, ReadsCmykThroughItsProfile) {
  const auto pixel = [](std::vector<uint16_t> ink, bool adobe) {
    const Picture picture =
        decode(encode_jpeg(flat(16, 16, std::move(ink)), {.cmyk = true, .adobe = adobe, .icc = cmyk_profile()}));
    EXPECT_EQ(picture.view.type, SampleType::u16);
    EXPECT_FALSE(picture.view.colour.icc);
    EXPECT_TRUE(lists(picture.found, "CMYK ICC profile"));
    std::vector<double> values = values_of(picture);
    values.resize(3);
    return values;
  };
  for (bool adobe : {false, true}) {
    EXPECT_LE(distance(pixel({0, 0, 0, 0}, adobe), {65535, 65535, 65535}), 40);
    EXPECT_LE(distance(pixel({0, 0, 0, 255}, adobe), {0, 0, 0}), 40);
    const std::array<double, 3> cyan = cyan_ink_as_srgb();
    EXPECT_LE(distance(pixel({255, 0, 0, 0}, adobe), {65535 * cyan[0], 65535 * cyan[1], 65535 * cyan[2]}), 60);
  }
  EXPECT_TRUE(says(refusal(encode_jpeg(flat(16, 16, {0, 0, 0, 0}), {.cmyk = true, .icc = rgb_profile()})), {"CMYK"}));
}

TEST(Jpeg, ConvertsCmykWithMoreThanEightBits) {
  Drawing inks{16, 16, 4, 8, {}};
  for (int i = 0; i < 256; ++i) inks.samples.insert(inks.samples.end(), {static_cast<uint16_t>(i), 0, 0, 100});
  for (const File& profile : {File(), cmyk_profile()}) {
    int between = 0;
    for (const double value : values_of(decode(encode_jpeg(inks, {.cmyk = true, .icc = profile})))) {
      between += static_cast<int>(value) % 257 != 0;
    }
    EXPECT_GT(between, 200);
  }
}

TEST(Jpeg, TurnsAsExifSays) {
  // Blocks of 8x8, so that each is kept exactly enough.
  const Drawing small = letters(1);
  Drawing large{24, 16, 1, 8, {}};
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 24; ++x) large.samples.push_back(small.samples[static_cast<size_t>(y / 8 * 3 + x / 8)]);
  }
  const char* expected[] = {"abc/def", "cba/fed", "fed/cba", "def/abc", "ad/be/cf", "da/eb/fc", "fc/eb/da", "cf/be/ad"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Picture picture = decode(encode_jpeg(large, {.orientation = orientation}));
    EXPECT_EQ(picture.view.width, orientation < 5 ? 24 : 16);
    EXPECT_EQ(picture.view.height, orientation < 5 ? 16 : 24);
    std::string spelt;
    for (int y = 4; y < picture.view.height; y += 8) {
      if (y > 4) spelt += '/';
      for (int x = 4; x < picture.view.width; x += 8) {
        const double value = values_of(picture)[static_cast<size_t>(y * picture.view.width + x)];
        spelt += static_cast<char>('a' + static_cast<int>((value - 10) / 40 + 0.5));
      }
    }
    EXPECT_EQ(spelt, expected[orientation - 1]);
  }
}

TEST(Jpeg, RefusesDamagedData) {
  const File file = encode_jpeg(draw(64, 64, 3, 8));
  int refused = 0, tried = 0;
  for (size_t i = file.size() / 2; i < file.size() - 2; i += 97) {
    File bad = file;
    bad[i] = 0xff;
    bad[i + 1] = 0xd9;  // the end, too early
    ++tried;
    refused += !decode_picture(bad, "bad.file").ok();
  }
  EXPECT_EQ(refused, tried);
}

TEST(Jpeg, DoesNotCallOtherKindsDamaged) {
  const File whole = encode_jpeg(draw(16, 16, 3, 8));
  const File mark = {0xff, 0xc0};  // of the frame: its size in two bytes and the depth follow
  const auto place = std::search(whole.begin(), whole.end(), mark.begin(), mark.end()) - whole.begin();
  ASSERT_LT(place + 4, static_cast<ptrdiff_t>(whole.size()));
  File deep = whole, lossless = whole;
  deep[static_cast<size_t>(place) + 4] = 12;
  lossless[static_cast<size_t>(place) + 1] = 0xc3;
  for (const auto& [file, kind] : {std::pair(deep, "precision 12"), std::pair(lossless, "SOF type 0xc3")}) {
    const std::string message = refusal(file);
    EXPECT_TRUE(says(message, {kind, "convert it"}));
    EXPECT_EQ(message.find("damaged"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace acuity::tests
