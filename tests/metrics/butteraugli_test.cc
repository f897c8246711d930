// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "acuity/scorer.h"
#include "base/memory.h"
#include "lang/targets.h"
#include "metrics/butteraugli/parameters.h"
#include "metrics/butteraugli/pooling.h"
#include "metrics/butteraugli/rings.h"
#include "metrics/butteraugli_plain.h"
#include "support/fixtures.h"
#include "support/layouts.h"
#include "support/scoring.h"

namespace acuity::tests {
namespace {

Result<Scorer> scorer_for(const ImageView& reference, ScorerOptions options) {
  options = with_metric(std::move(options), "butteraugli");
  return Scorer::create(options, reference.width, reference.height);
}

Score score(const ImageView& reference, const ImageView& distorted, ScorerOptions options = {}) {
  options = with_metric(std::move(options), "butteraugli");
  return score_pair(reference, distorted, options);
}

Score prepared_score(const ImageView& reference, const ImageView& distorted, ScorerOptions options = {}) {
  options = with_metric(std::move(options), "butteraugli");
  return score_prepared(reference, distorted, options);
}

// Relative 1e-5, and absolute 1e-6 below 0.1. Goldens of norms have six decimals.
double tolerance(double golden) { return std::max(1e-5 * golden, 1e-6); }

// What libjxl says of pictures with a side under 8 is asked for by name.
const ScorerOptions kAsLibjxl{.metrics = {{"butteraugli", {{"small", "libjxl"}}}}};

TEST(Butteraugli, AgreesWithTheReference) {
  for (const Golden& golden : goldens("butteraugli.csv", "max_norm")) {
    const Picture reference = fixture(golden.reference), distorted = fixture(golden.distorted);
    const double value = std::stod(golden.value);
    EXPECT_NEAR(score(reference.view, distorted.view, kAsLibjxl).value, value, tolerance(value))
        << golden.reference << " " << golden.distorted;
  }
  for (const Golden& golden : goldens("butteraugli.csv", "norm3")) {
    const Picture reference = fixture(golden.reference), distorted = fixture(golden.distorted);
    const double value = std::stod(golden.value);
    EXPECT_NEAR(output(score(reference.view, distorted.view, kAsLibjxl), "norm3"), value, tolerance(value))
        << golden.reference << " " << golden.distorted;
  }
}

TEST(Butteraugli, AgreesWithTheReferenceForEveryOption) {
  for (const std::string option : {"intensity_target=250", "hf_asymmetry=0.8", "xmul=2.5", "pnorm=2", "pnorm=5.5"}) {
    const size_t equals = option.find('=');
    const ScorerOptions options{.metrics = {{"butteraugli", {{option.substr(0, equals), option.substr(equals + 1)}}}}};
    for (const bool mean : {false, true}) {
      for (const Golden& golden : goldens("butteraugli_options.csv", option + (mean ? " mean" : " max"))) {
        const Picture reference = fixture(golden.reference), distorted = fixture(golden.distorted);
        const Score result = score(reference.view, distorted.view, options);
        const double value = std::stod(golden.value);
        const char* name = option.starts_with("pnorm") ? "pnorm_libjxl" : "norm3";
        EXPECT_NEAR(mean ? output(result, name) : result.value, value, tolerance(value))
            << golden.reference << " " << golden.distorted << " " << option;
      }
    }
  }
}

TEST(Butteraugli, IdenticalPicturesScoreExactly0) {
  for (const char* name : {"scene.png", "flat.png", "black.png", "gradient.png", "size_9x17.png", "size_1x1.png"}) {
    const Picture picture = fixture(name);
    EXPECT_EQ(score(picture.view, picture.view, kAsLibjxl).value, 0.0) << name;
    EXPECT_EQ(prepared_score(picture.view, picture.view, kAsLibjxl).value, 0.0) << name;
  }
}

// Bit for bit what whole planes and single floats give, on every width modulo every vector, above and below every size
// at which an edge, the half resolution or a tile begins.
TEST(Butteraugli, EqualsThePlainEvaluationOnEverySmallSize) {
  for (int side = 8; side <= 80; side += kSlowMachine ? 5 : 1) {
    const int other = 8 + (side * 29) % 73;
    const Sheet reference({}, side, other, Channels::rgb, drawn(false));
    const Sheet distorted({}, side, other, Channels::rgb, drawn(true));
    const std::vector<float> expected = plain_butteraugli(reference.view, distorted.view);
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      const ScorerOptions options{.memory = MemoryMode::strip(5), .threads = 2, .want_map = true};
      const Score result = score(reference.view, distorted.view, options);
      EXPECT_EQ(result.map.values, expected) << side << "x" << other << " " << target;
      EXPECT_EQ(result.value, *std::max_element(expected.begin(), expected.end())) << side << "x" << other;
    }
    ASSERT_TRUE(limit_cpu("").ok());
  }
}

// Wider than a cell, and of several bands.
TEST(Butteraugli, EqualsThePlainEvaluationAcrossCells) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1061, 70}, {43, 1100}}) {
    const Sheet reference({}, width, height, Channels::rgb, drawn(false));
    const Sheet distorted({}, width, height, Channels::rgb, drawn(true));
    const std::vector<float> expected = plain_butteraugli(reference.view, distorted.view);
    for (int threads : {1, 8}) {
      const ScorerOptions options{.threads = threads, .want_map = true};
      EXPECT_EQ(score(reference.view, distorted.view, options).map.values, expected) << width << "x" << height;
      EXPECT_EQ(prepared_score(reference.view, distorted.view, options).map.values, expected) << width << "x" << height;
    }
  }
}

