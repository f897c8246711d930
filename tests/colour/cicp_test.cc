// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/cicp.h"

#include <gtest/gtest.h>

namespace acuity {
namespace {

testing::AssertionResult says(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return testing::AssertionFailure() << "no '" << part << "' in: " << text;
  }
  return testing::AssertionSuccess();
}

Colour colour(int primaries, int transfer) {
  const Result<Colour> result = colour_from_cicp(primaries, transfer, 0, true, "test");
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : Colour{};
}

std::string refusal(int primaries, int transfer, int matrix, bool full_range) {
  const Result<Colour> result = colour_from_cicp(primaries, transfer, matrix, full_range, "bad.file");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::input);
  return result.status().message();
}

TEST(Cicp, NamesTransferFunctions) {
  for (const int camera : {1, 6, 14, 15}) EXPECT_EQ(colour(1, camera).transfer, Transfer::bt1886);
  EXPECT_EQ(colour(1, 4).transfer, Transfer::gamma);
  EXPECT_EQ(colour(1, 4).gamma, 2.2);
  EXPECT_EQ(colour(1, 5).transfer, Transfer::gamma);
  EXPECT_EQ(colour(1, 5).gamma, 2.8);
  EXPECT_EQ(colour(1, 8).transfer, Transfer::linear);
  EXPECT_EQ(colour(1, 13).transfer, Transfer::srgb);
  EXPECT_EQ(colour(1, 16).transfer, Transfer::pq);
  EXPECT_EQ(colour(1, 18).transfer, Transfer::hlg);
  EXPECT_EQ(colour(1, kCicpUnspecified).transfer, Transfer::srgb);
}

TEST(Cicp, NamesPrimaries) {
  EXPECT_EQ(colour(1, 13).primaries, Primaries::bt709);
  EXPECT_EQ(colour(9, 13).primaries, Primaries::bt2020);
  EXPECT_EQ(colour(12, 13).primaries, Primaries::display_p3);
  EXPECT_EQ(colour(kCicpUnspecified, 13).primaries, Primaries::bt709);
  const Colour pal = colour(5, 13), ntsc = colour(6, 13), cinema = colour(11, 13);
  EXPECT_EQ(pal.primaries, Primaries::custom);
  EXPECT_EQ(pal.chromaticities.green[0], 0.29);
  EXPECT_EQ(ntsc.primaries, Primaries::custom);
  EXPECT_EQ(ntsc.chromaticities.red[0], 0.630);
  EXPECT_EQ(ntsc.chromaticities, colour(7, 13).chromaticities);
  EXPECT_EQ(cinema.primaries, Primaries::custom);
  EXPECT_EQ(cinema.chromaticities.white[1], 0.351);
}

TEST(Cicp, RefusesWhatItCannotHonour) {
  EXPECT_TRUE(says(refusal(3, 13, 0, true), {"bad.file", "primaries 3"}));
  EXPECT_TRUE(says(refusal(-1, 13, 0, true), {"primaries -1"}));
  for (const int unknown : {0, 3, 7, 9, 10, 11, 12, 17, 19, 255}) {
    EXPECT_TRUE(says(refusal(1, unknown, 0, true), {"transfer function " + std::to_string(unknown)}));
  }
  EXPECT_TRUE(says(refusal(1, 13, 1, true), {"matrix 1"}));
  EXPECT_TRUE(says(refusal(1, 13, 0, false), {"limited range"}));
}

TEST(Cicp, RecognisesNamedChromaticities) {
  Colour found;
  set_chromaticities(found, {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, {0.3127, 0.3290}});
  EXPECT_EQ(found.primaries, Primaries::bt2020);
  set_chromaticities(found, {{0.639998686, 0.330010138}, {0.300003784, 0.600003357}, {0.150002046, 0.059997204}});
  EXPECT_EQ(found.primaries, Primaries::bt709);
  const Chromaticities own{{0.60, 0.33}, {0.30, 0.60}, {0.15, 0.06}, {0.3127, 0.3290}};
  set_chromaticities(found, own);
  EXPECT_EQ(found.primaries, Primaries::custom);
  EXPECT_EQ(found.chromaticities, own);
}

}  // namespace
}  // namespace acuity
