// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "acuity/picture.h"
#include "acuity/scorer.h"
#include "cli/command.h"
#include "cli/map_file.h"
#include "cli/pictures.h"
#include "cli/selftest_pictures.h"

namespace acuity::test {
namespace {

TEST(Map, ColoursGetLighterStepByStep) {
  const auto luma = [](const std::array<uint8_t, 3>& c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  EXPECT_EQ(cli::map_colour(0), (std::array<uint8_t, 3>{0, 0, 0}));
  double before = -1;
  for (int i = 0; i <= 20; ++i) {
    const double now = luma(cli::map_colour(i / 20.0));
    EXPECT_GT(now, before) << i;
    before = now;
  }
  EXPECT_GT(before, 230);
}

TEST(Map, PfmHoldsTheValuesOfTheLibrary) {
  const std::string path = scratch("map.pfm");
  ASSERT_EQ(acuity({"score", "--map", path, scene(), noisy()}).exit_code, 0);
  const cli::DrawnPair pair = cli::selftest_pairs()[0];
  const int width = pair.reference.width;
  const int height = pair.reference.height;
  Result<Scorer> scorer = Scorer::create({.metric = "ssimulacra2", .want_map = true}, width, height);
  const Result<Score> score = scorer->score(pair.reference.view(), pair.distorted.view());
  const std::string file = read_file(path);
  const std::string header = "Pf\n157 93\n-1.0\n";
  ASSERT_TRUE(file.starts_with(header));
  ASSERT_EQ(file.size(), header.size() + score->map.values.size() * sizeof(float));
  for (int y = 0; y < height; ++y) {
    const float* row = score->map.values.data() + static_cast<ptrdiff_t>(y) * width;
    const size_t row_bytes = static_cast<size_t>(width) * sizeof(float);
    EXPECT_EQ(
        std::memcmp(file.data() + header.size() + static_cast<size_t>(height - 1 - y) * row_bytes, row, row_bytes), 0)
        << y;
  }
}

TEST(Map, PngIsAPictureOfTheSameSizeThatTellsItsScale) {
  const std::string path = scratch("map.PNG");
  const Outcome outcome = acuity({"score", "--explain", "-m", "mse", "--map", path, scene(), blurred()});
  ASSERT_EQ(outcome.exit_code, 0);
  const Result<Picture> map = read_picture(path);
  ASSERT_TRUE(map.ok()) << map.status().message();
  EXPECT_EQ(map->view.width, 157);
  EXPECT_EQ(map->view.height, 93);
  const std::string scale = "black is 0, pale yellow is ";
  EXPECT_NE(read_file(path).find("mse difference map: " + scale), std::string::npos);
  EXPECT_NE(outcome.out.find(scale), std::string::npos) << outcome.out;
}

TEST(Map, ThresholdColoursAreThoseOfButteraugli) {
  using Colour = std::array<uint8_t, 3>;
  const auto colour = [](double value) { return cli::threshold_colour(value, 0.7, 1.2); };
  EXPECT_EQ(colour(0), (Colour{0, 0, 0}));
  EXPECT_EQ(colour(0.7 / 3.3), (Colour{0, 0, 255}));
  EXPECT_EQ(colour(0.7 / 3.3 * 3), (Colour{0, 255, 0}));
  EXPECT_EQ(colour(1.2), (Colour{255, 57, 0}));
  EXPECT_EQ(colour(1000), (Colour{255, 255, 255}));
  const std::string path = scratch("butteraugli.png");
  const Outcome outcome = acuity({"score", "--explain", "-m", "butteraugli", "--map", path, scene(), noisy()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("green is 0.717041, red is 1.15564"), std::string::npos) << outcome.out;
}

TEST(Map, IdenticalPicturesGiveBlack) {
  const std::string path = scratch("black.png");
  ASSERT_EQ(acuity({"score", "-m", "mse", "--map", path, scene(), scene()}).exit_code, 0);
  const Result<Picture> map = read_picture(path);
  ASSERT_TRUE(map.ok());
  for (int i = 0; i < 157 * 93 * 3; ++i) ASSERT_EQ(map->view.planes[0][i], std::byte{0});
}

TEST(Map, AFailureLeavesNothingBehind) {
  const std::string folder = scratch("maps");
  std::filesystem::create_directories(folder);
  const std::string map = folder + "/map.png";
  EXPECT_EQ(acuity({"score", "--map", map, scene(), flat(20, 30)}).exit_code, 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  // A folder of that name stands in the way.
  std::filesystem::create_directories(map + "/inside");
  const Outcome outcome = acuity({"score", "--json", "--map", map, scene(), noisy()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find(map), std::string::npos);
  EXPECT_EQ(outcome.out.find("metrics"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(Map, AFolderThatIsNotThere) {
  const Outcome outcome = acuity({"score", "--map", scratch("nowhere") + "/map.png", scene(), noisy()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
}

TEST(Map, NeverOverwritesAnInput) {
  const std::string picture = noisy();
  const std::string before = read_file(picture);
  EXPECT_EQ(acuity({"score", "--map", picture, scene(), picture}).exit_code, 2);
  EXPECT_EQ(read_file(picture), before);
}

}  // namespace
}  // namespace acuity::test
