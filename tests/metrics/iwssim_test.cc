// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "acuity/scorer.h"
#include "lang/targets.h"
#include "metrics/iwssim/information.h"
#include "metrics/iwssim/luma_rows.h"
#include "metrics/msssim_exact.h"
#include "support/fixtures.h"
#include "support/layouts.h"
#include "support/scoring.h"

namespace acuity::tests {
namespace {

const ScorerOptions kIwssim{.metrics = {"iwssim"}};
const ScorerOptions kPlain{.metrics = {{"iwssim", {{"weights", "none"}}}}};
const ScorerOptions kMsssim{.metrics = {"msssim"}};
const std::vector<ScorerOptions> kAll{kIwssim, kPlain, kMsssim};

std::string name_of(const ScorerOptions& options) {
  std::string name = options.metrics[0].metric;
  for (const OptionValue& option : options.metrics[0].options) name += ":" + option.name + "=" + option.value;
  return name;
}

ScorerOptions with_small(ScorerOptions options, const std::string& word) {
  options.metrics[0].options.push_back({"small", word});
  return options;
}

Score score(const ImageView& reference, const ImageView& distorted, const ScorerOptions& options,
            bool is_prepared = false) {
  return is_prepared ? score_prepared(reference, distorted, options) : score_pair(reference, distorted, options);
}

bool assumes(const Score& score, const std::string& what) {
  const std::vector<std::string>& all = score.provenance.assumptions;
  return std::any_of(all.begin(), all.end(), [&](const std::string& line) { return line.find(what) != line.npos; });
}

// 1e-6 is the aim. What remains is the rounding of the coarser levels of the pyramid to float: 7.6e-7 in the fourth
// scale of one pair, and less than 3e-7 in any score.
void expect_goldens(const ScorerOptions& options, const std::string& output) {
  const std::vector<Golden> pairs = goldens("iwssim.csv", output);
  EXPECT_EQ(pairs.size(), kSlowMachine ? 8u : 32u);
  std::vector<std::vector<Golden>> scales;
  for (int s = 1; s <= 5; ++s) scales.push_back(goldens("iwssim.csv", output + "_scale" + std::to_string(s)));
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::string what = pairs[i].reference + " " + pairs[i].distorted;
    const Score ours = score(fixture(pairs[i].reference).view, fixture(pairs[i].distorted).view, options);
    EXPECT_NEAR(ours.value, std::stod(pairs[i].value), 5e-7) << what;
    ASSERT_EQ(ours.outputs.size(), 5u);
    for (size_t s = 0; s < 5; ++s) {
      EXPECT_EQ(ours.outputs[s].name, "scale" + std::to_string(s + 1));
      EXPECT_NEAR(ours.outputs[s].value, std::stod(scales[s][i].value), 1e-6) << what << " scale " << s + 1;
    }
  }
}

TEST(Iwssim, AgreesWithTheReference) { expect_goldens(kIwssim, "iwssim_double"); }
TEST(Iwssim, AgreesWithTheReferenceWithoutWeights) { expect_goldens(kPlain, "msssim_double"); }

TEST(Msssim, AgreesWithItsFormulas) {
  for (const auto& [reference, distorted] :
       std::vector<std::pair<std::string, std::string>>{{"gradient.png", "gradient.bands.png"},
                                                        {"text.png", "text.noise.png"},
                                                        {"portrait.png", "portrait.blur.png"}}) {
    const Picture a = fixture(reference), b = fixture(distorted);
    const ExactMsssim exact = exact_msssim(a.view, b.view);
    const Score ours = score(a.view, b.view, kMsssim);
    EXPECT_NEAR(ours.value, exact.value, 1e-7) << distorted;
    for (size_t s = 0; s < 5; ++s) EXPECT_NEAR(ours.outputs[s].value, exact.scales[s], 1e-7) << distorted << s;
  }
}

TEST(Iwssim, IdenticalPicturesScoreExactly1) {
  for (const ScorerOptions& options : kAll) {
    for (const char* name : {"scene.png", "flat.png", "black.png", "gradient.png", "size_9x17.png", "size_1x1.png"}) {
      const Picture picture = fixture(name);
      for (const bool is_prepared : {false, true}) {
        const Score same = score(picture.view, picture.view, options, is_prepared);
        EXPECT_EQ(same.value, 1) << name << " " << name_of(options);
        for (const NamedValue& scale : same.outputs) EXPECT_EQ(scale.value, 1) << name << " " << scale.name;
      }
    }
  }
}

TEST(Iwssim, NothingButThePicturesChangesTheScore) {
  // oneTBB starts no more threads than cores unless told to.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{40, 33}, {331, 301}, {459, 180}}) {
    const Sheet reference({}, width, height, Channels::rgb, drawn(false));
    const Sheet distorted({}, width, height, Channels::rgb, drawn(true));
    for (ScorerOptions options : kAll) {
      options.want_map = true;
      options.threads = 1;
      const std::vector<double> expected = numbers(score(reference.view, distorted.view, options));
      const auto expect_the_same = [&](int threads, const MemoryMode& memory) {
        options.threads = threads;
        options.memory = memory;
        for (const bool is_prepared : {false, true}) {
          const Score other = score(reference.view, distorted.view, options, is_prepared);
          EXPECT_EQ(numbers(other), expected)
              << name_of(options) << " " << width << "x" << height << " " << other.provenance.device << " threads "
              << threads << " " << other.provenance.memory_mode << (is_prepared ? " prepared" : "");
        }
      };
      for (int threads : {1, 2, 3, 8}) expect_the_same(threads, MemoryMode::full());
      for (int rows : {1, 64, 100, 1000}) expect_the_same(2, MemoryMode::strip(rows));
      for (const std::string& target : cpu_targets()) {
        ASSERT_TRUE(limit_cpu(target).ok());
        expect_the_same(2, MemoryMode::full());
      }
      ASSERT_TRUE(limit_cpu("").ok());
    }
  }
}

