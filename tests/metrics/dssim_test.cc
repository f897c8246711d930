// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "acuity/scorer.h"
#include "lang/targets.h"
#include "metrics/dssim/pooling.h"
#include "support/fixtures.h"
#include "support/layouts.h"
#include "support/scoring.h"

namespace acuity::tests {
namespace {

Score score(const ImageView& reference, const ImageView& distorted, ScorerOptions options = {}) {
  options = with_metric(std::move(options), "dssim");
  options.device = "cpu";
  return score_pair(reference, distorted, options);
}

Score prepared_score(const ImageView& reference, const ImageView& distorted, ScorerOptions options = {}) {
  options = with_metric(std::move(options), "dssim");
  options.device = "cpu";
  return score_prepared(reference, distorted, options);
}

// Drawn with integers, so that the reference could be given the same pictures.
Content drawn(bool distorted) {
  return [distorted](int c, int x, int y) {
    const int alpha = (x * x + 3 * y * y) / 64 % 256;
    const int code = (x * 3 + y * 5 + c * 40 + (x / 9 + y / 7) % 2 * 60) % 256;
    if (c == 3) return (distorted ? alpha / 32 * 32 : alpha) / 255.0;
    return (distorted ? code / 16 * 16 + 8 : code) / 255.0;
  };
}

// The parity that is promised is a millionth or, where that is more, the hundred-thousandth part. The operation order
// being the reference's up to the sums over the picture, a twentieth of it is left.
double tolerance(double golden) { return std::max(1e-6, 1e-5 * golden) / 20; }

TEST(Dssim, AgreesWithTheReferenceOnEveryScale) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> scales;
  for (size_t scale = 0; scale < dssim::kScales; ++scale) {
    for (const Golden& golden : goldens("dssim.csv", "ssim_scale" + std::to_string(scale))) {
      scales[{golden.reference, golden.distorted}].push_back(std::stod(golden.value));
    }
  }
  int scored = 0;
  for (const Golden& golden : goldens("dssim.csv", "score")) {
    const std::string what = golden.reference + " " + golden.distorted;
    const Picture reference = fixture(golden.reference), distorted = fixture(golden.distorted);
    const double value = std::stod(golden.value);
    const Score result = score(reference.view, distorted.view);
    EXPECT_NEAR(result.value, value, tolerance(value)) << what;
    const std::vector<double>& expected = scales[{golden.reference, golden.distorted}];
    ASSERT_EQ(result.outputs.size(), expected.size()) << what;
    for (size_t scale = 0; scale < expected.size(); ++scale) {
      EXPECT_EQ(result.outputs[scale].name, "ssim_scale" + std::to_string(scale));
      // Sums of equal errors in float lose up to that much.
      EXPECT_NEAR(result.outputs[scale].value, expected[scale], 3e-7) << what << " " << scale;
    }
    ++scored;
  }
  EXPECT_EQ(scored, kSlowMachine ? 15 : 60);
}

struct DrawnGolden {
  int width, height;
  Channels reference, distorted;
  double value;
};

// What dssim-core says of the drawn pictures: edges of blocks and tiles, one row, one column, transparency on either
// side or both.
const std::vector<DrawnGolden> kDrawn = {
    {1, 1, Channels::rgb, Channels::rgb, 0},
    {1, 7, Channels::rgb, Channels::rgb, 0.011382573561036001},
    {1, 7, Channels::rgba, Channels::rgba, 1.52539466458e-06},
    {1, 7, Channels::rgb, Channels::rgba, 0.46181679360522687},
    {1, 7, Channels::rgba, Channels::rgb, 0.40552743574733974},
    {6, 1, Channels::rgb, Channels::rgb, 0.03305175025727447},
    {6, 1, Channels::rgb, Channels::rgba, 0.55639569657886234},
    {2, 3, Channels::rgb, Channels::rgb, 0.0037209113601799301},
    {2, 3, Channels::rgba, Channels::rgb, 0.01916603197832956},
    {33, 9, Channels::rgb, Channels::rgb, 0.00204093421017215},
    {33, 9, Channels::rgba, Channels::rgba, 0.0044081481089908196},
    {131, 67, Channels::rgb, Channels::rgb, 0.00031957624686796001},
    {131, 67, Channels::rgba, Channels::rgba, 0.01793363439935813},
    {131, 67, Channels::rgb, Channels::rgba, 0.93040365544471371},
    {131, 67, Channels::rgba, Channels::rgb, 0.7996097770922268},
    {257, 70, Channels::rgb, Channels::rgb, 0.00032018370901320999},
    {257, 70, Channels::rgba, Channels::rgba, 0.011467514693437989},
    {260, 133, Channels::rgb, Channels::rgb, 0.00030661090025697001},
    {260, 133, Channels::rgba, Channels::rgba, 0.0081629861417169495},
    {260, 133, Channels::rgb, Channels::rgba, 0.83368071346389927},
    {260, 133, Channels::rgba, Channels::rgb, 0.73146090098619387},
    {515, 131, Channels::rgb, Channels::rgb, 0.00030169639518006999},
    {515, 131, Channels::rgba, Channels::rgba, 0.0064328348685060996},
};

TEST(Dssim, AgreesWithTheReferenceOnDrawnPictures) {
  for (const DrawnGolden& golden : kDrawn) {
    const Sheet reference({}, golden.width, golden.height, golden.reference, drawn(false));
    const Sheet distorted({}, golden.width, golden.height, golden.distorted, drawn(true));
    const std::string what = std::to_string(golden.width) + "x" + std::to_string(golden.height);
    const Score result = score(reference.view, distorted.view);
    EXPECT_NEAR(result.value, golden.value, tolerance(golden.value)) << what;
    expect_same(result, prepared_score(reference.view, distorted.view), what + " prepared");
    const bool says_alpha = std::any_of(result.provenance.assumptions.begin(), result.provenance.assumptions.end(),
                                        [](const std::string& text) { return text.starts_with("alpha: "); });
    EXPECT_EQ(says_alpha, reference.view.has_alpha() || distorted.view.has_alpha()) << what;
  }
}

// The map of a piece cut out of a picture is that of the picture, but for the pixels that look beyond the cut.
TEST(Dssim, BlocksMeetWithoutSeams) {
  const int height = 70, part = 64, margin = 4;
  const auto map_of = [&](int x_begin, int width) {
    const auto from = [x_begin](bool distorted) {
      return [=](int c, int x, int y) { return drawn(distorted)(c, x_begin + x, y); };
    };
    const Sheet reference({}, width, height, Channels::rgb, from(false));
    const Sheet distorted({}, width, height, Channels::rgb, from(true));
    return score(reference.view, distorted.view, {.want_map = true}).scale_maps[0];
  };
  // The first is cut into blocks at 384 and 768; of the others one to four columns are left for the last block.
  for (const auto& [width, seam] : std::vector<std::pair<int, int>>{
           {1100, 384}, {1100, 768}, {16897, 16896}, {16898, 16896}, {16899, 16896}, {16900, 16896}}) {
    const int x_begin = seam - part / 2, x_end = std::min(x_begin + part, width);
    const DifferenceMap whole = map_of(0, width), cut = map_of(x_begin, x_end - x_begin);
    for (int y = 0; y < height; ++y) {
      for (int x = x_begin + margin; x < (x_end == width ? width : x_end - margin); ++x) {
        ASSERT_EQ(whole.values[static_cast<size_t>(y * width + x)],
                  cut.values[static_cast<size_t>(y * cut.width + x - x_begin)])
            << width << " wide, at " << x << ", " << y;
      }
    }
  }
}

TEST(Dssim, IdenticalPicturesScoreExactly0) {
  for (const char* name : {"scene.png", "flat.png", "black.png", "gradient.png", "size_1x1.png", "size_9x17.png"}) {
    const Picture picture = fixture(name);
    EXPECT_EQ(score(picture.view, picture.view).value, 0.0) << name;
    EXPECT_EQ(prepared_score(picture.view, picture.view).value, 0.0) << name;
  }
}

TEST(Dssim, NothingButThePicturesChangesTheScore) {
  // oneTBB starts no more threads than cores unless told to.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  for (const auto& [width, height] :
       std::vector<std::pair<int, int>>{{1, 1}, {33, 71}, {131, 64}, {261, 133}, {600, 200}}) {
    const Sheet reference({}, width, height, Channels::rgba, drawn(false));
    const Sheet distorted({}, width, height, Channels::rgb, drawn(true));
    const Score expected = score(reference.view, distorted.view, {.threads = 1});
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      for (int threads : {1, 3, 8}) {
        for (int rows : {0, 1, 65}) {
          const MemoryMode memory = rows == 0 ? MemoryMode::full() : MemoryMode::strip(rows);
          const std::string what = std::to_string(width) + "x" + std::to_string(height) + " " + target + " threads " +
                                   std::to_string(threads) + " strip " + std::to_string(rows);
          expect_same(expected, score(reference.view, distorted.view, {.memory = memory, .threads = threads}), what);
          expect_same(expected, prepared_score(reference.view, distorted.view, {.memory = memory, .threads = threads}),
                      what + " prepared");
        }
      }
    }
    ASSERT_TRUE(limit_cpu("").ok());
  }
}

