// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "acuity/picture.h"
#include "acuity/scorer.h"
#include "cli/command.h"
#include "cli/map_colours.h"
#include "cli/pictures.h"
#include "cli/selftest_pictures.h"
#include "support/scoring.h"
#include "support/y4m.h"

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
  Result<Scorer> scorer = Scorer::create({.metrics = {"ssimulacra2"}, .want_map = true}, width, height);
  const Result<Score> score = tests::only(scorer->score(pair.reference.view(), pair.distorted.view()));
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

double luma_of(const Picture& picture, int i) {
  const std::byte* pixel = picture.view.planes[0] + i * picture.view.pixel_stride;
  return 0.2126 * std::to_integer<int>(pixel[0]) + 0.7152 * std::to_integer<int>(pixel[1]) +
         0.0722 * std::to_integer<int>(pixel[2]);
}

Picture map_of(std::vector<std::string> words, const std::string& name) {
  const std::string path = scratch(name);
  words.insert(words.begin(), {"score", "--map", path});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Result<Picture> map = read_picture(path);
  EXPECT_TRUE(map.ok()) << map.status().message();
  return map.ok() ? *map : Picture();
}

bool equal_pixels(const Picture& a, const Picture& b) {
  const auto size = static_cast<size_t>(a.view.row_stride) * static_cast<size_t>(a.view.height);
  return a.view.width == b.view.width && a.view.height == b.view.height &&
         std::memcmp(a.view.planes[0], b.view.planes[0], size) == 0;
}

// A map that is black but for a few spots tells nothing.
TEST(Map, Ssimulacra2CanBeReadAtAGlance) {
  const auto dark_part = [](const std::string& distorted) {
    const Picture map = map_of({scene(), distorted}, "glance.png");
    int dark = 0;
    for (int i = 0; i < 157 * 93; ++i) dark += luma_of(map, i) < 24;
    return dark / (157.0 * 93.0);
  };
  EXPECT_LT(dark_part(noisy()), 0.25);   // noise is everywhere
  EXPECT_LT(dark_part(blurred()), 0.5);  // flat parts stay as they are
}

TEST(Map, ARangeMakesMapsComparable) {
  // The same error counts the same whatever else is in the map.
  const Picture fixed = map_of({"-m", "mse", "--map-range", "0,2000", scene(), noisy()}, "fixed.png");
  const Picture fitted = map_of({"-m", "mse", scene(), noisy()}, "fitted.png");
  EXPECT_FALSE(equal_pixels(fixed, fitted));
  EXPECT_NE(read_file(scratch("fixed.png")).find("black is 0, pale yellow is 2000 or more"), std::string::npos);
  Result<Scorer> scorer = Scorer::create({.metrics = {"mse"}, .want_map = true}, 157, 93);
  const cli::DrawnPair pair = cli::selftest_pairs()[0];
  const Result<Score> score = tests::only(scorer->score(pair.reference.view(), pair.distorted.view()));
  for (int i = 0; i < 157 * 93; ++i) {
    const double value = score->map.values[static_cast<size_t>(i)];
    const double place = std::round(255 * std::sqrt(std::min(value / 2000, 1.0))) / 255;
    const cli::MapColour expected = cli::map_colour(place);
    ASSERT_EQ(std::memcmp(fixed.view.planes[0] + i * fixed.view.pixel_stride, expected.data(), 3), 0) << value;
  }
  const Picture above = map_of({"-m", "mse", "--map-range", "100,2000", scene(), noisy()}, "above.png");
  EXPECT_NE(read_file(scratch("above.png")).find("black is 100 or less"), std::string::npos);
  EXPECT_FALSE(equal_pixels(fixed, above));
}

TEST(Map, ColoursAreTheMetricsOwnOrTheCommonOnes) {
  const Picture own = map_of({"-m", "butteraugli", scene(), noisy()}, "own.png");
  EXPECT_TRUE(
      equal_pixels(own, map_of({"-m", "butteraugli", "--map-colours", "metric", scene(), noisy()}, "own2.png")));
  const Picture common = map_of({"-m", "butteraugli", "--map-colours", "common", scene(), noisy()}, "common.png");
  EXPECT_FALSE(equal_pixels(own, common));
  EXPECT_NE(read_file(scratch("common.png")).find("butteraugli difference map: black is 0, pale yellow is "),
            std::string::npos);
  // A range is of the common colours.
  map_of({"-m", "butteraugli", "--map-range", "0,2", scene(), noisy()}, "range.png");
  EXPECT_NE(read_file(scratch("range.png")).find("pale yellow is 2 or more"), std::string::npos);
}