TEST(Iwssim, APreparedReferenceServesManyAndSurvivesPairs) {
  const Sheet reference({}, 200, 190, Channels::rgb, drawn(false));
  const Sheet distorted({}, 200, 190, Channels::rgb, drawn(true));
  for (const ScorerOptions& options : kAll) {
    const double forwards = score(reference.view, distorted.view, options).value;
    const double backwards = score(distorted.view, reference.view, options).value;
    Result<Scorer> scorer = Scorer::create(options, 200, 190);
    Reference prepared;
    {
      const Sheet gone({}, 200, 190, Channels::rgb, drawn(false));
      prepared = *scorer->prepare(gone.view);
    }
    EXPECT_EQ(checked(only(scorer->score(prepared, distorted.view))).value, forwards);
    EXPECT_EQ(checked(only(scorer->score(distorted.view, reference.view))).value, backwards);
    EXPECT_EQ(checked(only(scorer->score(prepared, distorted.view))).value, forwards);
    prepared = *scorer->prepare(distorted.view);
    EXPECT_EQ(checked(only(scorer->score(prepared, reference.view))).value, backwards);
  }
}

TEST(Iwssim, LayoutsChangeNothing) {
  for (const Channels channels : {Channels::grey, Channels::rgb, Channels::rgba}) {
    for (const Layout& type : {Layout{}, Layout{SampleType::u16, 16}, Layout{SampleType::f32, 8}}) {
      const Sheet reference(type, 180, 176, channels, drawn(false));
      const Sheet distorted(type, 180, 176, channels, drawn(true));
      for (const ScorerOptions& options : {kIwssim, kMsssim}) {
        const std::vector<double> expected = numbers(score(reference.view, distorted.view, options));
        for (const Layout& layout : arrangements(type.type, type.depth)) {
          const Sheet other(layout, 180, 176, channels, drawn(false));
          EXPECT_EQ(numbers(score(other.view, distorted.view, options)), expected) << layout.name();
        }
      }
    }
  }
}

