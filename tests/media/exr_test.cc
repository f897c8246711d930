// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstring>
#include <limits>

#include "media/decode.h"

namespace acuity::tests {
namespace {

// Values that half precision holds exactly.
std::vector<float> ramp(size_t count) {
  std::vector<float> samples;
  for (size_t i = 0; i < count; ++i) samples.push_back(static_cast<float>(i) / 16 - 2);
  return samples;
}

TEST(Exr, KeepsEverySample) {
  const std::vector<float> samples = ramp(size_t{13} * 9 * 3);
  const std::vector<double> expected(samples.begin(), samples.end());
  for (bool half : {false, true}) {
    for (bool tiled : {false, true}) {
      for (int compression : {0, 1, 2, 3, 4}) {  // none, RLE, ZIP by line, ZIP, PIZ
        const Picture picture =
            decode(encode_exr(13, 9, samples, {.half = half, .tiled = tiled, .compression = compression}));
        EXPECT_EQ(picture.view.type, SampleType::f32);
        EXPECT_EQ(picture.view.channels, Channels::rgb);
        EXPECT_EQ(values_of(picture), expected);
        EXPECT_TRUE(lists(picture.found, half ? "16-bit float RGB" : "32-bit float RGB"));
        EXPECT_EQ(picture.view.colour.transfer, Transfer::linear);
        EXPECT_TRUE(lists_only(picture.assumed, "BT.709 primaries"));
      }
    }
  }
}

TEST(Exr, ReadsGreyAndWindowsAwayFromTheOrigin) {
  const std::vector<float> samples = ramp(12);
  const Picture picture = decode(encode_exr(4, 3, samples, {.channels = {"Y"}, .x = -100, .y = 50}));
  EXPECT_EQ(picture.view.channels, Channels::grey);
  EXPECT_EQ(values_of(picture), std::vector<double>(samples.begin(), samples.end()));
}

TEST(Exr, DividesAlphaOut) {
  const std::vector<float> samples{0.25f, 0.5f, 1.f, 0.5f, 0.f, 0.f, 0.f, 0.f};
  const Picture picture = decode(encode_exr(2, 1, samples, {.channels = {"R", "G", "B", "A"}}));
  EXPECT_EQ(values_of(picture), (std::vector<double>{0.5, 1, 2, 0.5, 0, 0, 0, 0}));
  EXPECT_TRUE(lists(picture.found, "alpha"));
  EXPECT_TRUE(
      says(refusal(encode_exr(1, 1, {1, 1, 1, 0}, {.channels = {"R", "G", "B", "A"}})), {"colour without alpha"}));
  EXPECT_TRUE(says(refusal(encode_exr(1, 1, {1, 1, 1, 2}, {.channels = {"R", "G", "B", "A"}})), {"outside 0 .. 1"}));
}

TEST(Exr, ReadsChromaticities) {
  const auto colour = [](std::array<float, 8> chromaticities) {
    return decode(encode_exr(1, 1, {1, 1, 1}, {.chromaticities = chromaticities})).view.colour;
  };
  EXPECT_EQ(colour({0.708f, 0.292f, 0.170f, 0.797f, 0.131f, 0.046f, 0.3127f, 0.3290f}).primaries, Primaries::bt2020);
  const Colour aces = colour({0.7347f, 0.2653f, 0.f, 1.f, 0.0001f, -0.077f, 0.32168f, 0.33767f});
  EXPECT_EQ(aces.primaries, Primaries::custom);
  EXPECT_NEAR(aces.chromaticities.blue[1], -0.077, 1e-6);
}

TEST(Exr, NamesThePixelThatIsNotFinite) {
  std::vector<float> samples = ramp(size_t{4} * 3 * 3);
  samples[(2 * 4 + 1) * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(says(refusal(encode_exr(4, 3, samples)), {"NaN in channel G of pixel (1, 2)"}));
  samples[(2 * 4 + 1) * 3 + 1] = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(says(refusal(encode_exr(4, 3, samples, {.half = true})), {"infinity in channel G of pixel (1, 2)"}));
}

TEST(Exr, IgnoresOtherLayers) {
  const Picture picture = decode(encode_exr(1, 1, {9, 1, 2, 3}, {.channels = {"depth.Z", "R", "G", "B"}}));
  EXPECT_EQ(values_of(picture), (std::vector<double>{1, 2, 3}));
}

TEST(Exr, RefusesWhatItDoesNotRead) {
  EXPECT_TRUE(says(refusal(encode_exr(2, 2, ramp(12), {.display_extra = 3})), {"display window"}));
  EXPECT_TRUE(says(refusal(encode_exr(2, 2, ramp(12), {.channels = {"X", "layer.G", "B"}})), {"B, X, layer.G"}));
  EXPECT_TRUE(says(refusal(encode_exr(2, 2, ramp(12), {.channels = {"Y", "RY", "BY"}})), {"BY, RY, Y"}));
  EXPECT_TRUE(says(refusal(encode_exr(2, 2, {1, 2, 3, 4}, {.channels = {"Y"}, .integers = true})), {"integers"}));
  EXPECT_TRUE(says(refusal(encode_exr(2, 2, ramp(12), {.several_parts = true})), {"2 parts"}));
}

// Puts an attribute at the beginning of a header. Files without compression have a table of where rows begin, which
// then begin later.
File with_attribute(const File& file, const std::string& name, const std::string& type, uint32_t stated_size,
                    const std::vector<uint8_t>& content) {
  File attribute(name.begin(), name.end());
  attribute.push_back(0);
  attribute.insert(attribute.end(), type.begin(), type.end());
  attribute.push_back(0);
  for (int i = 0; i < 4; ++i) attribute.push_back(static_cast<uint8_t>(stated_size >> (8 * i)));
  attribute.insert(attribute.end(), content.begin(), content.end());
  File changed = file;
  for (size_t at = 8; at + 8 < file.size(); ++at) {
    uint64_t stated = 0;
    std::memcpy(&stated, file.data() + at, sizeof stated);
    if (stated != at + 8) continue;
    stated += attribute.size();
    std::memcpy(changed.data() + at, &stated, sizeof stated);
  }
  changed.insert(changed.begin() + 8, attribute.begin(), attribute.end());
  return changed;
}

// What attributes claim inside is not believed: OpenEXR itself would allocate 4 GB for this preview.
TEST(Exr, DoesNotReadAttributesItDoesNotNeed) {
  const File file = encode_exr(1, 1, {1, 2, 3});
  const std::vector<uint8_t> preview{0, 0x80, 0, 0, 0, 0x80, 0, 0};  // 32768 x 32768
  for (const char* name : {"preview", "mine"}) {
    EXPECT_EQ(values_of(decode(with_attribute(file, name, "preview", 8, preview))), (std::vector<double>{1, 2, 3}));
  }
  const std::vector<uint8_t> names{0xFF, 0xFF, 0xFF, 0x7F};  // one of 2 GB
  EXPECT_EQ(values_of(decode(with_attribute(file, "mine", "stringvector", 4, names))), (std::vector<double>{1, 2, 3}));
}

// OpenEXR reads 4 bytes of a float whatever is stated, and takes the rest for the next attribute, of 2 GB.
TEST(Exr, ChecksTheSizesOfAttributes) {
  const File file = encode_exr(1, 1, {1, 2, 3});
  const std::vector<uint8_t> smuggled{0, 0, 128, 63, 'a', 0, 's', 't', 'r', 'i', 'n', 'g', 0, 0, 0, 0, 127};
  const auto size = static_cast<uint32_t>(smuggled.size());
  EXPECT_TRUE(says(refusal(with_attribute(file, "pixelAspectRatio", "float", size, smuggled)),
                   {"its attribute pixelAspectRatio has an invalid size of 17 bytes"}));
  EXPECT_TRUE(says(refusal(with_attribute(file, "channels", "chlist", 3, {0, 'R', 0})),
                   {"its attribute channels has an invalid size of 3 bytes"}));
  EXPECT_TRUE(says(refusal(with_attribute(file, "mine", "string", 0x7F000000, {})),
                   {"an attribute of its header has 2130706432 bytes, and the file ends after"}));
  File many(file.begin(), file.begin() + 8);
  for (int i = 0; i < 4100; ++i) many.insert(many.end(), {'m', 0, 'f', 0, 0, 0, 0, 0});
  many.insert(many.end(), file.begin() + 8, file.end());
  EXPECT_TRUE(says(refusal(many), {"more than 4096 attributes"}));
}

}  // namespace
}  // namespace acuity::tests