TEST(Butteraugli, NothingButThePicturesChangesTheScore) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{8, 8}, {33, 71}, {131, 64}, {540, 133}}) {
    const Sheet reference({}, width, height, Channels::rgb, drawn(false));
    const Sheet distorted({}, width, height, Channels::rgb, drawn(true));
    const std::vector<OptionValue> pnorm{{"pnorm", "2.5"}};
    const Score expected = score(reference.view, distorted.view, {.metrics = {{"butteraugli", pnorm}}, .threads = 1});
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      for (int threads : {1, 3, 8}) {
        for (int rows : {0, 1, 7, 64, 1000}) {
          if (kSlowMachine && threads == 3 && rows != 7) continue;
          const MemoryMode memory = rows == 0 ? MemoryMode::full() : MemoryMode::strip(rows);
          const std::string what = std::to_string(width) + "x" + std::to_string(height) + " " + target + " threads " +
                                   std::to_string(threads) + " strip " + std::to_string(rows);
          const ScorerOptions options{.metrics = {{"butteraugli", pnorm}}, .memory = memory, .threads = threads};
          expect_same(expected, score(reference.view, distorted.view, options), what);
          expect_same(expected, prepared_score(reference.view, distorted.view, options), what + " prepared");
        }
      }
    }
    ASSERT_TRUE(limit_cpu("").ok());
  }
}

TEST(Butteraugli, LayoutDoesNotMatter) {
  expect_layouts_score_alike([](const ImageView& a, const ImageView& b) { return score(a, b); },
                             [](const ImageView& a, const ImageView& b) { return prepared_score(a, b); }, drawn(false),
                             drawn(true), Channels::rgb);
}

// Composites in the encoded space, as the reference does, into float samples.
Content over(const Content& content, float background) {
  return [content, background](int c, int x, int y) {
    const auto code = [&](int channel) {
      return static_cast<float>(std::floor(content(channel, x, y) * 255 + 0.5)) * (1.0f / 255);
    };
    const float alpha = code(3);
    return static_cast<double>(alpha * code(c) + (1.0f - alpha) * background);
  };
}