TEST(Map, SeveralFilesAndMetricsHaveOneEach) {
  const std::string folder = scratch("several");
  std::filesystem::create_directories(folder);
  const std::string pattern = folder + "/{metric}-{distorted}.pfm";
  ASSERT_EQ(acuity({"score", "-m", "mse,butteraugli:pnorm=2", "--map", pattern, scene(), noisy(), blurred()}).exit_code,
            0);
  for (const char* name : {"mse-noisy.png.pfm", "mse-blurred.png.pfm", "butteraugli:pnorm=2-noisy.png.pfm",
                           "butteraugli:pnorm=2-blurred.png.pfm"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 4);
  const std::string alone = scratch("alone.pfm");
  ASSERT_EQ(acuity({"score", "-m", "mse", "--map", alone, scene(), blurred()}).exit_code, 0);
  EXPECT_EQ(read_file(folder + "/mse-blurred.png.pfm"), read_file(alone));
}

void expect_refused(std::vector<std::string> words, const std::string& part) {
  words.insert(words.begin(), "score");
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(Map, WhatMakesNoSenseIsRefused) {
  const std::string map = scratch("refused.png");
  expect_refused({"--map", map, scene(), noisy(), blurred()}, "put {distorted} in its name");
  expect_refused({"--map", map, "-m", "mse,psnr", scene(), noisy()}, "put {metric} in its name");
  expect_refused({"--map", map, "-m", "mse,psnr", scene(), noisy(), blurred()},
                 "put {distorted} and {metric} in its name, as in 'map-{distorted}-{metric}.png'");
  expect_refused({"--map", scratch("{distorted}.png"), scene(), noisy(), noisy()}, "different names");
  write_file(scratch("mse-noisy.png"), read_file(noisy()));
  expect_refused({"--map", scratch("{metric}-noisy.png"), "-m", "mse", scene(), scratch("mse-noisy.png")},
                 "would overwrite the input");
  expect_refused({"--map", map, "-m", "vmaf", scene(), noisy()}, "has no difference map");
  expect_refused({"--map", "", scene(), noisy()}, "invalid value '' for --map");
  expect_refused({"--map-range", "0,1", scene(), noisy()}, "--map-range needs --map");
  for (const char* range : {"1", "1,1", "2,1", "a,b", ",", "0,inf"}) {
    expect_refused({"--map", map, "--map-range", range, scene(), noisy()}, "--map-range");
  }
  expect_refused({"--map", map, "--map-colours", "grey", scene(), noisy()}, "expected metric or common");
  expect_refused({"--map", map, "--map-colours", "metric", "--map-range", "0,1", scene(), noisy()}, "common colours");
  expect_refused({"--map", scratch("a.pfm"), "--map-range", "0,1", scene(), noisy()}, "values themselves");
}

TEST(Map, OneFrameOfAVideoHasOne) {
  const std::string reference = scratch("reference.y4m"), distorted = scratch("distorted.y4m");
  write_file(reference, draw_y4m({.frames = 4}));
  write_file(distorted, draw_y4m({.frames = 4, .damage = 9}));
  const std::string map = scratch("frame.pfm");
  expect_refused({"-m", "mse", "--map", map, reference, distorted}, "choose it with --frame N");
  ASSERT_EQ(acuity({"score", "-m", "mse", "--start", "2", "--end", "3", "--map", map, reference, distorted}).exit_code,
            0);
  // A video of that frame alone.
  const auto alone = [](const std::string& name, const Drawing& drawing) {
    const std::string path = scratch(name);
    const std::string text = draw_y4m(drawing);
    write_file(path, text.substr(0, text.find('\n') + 1) + "FRAME\n" + draw_frame(drawing, 2, 8));
    return path;
  };
  const std::string expected = scratch("expected.pfm");
  ASSERT_EQ(acuity({"score", "-m", "mse", "--map", expected, alone("a.y4m", {.frames = 4}),
                    alone("b.y4m", {.frames = 4, .damage = 9})})
                .exit_code,
            0);
  EXPECT_EQ(read_file(map), read_file(expected));
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