TEST(Iwssim, LumaIsRoundedWhereCodesAreWhole) {
  const Sheet a8({}, 180, 176, Channels::rgb, drawn(false)), b8({}, 180, 176, Channels::rgb, drawn(true));
  const Sheet a16({SampleType::u16, 16}, 180, 176, Channels::rgb, drawn(false));
  const Sheet b16({SampleType::u16, 16}, 180, 176, Channels::rgb, drawn(true));
  const Score rounded = score(a8.view, b8.view, kIwssim), not_rounded = score(a16.view, b16.view, kIwssim);
  EXPECT_NE(rounded.value, not_rounded.value);
  EXPECT_NEAR(rounded.value, not_rounded.value, 1e-2);
  EXPECT_EQ(rounded.provenance.assumptions[0], "reference: sRGB codes used as they are, luma rounded to whole codes");
  EXPECT_EQ(not_rounded.provenance.assumptions[1],
            "distorted: sRGB codes used as they are, luma rounded to whole codes where all three samples are");
}

TEST(Iwssim, LumaIsRoundedAsDoubleArithmeticWould) {
  // Every half-way case and its neighbours, in a row of pixels.
  std::vector<uint8_t> pixels;
  for (int red = 0; red < 256; red += 10) {
    for (int green = 0; green < 256; ++green) {
      for (int blue = 0; blue < 256; ++blue) {
        const int remainder = (2989 * red + 5870 * green + 1140 * blue) % 10000;
        if (std::abs(remainder - 5000) > 10) continue;
        for (const int code : {red, green, blue}) pixels.push_back(static_cast<uint8_t>(code));
      }
    }
  }
  const int width = static_cast<int>(pixels.size() / 3);
  ASSERT_GT(width, 1703);
  const ImageView view = interleaved_view(pixels.data(), width, 1, Channels::rgb, SampleType::u8);
  const Result<LumaRows> luma = LumaRows::create(view, Enlarge::tile, 1, std::nullopt);
  ASSERT_TRUE(luma.ok());
  std::vector<float> out(pixels.size() + 64), scratch(luma->scratch_floats() + 16);
  void* first = scratch.data();
  size_t bytes = scratch.size() * sizeof(float);
  luma->read(0, static_cast<float*>(std::align(64, luma->scratch_floats() * sizeof(float), first, bytes)), out.data());
  for (size_t x = 0; x < static_cast<size_t>(width); ++x) {
    const double exact = 0.2989 * pixels[3 * x] + 0.5870 * pixels[3 * x + 1] + 0.1140 * pixels[3 * x + 2];
    ASSERT_EQ(out[x] + 128, std::nearbyint(exact)) << int(pixels[3 * x]) << " " << int(pixels[3 * x + 1]);
  }
}

TEST(Iwssim, SmallPicturesAreEnlargedAsTheCallerSays) {
  // By hand, what the library does by itself.
  const auto enlarged = [](const Picture& small, Enlarge how) {
    const std::vector<Enlarged> columns = enlarge_side(how, small.view.width, 176);
    const std::vector<Enlarged> rows = enlarge_side(how, small.view.height, 176);
    return Sheet({}, static_cast<int>(columns.size()), static_cast<int>(rows.size()), Channels::rgb,
                 [=, &small](int c, int x, int y) {
                   const std::byte* sample = small.view.planes[static_cast<size_t>(c)] +
                                             rows[static_cast<size_t>(y)].first * small.view.row_stride +
                                             columns[static_cast<size_t>(x)].first * small.view.pixel_stride;
                   return std::to_integer<int>(*sample) / 255.0;
                 });
  };
  for (const char* name : {"size_33x31", "size_500x40", "size_1x64", "size_163x162"}) {
    const Picture a = fixture(std::string(name) + ".png"), b = fixture(std::string(name) + ".noise.png");
    for (const ScorerOptions& options : kAll) {
      for (const auto& [word, how] : {std::pair("tile", Enlarge::tile), std::pair("reflect", Enlarge::reflect)}) {
        const Score small = score(a.view, b.view, with_small(options, word));
        EXPECT_EQ(small.value, score(enlarged(a, how).view, enlarged(b, how).view, options).value) << name << word;
        EXPECT_TRUE(assumes(small, std::string("by small=") + word));
      }
      EXPECT_EQ(score(a.view, b.view, options).value, score(a.view, b.view, with_small(options, "tile")).value);
      const double stretched = score(a.view, b.view, with_small(options, "upscale")).value;
      EXPECT_GT(stretched, 0) << name;
      EXPECT_LT(stretched, 1) << name;
    }
  }
  const Result<Scorer> refused = Scorer::create(with_small(kIwssim, "reject"), 500, 175);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::input);
  EXPECT_NE(refused.status().message().find("500 x 175"), std::string::npos) << refused.status().message();
  EXPECT_TRUE(Scorer::create(with_small(kIwssim, "reject"), 176, 176).ok());
}