TEST(Dssim, EveryTargetAgreesOnEverySmallSize) {
  for (int side = 1; side <= 80; side += kSlowMachine ? 5 : 1) {
    const int other = 1 + (side * 29) % 80;
    const Sheet reference({}, side, other, Channels::rgb, drawn(false));
    const Sheet distorted({}, side, other, Channels::rgba, drawn(true));
    const Score expected = score(reference.view, distorted.view, {.threads = 1});
    EXPECT_GT(expected.value, 0) << side << "x" << other;
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      expect_same(expected, score(reference.view, distorted.view, {.threads = 2}), target);
    }
    ASSERT_TRUE(limit_cpu("").ok());
  }
}

TEST(Dssim, LayoutDoesNotMatter) {
  expect_layouts_score_alike([](const ImageView& a, const ImageView& b) { return score(a, b); },
                             [](const ImageView& a, const ImageView& b) { return prepared_score(a, b); }, drawn(false),
                             drawn(true), Channels::rgba);
}

TEST(Dssim, DepthDoesNotMatterWhereTheSamplesAreTheSame) {
  const Sheet reference8({}, 61, 45, Channels::rgba, drawn(false)), distorted8({}, 61, 45, Channels::rgba, drawn(true));
  const Layout deep{.type = SampleType::u16, .depth = 16};
  const Sheet reference16(deep, 61, 45, Channels::rgba, drawn(false));
  const Sheet distorted16(deep, 61, 45, Channels::rgba, drawn(true));
  const Score expected = score(reference8.view, distorted8.view);
  expect_same(expected, score(reference16.view, distorted16.view), "16 bit");
  const Layout floats{.type = SampleType::f32};
  const Sheet reference32(floats, 61, 45, Channels::rgba, drawn(false));
  const Sheet distorted32(floats, 61, 45, Channels::rgba, drawn(true));
  EXPECT_NEAR(score(reference32.view, distorted32.view).value, expected.value, 1e-6);
}