TEST(Butteraugli, TransparencyIsLookedAtOverBlackAndOverWhite) {
  const Sheet reference({}, 40, 33, Channels::rgba, drawn(false)), distorted({}, 40, 33, Channels::rgba, drawn(true));
  const Sheet opaque({}, 40, 33, Channels::rgb, drawn(false));
  const Layout floats{.type = SampleType::f32};
  for (const bool both : {true, false}) {
    std::vector<float> larger(40 * 33);
    for (float background : {0.0f, 1.0f}) {
      const Sheet a(floats, 40, 33, Channels::rgb, over(drawn(false), background));
      const Sheet b(floats, 40, 33, Channels::rgb, over(drawn(true), background));
      const Score one = score(both ? a.view : opaque.view, b.view, {.want_map = true});
      for (size_t i = 0; i < larger.size(); ++i) larger[i] = std::max(larger[i], one.map.values[i]);
    }
    const ImageView& first = both ? reference.view : opaque.view;
    const Score result = score(first, distorted.view, {.want_map = true});
    EXPECT_EQ(result.map.values, larger);
    EXPECT_EQ(result.value, *std::max_element(larger.begin(), larger.end()));
    expect_same(result, prepared_score(first, distorted.view, {.want_map = true}), "prepared");
    expect_same(score(first, distorted.view), prepared_score(first, distorted.view), "without a map");
    EXPECT_EQ(score(first, distorted.view).outputs[0].value, result.outputs[0].value);
  }
}

// Light is light: the same nits written as PQ and as linear samples of another scale.
TEST(Butteraugli, HdrPicturesAreShownAtTheirOwnBrightness) {
  const Layout floats{.type = SampleType::f32};
  Sheet pq1(floats, 64, 48, Channels::rgb, drawn(false)), pq2(floats, 64, 48, Channels::rgb, drawn(true));
  pq1.view.colour.transfer = pq2.view.colour.transfer = Transfer::pq;
  const Score own = score(pq1.view, pq2.view);
  const auto told = [](const Score& result, const std::string& text) {
    const auto& list = result.provenance.assumptions;
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  EXPECT_TRUE(told(own, "intensity target: 10000 nit, the reference's own"));
  expect_same(own, prepared_score(pq1.view, pq2.view), "prepared");
  const Score asked = score(pq1.view, pq2.view, {.metrics = {{"butteraugli", {{"intensity_target", "1e4"}}}}});
  EXPECT_EQ(asked.value, own.value);
  EXPECT_LT(score(pq1.view, pq2.view, {.metrics = {{"butteraugli", {{"intensity_target", "100"}}}}}).value, own.value);
  const Sheet sdr1({}, 64, 48, Channels::rgb, drawn(false)), sdr2({}, 64, 48, Channels::rgb, drawn(true));
  EXPECT_TRUE(told(score(sdr1.view, sdr2.view), "intensity target: 80 nit, for SDR"));
  EXPECT_GT(score(pq1.view, sdr2.view).value, 0);
}

TEST(Butteraugli, PicturesUnder8PixelsAreRefusedUnlessLibjxlsAnswerIsAskedFor) {
  const Sheet reference({}, 7, 40, Channels::rgb, drawn(false)), distorted({}, 7, 40, Channels::rgb, drawn(true));
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{7, 40}, {40, 7}, {1, 1}}) {
    const Status status = Scorer::create({.metrics = {"butteraugli"}}, width, height).status();
    EXPECT_EQ(status.code(), StatusCode::input);
    EXPECT_NE(status.message().find("needs at least 8 on each side"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("small=libjxl"), std::string::npos) << status.message();
  }
  EXPECT_TRUE(Scorer::create({.metrics = {"butteraugli"}}, 8, 8).ok());
  const ScorerOptions options{.metrics = {{"butteraugli", {{"small", "libjxl"}}}}, .want_map = true};
  for (const Score& result :
       {score(reference.view, distorted.view, options), prepared_score(reference.view, distorted.view, options)}) {
    EXPECT_EQ(result.value, 0);
    EXPECT_EQ(result.map.values, std::vector<float>(7 * 40));
    EXPECT_EQ(result.provenance.assumptions.front(),
              "size: below 8 x 8 pixels small=libjxl gives 0, whatever the pictures show");
  }
}