TEST(Iwssim, EverySmallSizeHasAScore) {
  for (int width : {1, 2, 3, 11, 175, 177}) {
    for (int height : {1, 10, 90, 176}) {
      const Sheet reference({}, width, height, Channels::rgb, drawn(false));
      const Sheet distorted({}, width, height, Channels::rgb, drawn(true));
      for (const ScorerOptions& options : kAll) {
        for (const char* word : {"tile", "reflect", "upscale"}) {
          ScorerOptions small = with_small(options, word);
          small.want_map = true;
          const Score result = score(reference.view, distorted.view, small);
          EXPECT_TRUE(std::isfinite(result.value) && result.value <= 1) << width << "x" << height << word;
          EXPECT_EQ(result.map.values.size(), static_cast<size_t>(width * height));
        }
      }
    }
  }
}

// Subbands in which the covariance has no inverse: nothing there, rows all alike, columns all alike, diagonals.
TEST(Iwssim, PicturesWithoutASecondDimensionScore) {
  const auto wave = [](double phase) { return std::round(255 * (0.5 + 0.3 * std::sin(phase))) / 255; };
  const std::vector<Content> contents{
      [&](int, int x, int) { return wave(0.3 * x); }, [&](int, int, int y) { return wave(0.23 * y); },
      [&](int, int x, int y) { return wave(0.2 * (x + y)); }, [&](int, int, int) { return 0.5; }};
  for (const Content& content : contents) {
    const Sheet reference({}, 190, 200, Channels::rgb, content);
    const Sheet distorted({}, 190, 200, Channels::rgb,
                          [&](int c, int x, int y) { return content(c, x, y) + ((x * 7 + y * 13) % 11 - 5) / 255.0; });
    for (const ScorerOptions& options : kAll) {
      for (const bool turned : {false, true}) {
        const double value = turned ? score(distorted.view, reference.view, options).value
                                    : score(reference.view, distorted.view, options).value;
        EXPECT_GT(value, 0.3) << name_of(options);
        EXPECT_LT(value, 0.9999) << name_of(options);
      }
    }
  }
}

TEST(Iwssim, TheMapShowsWhereTheLossIs) {
  const Picture picture = fixture("scene.png");
  std::vector<std::byte> pixels(picture.view.planes[0],
                                picture.view.planes[0] + picture.view.row_stride * picture.view.height);
  ImageView spoilt = picture.view;
  for (size_t c = 0; c < 3; ++c) spoilt.planes[c] = pixels.data() + c;
  for (int y = 200; y < 232; ++y) {
    for (int x = 100; x < 132; ++x) {
      for (int c = 0; c < 3; ++c) {
        std::byte& sample = pixels[static_cast<size_t>(y * spoilt.row_stride + x * spoilt.pixel_stride + c)];
        sample = std::byte(128);
      }
    }
  }
  for (ScorerOptions options : kAll) {
    options.want_map = true;
    const Score result = score(picture.view, spoilt, options);
    const DifferenceMap& map = result.map;
    const auto at = [&](int x, int y) { return map.values[static_cast<size_t>(y * map.width + x)]; };
    EXPECT_GT(at(116, 216), 0.05f) << name_of(options);
    EXPECT_EQ(at(380, 10), 0.0f) << name_of(options);
    // To first order the mean of the map is what is missing from 1; edges count a little more than in the score.
    const double mean = std::accumulate(map.values.begin(), map.values.end(), 0.0) / (map.width * map.height);
    EXPECT_NEAR(mean, 1 - result.value, 0.4 * (1 - result.value)) << name_of(options);
  }
}