TEST(Dssim, GreyEqualsRgbOfThreeEqualPlanes) {
  const Content grey = [](int c, int x, int y) { return drawn(false)(c == 0 ? 1 : 3, x, y); };
  const Content coarse = [](int c, int x, int y) { return drawn(true)(c == 0 ? 1 : 3, x, y); };
  const Content grey_rgb = [](int c, int x, int y) { return drawn(false)(c < 3 ? 1 : 3, x, y); };
  const Content coarse_rgb = [](int c, int x, int y) { return drawn(true)(c < 3 ? 1 : 3, x, y); };
  for (const bool alpha : {false, true}) {
    const Channels one = alpha ? Channels::grey_alpha : Channels::grey;
    const Channels three = alpha ? Channels::rgba : Channels::rgb;
    const Sheet grey1({}, 40, 40, one, grey), grey2({}, 40, 40, one, coarse);
    const Sheet rgb1({}, 40, 40, three, grey_rgb), rgb2({}, 40, 40, three, coarse_rgb);
    expect_same(score(rgb1.view, rgb2.view), score(grey1.view, grey2.view), "grey");
  }
}

TEST(Dssim, OpaqueAlphaIsNoAlpha) {
  const Content opaque = [](int c, int x, int y) { return c == 3 ? 1.0 : drawn(true)(c, x, y); };
  const Sheet reference({}, 61, 45, Channels::rgb, drawn(false));
  const Sheet plain({}, 61, 45, Channels::rgb, drawn(true)), with_alpha({}, 61, 45, Channels::rgba, opaque);
  expect_same(score(reference.view, plain.view), score(reference.view, with_alpha.view), "opaque");
}

// The reference's cube root has no meaning above 2; ours goes on.
TEST(Dssim, LightAboveWhiteIsScored) {
  const auto scaled = [](double factor, bool distorted) {
    return [factor, distorted](int c, int x, int y) { return factor * (0.1 + drawn(distorted)(c, x, y)); };
  };
  const Layout floats{.type = SampleType::f32};
  for (const double factor : {1.0, 3.0, 10.0, 50.0, 1e4, 1e30}) {
    Sheet reference(floats, 61, 45, Channels::rgb, scaled(factor, false));
    Sheet distorted(floats, 61, 45, Channels::rgb, scaled(factor, true));
    reference.view.colour.transfer = distorted.view.colour.transfer = Transfer::linear;
    EXPECT_EQ(score(reference.view, reference.view).value, 0) << factor;
    const double value = score(reference.view, distorted.view).value;
    EXPECT_GT(value, factor <= 50 ? 1e-4 : -1) << factor;
    EXPECT_LT(value, 0.1) << factor;
  }
}