TEST(Butteraugli, LightBeyondFloatsIsAnError) {
  const Content bright = [](int c, int x, int y) { return x == 20 && y == 20 && c == 0 ? 3e38 : 0.5; };
  Sheet reference({.type = SampleType::f32}, 40, 40, Channels::rgb, bright);
  Sheet distorted({.type = SampleType::f32}, 40, 40, Channels::rgb, drawn(true));
  reference.view.colour.transfer = distorted.view.colour.transfer = Transfer::linear;
  const auto result = scorer_for(reference.view, {})->score(reference.view, distorted.view);
  EXPECT_EQ(result.status().code(), StatusCode::input);
}

// Whatever compiled it: GCC 12 left a rounding out.
TEST(Butteraugli, WeightsAreRoundedTwice) {
  const butteraugli::Parameters parameters = butteraugli::make_parameters(1, 1);
  EXPECT_EQ(parameters.pixel_high_y.symmetric, 0x1.34dedcp+0f);
  EXPECT_EQ(parameters.pixel_high_y.one_sided, 0x1.34dedcp+0f);
}

TEST(Butteraugli, NormsOfMapsFarFromOne) {
  for (const float factor : {1e-30f, 1e-6f, 1.0f, 1e6f, 1e30f}) {
    // Two tiles, all of whose 2048 values are 3 and 5 times the factor.
    std::vector<butteraugli::TileNorms> tiles;
    for (const float value : {3 * factor, 5 * factor}) {
      const double scaled = std::ldexp(value, -std::ilogb(value));
      butteraugli::TileNorms tile{.largest = value};
      for (size_t i = 0; i < 3; ++i) {
        tile.sums[i] = static_cast<float>(2048 * std::pow(scaled, 3 << i));
        tile.power_sums[i] = static_cast<float>(2048 * std::pow(scaled, 1.5 * (1 << i)));
      }
      tiles.push_back(tile);
    }
    const butteraugli::Norms norms = butteraugli::pool_tiles(tiles, {64, 64}, 1.5);
    EXPECT_EQ(norms.largest, 5 * factor);
    for (size_t i = 0; i < 3; ++i) {
      const auto norm = [&](double p) { return std::pow((std::pow(3, p) + std::pow(5, p)) / 2, 1 / p) * factor; };
      EXPECT_NEAR(norms.norms[i] / norm(3 << i), 1, 1e-6) << factor;
      EXPECT_NEAR(norms.power_norms[i] / norm(1.5 * (1 << i)), 1, 1e-6) << factor;
    }
  }
}

TEST(Butteraugli, PnormIsThatOfTheMap) {
  const Picture reference = fixture("scene.png"), distorted = fixture("scene.jpeg50.png");
  const Score result =
      score(reference.view, distorted.view, {.metrics = {{"butteraugli", {{"pnorm", "7"}}}}, .want_map = true});
  double sum = 0;
  for (const float value : result.map.values) sum += std::pow(static_cast<double>(value), 7);
  EXPECT_NEAR(output(result, "pnorm"), std::pow(sum / static_cast<double>(result.map.values.size()), 1.0 / 7), 1e-6);
}

// What a prepared reference adds to the working memory of a pair.
int64_t bytes_prepared(const ImageView& reference) {
  return prepared_score(reference, reference, {.threads = 2}).provenance.working_bytes -
         score(reference, reference, {.threads = 2}).provenance.working_bytes;
}

// Of thirteen planes of floats at both resolutions, with rows of whole vectors and one vector more.
int64_t bytes_of_thirteen_planes(butteraugli::Size size) {
  int64_t bytes = 0;
  for (const butteraugli::Size scale : {size, half(size)}) {
    bytes += 13 * 4 * (int64_t{scale.width + 15} / 16 * 16 * scale.height + 16);
  }
  return bytes;
}

// 48 bytes a pixel are what a pair may take. What is prepared of a reference comes on top, and nothing else does.
TEST(Butteraugli, NeedsLittleMemoryForAPairAndThirteenPlanesMoreForAReference) {
  for (const int side : {1024, 2048}) {
    if (kSlowMachine && side > 1024) continue;
    const Sheet picture({}, side, side, Channels::rgb, drawn(false));
    EXPECT_LE(score(picture.view, picture.view, {.threads = 2}).provenance.working_bytes, int64_t{8} * side * side);
    EXPECT_EQ(bytes_prepared(picture.view), bytes_of_thirteen_planes({side, side}));
  }
}