TEST(Iwssim, AlphaCountsTheLowerOfBlackAndWhite) {
  // Opaque in one half; in the other what lies under the transparency shows nowhere.
  const auto content = [](bool other) {
    return [other](int c, int x, int y) {
      if (c == 3) return x < 90 ? 1.0 : 0.0;
      return x < 90 ? drawn(false)(c, x, y) : other ? 0.9 : 0.1;
    };
  };
  const Sheet a({}, 180, 180, Channels::rgba, content(false)), b({}, 180, 180, Channels::rgba, content(true));
  for (const ScorerOptions& options : kAll) EXPECT_EQ(score(a.view, b.view, options).value, 1);

  // Black under nothing: on black there is nothing to see, on white there is.
  const Sheet clear({}, 180, 180, Channels::rgba, [](int, int, int) { return 0; });
  const Sheet faint({}, 180, 180, Channels::rgba, [](int c, int x, int) { return c == 3 && x % 8 < 4 ? 0.5 : 0.0; });
  const Sheet white({}, 180, 180, Channels::rgb, [](int, int, int) { return 1; });
  const Sheet striped({}, 180, 180, Channels::rgb, [](int, int x, int) { return x % 8 < 4 ? 127 / 255.0 : 1.0; });
  for (const ScorerOptions& options : kAll) {
    const double expected = score(white.view, striped.view, options).value;
    EXPECT_LT(expected, 0.9);
    for (const bool is_prepared : {false, true}) {
      EXPECT_NEAR(score(clear.view, faint.view, options, is_prepared).value, expected, 1e-3);
      EXPECT_NEAR(score(white.view, faint.view, options, is_prepared).value, expected, 0.3);
    }
    EXPECT_TRUE(assumes(score(clear.view, faint.view, options), "black and over white"));
  }
}

TEST(Iwssim, MemoryIsWithinItsBound) {
  const Sheet reference({}, 700, 600, Channels::rgb, drawn(false)), distorted({}, 700, 600, Channels::rgb, drawn(true));
  for (const ScorerOptions& options : kAll) {
    for (const bool is_prepared : {false, true}) {
      const Score result = score(reference.view, distorted.view, options, is_prepared);
      EXPECT_LT(static_cast<double>(result.provenance.working_bytes) / (700 * 600), 14) << name_of(options);
    }
  }
}

// Independent samples: the eigenvalues are their variance, and improbability is a sum of squares.
TEST(Iwssim, InformationOfIndependentSamples) {
  iwssim::TileProducts tile{};
  const double variance = 7, places = 100;
  const auto pair = [](size_t p, size_t q) { return q * (q + 1) / 2 + p; };
  constexpr double kLengths[3] = {3, 2, 6};
  for (size_t k = 0; k < 9; ++k) {
    tile[pair(k, k)] = static_cast<float>(variance * kLengths[k / 3] * kLengths[k % 3] * places);
  }
  const iwssim::Information information = iwssim::information_of({&tile, 1}, 3, {12, 12});
  for (size_t q = 0; q < 9; ++q) {
    EXPECT_NEAR(information.eigenvalues[q], variance, 1e-5);
    const double lengths = kLengths[q / 3] * kLengths[q % 3];
    EXPECT_NEAR(information.whitening[pair(q, q)], 1 / std::sqrt(9 * variance * lengths), 1e-7);
    for (size_t p = 0; p < q; ++p) EXPECT_EQ(information.whitening[pair(p, q)], 0);
  }
}

}  // namespace
}  // namespace acuity::tests