TEST(Dssim, ScalesStopUnder8Pixels) {
  const auto scales = [](int width, int height) { return dssim::scale_sizes(width, height).size(); };
  EXPECT_EQ(scales(7, 100), 1u);
  EXPECT_EQ(scales(8, 8), 2u);
  EXPECT_EQ(scales(15, 16), 2u);
  EXPECT_EQ(scales(16, 17), 3u);
  EXPECT_EQ(scales(64, 4000), 5u);
  EXPECT_EQ(scales(4000, 4000), 5u);
  EXPECT_EQ(dssim::scale_sizes(67, 33)[2].width, 16);
  EXPECT_EQ(dssim::scale_sizes(67, 33)[2].height, 8);
}

TEST(Dssim, HasAnEndWhereNothingIsAlike) {
  EXPECT_EQ(dssim::score_of(std::vector<double>{-0.5}), 4503599627370495.0);
  EXPECT_EQ(dssim::score_of(std::vector<double>{1, 1, 1}), 0.0);
}

TEST(Dssim, NeedsAtMost32BytesAPixel) {
  for (const auto& [side, threads] : std::vector<std::pair<int, int>>{{512, 2}, {1024, 2}, {2048, 2}, {2048, 64}}) {
    if (kSlowMachine && side > 1024) continue;
    const Sheet reference({}, side, side, Channels::rgb, drawn(false));
    const int64_t limit = 32 * int64_t{side} * side;
    EXPECT_LE(score(reference.view, reference.view, {.threads = threads}).provenance.working_bytes, limit) << side;
    EXPECT_LE(prepared_score(reference.view, reference.view, {.threads = threads}).provenance.working_bytes, limit)
        << side;
  }
}

TEST(Dssim, MapsAreTheErrorsOfEachScaleAndTheirWeightedSum) {
  const Picture reference = fixture("scene.png"), distorted = fixture("scene.jpeg50.png");
  const Score plain = score(reference.view, distorted.view);
  EXPECT_TRUE(plain.map.values.empty());
  EXPECT_TRUE(plain.scale_maps.empty());
  const Score result = score(reference.view, distorted.view, {.threads = 2, .want_map = true});
  expect_same(plain, result, "with map");
  ASSERT_EQ(result.scale_maps.size(), 5u);
  for (size_t s = 0; s < 5; ++s) {
    const DifferenceMap& map = result.scale_maps[s];
    EXPECT_EQ(map.width, reference.view.width >> s);
    EXPECT_EQ(map.height, reference.view.height >> s);
    // From the map to the scale's similarity, in double.
    double mean = 0;
    for (const float error : map.values) mean += static_cast<double>(error) / static_cast<double>(map.values.size());
    const double expected = 1 - std::pow(1 - mean, std::pow(0.5, s));
    double deviation = 0;
    for (const float error : map.values) {
      deviation += std::abs(static_cast<double>(error) - expected) / static_cast<double>(map.values.size());
    }
    EXPECT_NEAR(1 - deviation, result.outputs[s].value, 1e-7) << s;
  }
  ASSERT_EQ(result.map.values.size(), result.scale_maps[0].values.size());
  for (const auto& [x, y] : std::vector<std::pair<int, int>>{{0, 0}, {17, 201}, {383, 287}}) {
    double sum = 0;
    for (size_t s = 0; s < 5; ++s) {
      const DifferenceMap& map = result.scale_maps[s];
      sum +=
          dssim::weight(s, 5) * static_cast<double>(map.values[static_cast<size_t>((y >> s) * map.width + (x >> s))]);
    }
    EXPECT_NEAR(result.map.values[static_cast<size_t>(y * result.map.width + x)], sum, 1e-6);
  }
  const Score same = score(reference.view, reference.view, {.want_map = true});
  for (float value : same.map.values) ASSERT_EQ(value, 0.0f);
}

TEST(Dssim, MapShowsWhereTheDifferenceIs) {
  expect_map_shows_a_spot([](const ImageView& a, const ImageView& b) { return score(a, b, {.want_map = true}); },
                          drawn);
}

}  // namespace
}  // namespace acuity::tests
