// SPDX-License-Identifier: BSD-2-Clause-Patent
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

}  // namespace
}  // namespace acuity::tests
