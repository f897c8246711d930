// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/decode.h"

namespace acuity::tests {
namespace {

TEST(Png, KeepsEverySampleOf8And16Bit) {
  for (int channels = 1; channels <= 4; ++channels) {
    for (int bits : {8, 16}) {
      for (bool interlaced : {false, true}) {
        const Drawing drawing = draw(17, 11, channels, bits);
        expect_samples(decode(encode_png(drawing, {.interlaced = interlaced})), drawing);
      }
    }
  }
}

TEST(Png, StretchesFewBitsToEight) {
  for (int bits : {1, 2, 4}) {
    const Drawing drawing = draw(13, 5, 1, bits);
    const Picture picture = decode(encode_png(drawing));
    EXPECT_EQ(picture.view.depth, 8);
    EXPECT_TRUE(lists(picture.found, std::to_string(bits) + "-bit grey"));
    std::vector<double> expected = values_of(drawing);
    for (double& value : expected) value *= 255.0 / ((1 << bits) - 1);
    EXPECT_EQ(values_of(picture), expected);
  }
}

TEST(Png, LooksColoursUpInThePalette) {
  const File palette{10, 20, 30, 40, 50, 60, 70, 80, 90};
  for (int bits : {2, 8}) {
    const Drawing indices{3, 1, 1, bits, {2, 0, 1}};
    const Picture picture = decode(encode_png(indices, {.palette = palette}));
    EXPECT_EQ(picture.view.channels, Channels::rgb);
    EXPECT_EQ(values_of(picture), (std::vector<double>{70, 80, 90, 10, 20, 30, 40, 50, 60}));
    const Picture with_alpha = decode(encode_png(indices, {.palette = palette, .palette_alpha = {0, 128}}));
    EXPECT_EQ(values_of(with_alpha), (std::vector<double>{70, 80, 90, 255, 10, 20, 30, 0, 40, 50, 60, 128}));
  }
}

TEST(Png, AnIndexBeyondThePaletteIsDamage) {
  const File palette{10, 20, 30, 40, 50, 60, 70, 80, 90};
  for (const bool interlaced : {false, true}) {
    const Drawing indices{9, 1, 1, 8, {2, 0, 1, 2, 0, 1, 2, 0, 1}}, beyond{9, 1, 1, 8, {2, 0, 1, 2, 0, 1, 2, 0, 3}};
    const Picture picture = decode(encode_png(indices, {.interlaced = interlaced, .palette = palette}));
    EXPECT_EQ(values_of(picture)[26], 60);
    EXPECT_TRUE(says(refusal(encode_png(beyond, {.interlaced = interlaced, .palette = palette})), {"palette"}));
  }
}

TEST(Png, MakesTheTransparentColourAlpha) {
  const Drawing grey{3, 1, 1, 8, {7, 8, 9}};
  EXPECT_EQ(values_of(decode(encode_png(grey, {.transparent = {{8}}}))), (std::vector<double>{7, 255, 8, 0, 9, 255}));
  const Drawing rgb{2, 1, 3, 16, {1, 2, 3, 1, 2, 4}};
  EXPECT_EQ(values_of(decode(encode_png(rgb, {.transparent = {{1, 2, 3}}}))),
            (std::vector<double>{1, 2, 3, 0, 1, 2, 4, 65535}));
}

File numbers(const std::vector<uint32_t>& values) {
  File chunk;
  for (const uint32_t value : values) append_big_endian(chunk, value, 4);
  return chunk;
}

const File kP3Chromaticities = numbers({31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000});

TEST(Png, AssumesSrgbOnlyWhenNothingIsSaid) {
  const File plain = encode_png(draw(4, 4, 3, 8));
  const Picture picture = decode(plain);
  EXPECT_TRUE(lists_only(picture.assumed, "sRGB"));
  EXPECT_EQ(picture.view.colour.transfer, Transfer::srgb);
  const Picture named = decode(with_chunk(plain, "sRGB", {0}));
  EXPECT_TRUE(named.assumed.empty());
  EXPECT_TRUE(lists(named.found, "sRGB"));
}

TEST(Png, ReadsGammaAndChromaticities) {
  const File plain = encode_png(draw(4, 4, 3, 8));
  const Picture gamma = decode(with_chunk(plain, "gAMA", numbers({45455})));
  EXPECT_EQ(gamma.view.colour.transfer, Transfer::gamma);
  EXPECT_NEAR(gamma.view.colour.gamma, 2.2, 1e-4);
  EXPECT_TRUE(lists_only(gamma.assumed, "BT.709 primaries"));

  const Picture linear = decode(with_chunk(plain, "gAMA", numbers({100000})));
  EXPECT_EQ(linear.view.colour.transfer, Transfer::linear);

  const Picture p3 = decode(with_chunk(with_chunk(plain, "cHRM", kP3Chromaticities), "gAMA", numbers({45455})));
  EXPECT_EQ(p3.view.colour.primaries, Primaries::display_p3);
  EXPECT_EQ(p3.view.colour.transfer, Transfer::gamma);
  EXPECT_TRUE(p3.assumed.empty());

  const File odd = numbers({31270, 32900, 61000, 33000, 30000, 60000, 15000, 6000});
  const Picture custom = decode(with_chunk(plain, "cHRM", odd));
  EXPECT_EQ(custom.view.colour.primaries, Primaries::custom);
  EXPECT_DOUBLE_EQ(custom.view.colour.chromaticities.red[0], 0.61);
  EXPECT_TRUE(lists_only(custom.assumed, "sRGB transfer"));

  EXPECT_TRUE(says(refusal(with_chunk(plain, "gAMA", numbers({0}))), {"gAMA"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "cHRM", {1, 2, 3})), {"cHRM"}));
}

// What writers mean by a gamma near that of the curve they know.
TEST(Png, TakesTheGammaOfSrgbWithItsPrimariesForSrgb) {
  const File plain = encode_png(draw(4, 4, 3, 8));
  const File primaries = with_chunk(plain, "cHRM", numbers({31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000}));
  const Picture srgb = decode(with_chunk(primaries, "gAMA", numbers({45455})));
  EXPECT_EQ(srgb.view.colour.transfer, Transfer::srgb);
  EXPECT_EQ(srgb.view.colour.primaries, Primaries::bt709);
  EXPECT_TRUE(lists(srgb.found, "means sRGB"));
  EXPECT_TRUE(srgb.assumed.empty());
  EXPECT_EQ(decode(with_chunk(primaries, "gAMA", numbers({45000}))).view.colour.transfer, Transfer::gamma);

  const Picture video = decode(with_chunk(primaries, "gAMA", numbers({50994})));
  EXPECT_EQ(video.view.colour.transfer, Transfer::bt1886);
  EXPECT_TRUE(lists(video.found, "BT.709"));
}

TEST(Png, RanksColourChunks) {
  File file = encode_png(draw(4, 4, 3, 8));
  file = with_chunk(file, "gAMA", numbers({100000}));
  file = with_chunk(file, "cHRM", kP3Chromaticities);
  EXPECT_EQ(decode(file).view.colour.transfer, Transfer::linear);
  file = with_chunk(file, "sRGB", {0});
  EXPECT_EQ(decode(file).view.colour.transfer, Transfer::srgb);
  EXPECT_EQ(decode(file).view.colour.primaries, Primaries::bt709);
  file = with_chunk(file, "iCCP", iccp(rgb_profile()));
  const Picture profiled = decode(file);
  ASSERT_TRUE(profiled.view.colour.icc);
  EXPECT_EQ(*profiled.view.colour.icc, rgb_profile());
  EXPECT_TRUE(lists(profiled.found, "ICC profile 'test RGB'"));
  file = with_chunk(file, "cICP", {9, 16, 0, 1});
  const Picture coded = decode(file);
  EXPECT_FALSE(coded.view.colour.icc);
  EXPECT_EQ(coded.view.colour.transfer, Transfer::pq);
  EXPECT_EQ(coded.view.colour.primaries, Primaries::bt2020);
}

TEST(Png, KeepsAnSrgbProfileAsAProfile) {
  const Picture picture = decode(with_chunk(encode_png(draw(4, 4, 3, 8)), "iCCP", iccp(srgb_profile())));
  ASSERT_TRUE(picture.view.colour.icc);
  EXPECT_TRUE(lists(picture.found, "sRGB"));
}

TEST(Png, RefusesCodePointsItCannotHonour) {
  const File plain = encode_png(draw(4, 4, 3, 8));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "cICP", {1, 13, 1, 1})), {"matrix"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "cICP", {1, 13, 0, 0})), {"limited range"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "cICP", {1, 7, 0, 1})), {"transfer function 7"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "cICP", {99, 13, 0, 1})), {"primaries 99"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "cICP", {1, 13})), {"cICP"}));
}