TEST(Butteraugli, KeepsATransparentReferenceOverBothBackgrounds) {
  const Sheet opaque({}, 300, 201, Channels::rgb, drawn(false)), clear({}, 300, 201, Channels::rgba, drawn(false));
  EXPECT_EQ(bytes_prepared(opaque.view), bytes_of_thirteen_planes({300, 201}));
  EXPECT_EQ(bytes_prepared(clear.view), 2 * bytes_of_thirteen_planes({300, 201}));
}

// From light to the blurred activity, stages write to the rings of their picture. Of a prepared reference none is
// written to, and the mask's gains, which have no ring, are those that were prepared: others make another map.
TEST(Butteraugli, MakesNothingOfAPreparedReferenceAgain) {
  using namespace butteraugli;
  constexpr int kBatch = 8, kWidth = 192, kHeight = 80;
  constexpr float kUntouched = 123.456f;
  const Sheet sheets[2] = {{{}, kWidth, kHeight, Channels::rgb, drawn(false)},
                           {{}, kWidth, kHeight, Channels::rgb, drawn(true)}};
  const Result<InputRows> rows[2] = {InputRows::create(sheets[0].view, {}, {}),
                                     InputRows::create(sheets[1].view, {}, {})};
  Result<Arena> arena = Arena::create(scratch_bytes(kBatch));
  ASSERT_TRUE(rows[0].ok() && rows[1].ok() && arena.ok());
  const std::span<float> scratch{arena->take<float>(scratch_bytes(kBatch) / sizeof(float)),
                                 scratch_bytes(kBatch) / sizeof(float)};
  std::vector<float> planes(kPreparedPlanes * kWidth * kHeight), map(kWidth * kHeight);
  Prepared prepared{.stride = kWidth};
  for (size_t i = 0; i < kPreparedPlanes; ++i) prepared.plane[i] = planes.data() + i * kWidth * kHeight;
  Scale scale;
  scale.size = {kWidth, kHeight};
  scale.parameters = make_parameters(1, 1);
  scale.own_map = map.data();
  scale.readers = {ScaleReader{.light = {.rows = &*rows[0], .nits = 80}},
                   ScaleReader{.light = {.rows = &*rows[1], .nits = 80}}};
  // A cell at the left edge clears all rings first; others, which are far from it, do not.
  const auto run = [&](int x_begin) {
    std::fill(scratch.begin(), scratch.end(), kUntouched);
    run_cell(scale, {x_begin, kWidth, 0, kHeight}, kBatch, reinterpret_cast<std::byte*>(scratch.data()));
  };
  // How many rings of the reference and of the distorted picture were written to; they come first, in this order.
  const auto written = [&] {
    std::array<int, 2> counts{};
    auto next = scratch.begin();
    for (int& count : counts) {
      PictureRings rings;
      visit_rings(rings, kBatch, [&](Ring&, int capacity) {
        const auto end = next + static_cast<ptrdiff_t>(capacity) * kStride;
        if (std::any_of(next, end, [](float value) { return value != kUntouched; })) ++count;
        next = end;
      });
    }
    return counts;
  };

  run(128);
  const std::vector<float> expected = map;
  const auto [all, all_again] = written();
  EXPECT_GT(all, 30);
  EXPECT_EQ(all, all_again);

  scale.prepare = &prepared;
  run(0);
  scale.prepare = nullptr;
  scale.readers[0] = {.light = {}, .prepared = &prepared};
  run(128);
  EXPECT_EQ(map, expected);
  EXPECT_EQ(written(), (std::array{0, all}));

  // The map is the root of a sum of differences times gains: of four times both it is twice the map, to the last bit.
  for (const size_t gain : {kPreparedDcGain, kPreparedAcGain}) {
    for (int i = 0; i < kWidth * kHeight; ++i) prepared.plane[gain][i] *= 4;
  }
  run(128);
  for (size_t i = 0; i < map.size(); ++i) ASSERT_EQ(map[i], i % kWidth < 128 ? expected[i] : 2 * expected[i]);
}

}  // namespace
}  // namespace acuity::tests