TEST(Png, RefusesCorruptProfiles) {
  const File plain = encode_png(draw(4, 4, 3, 8));
  File profile = rgb_profile();
  profile.resize(profile.size() / 2);
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", iccp(profile))), {"remove the profile"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", iccp(File(200, 'x')))), {"remove the profile"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", iccp(cmyk_profile()))), {"remove the profile"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", iccp(grey_profile()))), {"remove the profile"}));
  File chunk = iccp(rgb_profile());
  chunk.resize(chunk.size() - 10);
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", chunk)), {"decompress"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", iccp(File(size_t{1} << 25)))), {"larger than"}));
  EXPECT_TRUE(says(refusal(with_chunk(plain, "iCCP", {'x'})), {"iCCP"}));
}

TEST(Png, TurnsAsExifSays) {
  const char* expected[] = {"abc/def", "cba/fed", "fed/cba", "def/abc", "ad/be/cf", "da/eb/fc", "fc/eb/da", "cf/be/ad"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (bool little_endian : {false, true}) {
      const File file = with_chunk(encode_png(letters(4)), "eXIf", exif(orientation, little_endian));
      const Picture picture = decode(file);
      EXPECT_EQ(spell(picture), expected[orientation - 1]) << orientation;
      if (orientation > 1) {
        EXPECT_TRUE(lists(picture.found, "EXIF orientation " + std::to_string(orientation) + " applied"));
      }
    }
  }
  EXPECT_EQ(spell(decode(with_chunk(encode_png(letters()), "eXIf", exif(9)))), "abc/def");
  File cut = exif(6);
  cut.resize(20);
  EXPECT_EQ(spell(decode(with_chunk(encode_png(letters()), "eXIf", cut))), "abc/def");
}

TEST(Png, RefusesAnimationsWithoutFrames) {
  const File file = with_chunk(encode_png(draw(4, 4, 3, 8)), "acTL", numbers({12, 0}));
  EXPECT_TRUE(says(refusal(file), {"declares 12 frames and has 0"}));
}

TEST(Png, RefusesWrongChecksumsEverywhere) {
  const File file =
      with_chunk(with_chunk(encode_png(draw(9, 7, 3, 8)), "gAMA", numbers({45455})), "tEXt", {'a', 0, 'b'});
  decode(file);
  for (size_t i = 8; i < file.size(); ++i) {
    File bad = file;
    bad[i] ^= 0x10;
    EXPECT_FALSE(decode_picture(bad, "bad.file").ok()) << "byte " << i;
  }
}

}  // namespace
}  // namespace acuity::tests
