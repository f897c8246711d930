// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tbb/global_control.h>

#include "acuity/scorer.h"
#include "base/powers.h"
#include "lang/host.h"
#include "lang/targets.h"
#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/scales.h"
#include "metrics/cvvdp/sensitivity.h"
#include "support/fixtures.h"
#include "support/layouts.h"
#include "support/scoring.h"
#include "support/synthetic_video.h"

namespace acuity::cvvdp::dialect {

using namespace kernel_dialect;
#include "lang/exact.h"
#include "metrics/cvvdp/math.h"

}  // namespace acuity::cvvdp::dialect

namespace acuity::tests {
namespace {

using nlohmann::json;

ScorerOptions on_display(const std::string& display, std::vector<OptionValue> more = {}) {
  more.insert(more.begin(), {"display", display});
  return {.metrics = {{"cvvdp", more}}, .device = "cpu", .threads = 2};
}

// A file of displays in a folder of its own.
class DisplayFile {
 public:
  explicit DisplayFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / fmt::format("acuity_display_{}.json", ::getpid())) {
    std::ofstream(path_) << text;
  }
  ~DisplayFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// The published entry of a built-in display, with "+key=value" applied as the goldens name it.
std::string altered(const std::string& name) {
  const std::map<std::string, const char*> colour_spaces{{"standard_4k", "sRGB"},
                                                         {"standard_hdr_pq", "BT.2020-PQ"},
                                                         {"standard_hdr_hlg", "BT.2020-HLG"},
                                                         {"standard_hdr_linear", "BT.709-linear"}};
  std::istringstream parts(name);
  std::string part;
  std::getline(parts, part, '+');
  const bool hdr = part != "standard_4k";
  json fields{{"colorspace", colour_spaces.at(part)}, {"resolution", {3840, 2160}},
              {"viewing_distance_meters", 0.7472},    {"diagonal_size_inches", 30},
              {"max_luminance", hdr ? 1500 : 200},    {"contrast", hdr ? 1000000 : 1000},
              {"E_ambient", hdr ? 10 : 250},          {"source", "none"}};
  while (std::getline(parts, part, '+')) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    std::string value = part.substr(equals + 1);
    std::replace(value.begin(), value.end(), '_', ' ');
    fields[key] = key == "colorspace" ? json(value) : json(std::stod(value));
  }
  return json{{"altered", fields}}.dump();
}

// A picture as the goldens name their inputs.
struct Shown {
  Picture picture;
  std::vector<float> nits;
  std::vector<uint16_t> words;
  std::vector<uint8_t> bytes;
  ImageView view;

  Shown(Picture shown, const std::string& as) : picture(std::move(shown)), view(picture.view) {
    const int width = view.width, height = view.height;
    for (int y = 0; y < height && as != "u8"; ++y) {
      for (int x = 0; x < width; ++x) {
        for (size_t c = 0; c < 3; ++c) {
          const int code = std::to_integer<int>(
              *(picture.view.planes[c] + y * picture.view.row_stride + x * picture.view.pixel_stride));
          if (as == "nits_sq1000") nits.push_back(static_cast<float>(code * code * 1000.0 / 65025));
          if (as == "u16_sq") words.push_back(static_cast<uint16_t>(code * code));
          if (as == "grey1" && c == 1) bytes.push_back(static_cast<uint8_t>(code));
        }
      }
    }
    if (!nits.empty()) {
      view = interleaved_view(nits.data(), width, height, Channels::rgb, SampleType::f32);
      view.colour.transfer = Transfer::linear;
    }
    if (!words.empty()) view = interleaved_view(words.data(), width, height, Channels::rgb, SampleType::u16);
    if (!bytes.empty()) view = interleaved_view(bytes.data(), width, height, Channels::grey, SampleType::u8);
  }
};

std::vector<std::vector<std::string>> rows_of(const std::string& golden) {
  std::ifstream stream(tests_folder() + "/golden/" + golden);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(stream, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

// A committed picture, or "synth_WxH_FRAME": a frame of the synthetic video, which is drawn once.
Picture picture_of(const std::string& name, bool distorted) {
  int width = 0, height = 0, frame = 0;
  if (std::sscanf(name.c_str(), "synth_%dx%d_%d", &width, &height, &frame) != 3) return fixture(name);
  static std::map<std::pair<std::string, bool>, Picture> drawn;
  Picture& picture = drawn[{name, distorted}];
  if (picture.pixels) return picture;
  const SyntheticVideo video(width, height, 8, Subsampling::yuv444);
  const std::vector<uint8_t> samples = rgb_of(distorted ? video.distorted(frame) : video.reference(frame));
  picture.pixels.reset(new std::byte[samples.size()]);
  std::memcpy(picture.pixels.get(), samples.data(), samples.size());
  picture.view = interleaved_view(picture.pixels.get(), width, height, Channels::rgb, SampleType::u8);
  return picture;
}

// The reference and the distorted picture of a column of the goldens on a display, as one of their inputs.
Score score_cell(const std::string& reference, const std::string& distorted, const std::string& display,
                 const std::string& input) {
  const bool is_altered = display.find('+') != std::string::npos;
  const DisplayFile file(is_altered ? altered(display) : "");
  const Shown a(picture_of(reference, false), input), b(picture_of(distorted, true), input);
  return score_pair(a.view, b.view, on_display(is_altered ? file.path() : display, {{"grey", "luminance"}}));
}

bool is_large(const std::string& name) { return name.starts_with("synth_"); }

// All 1712 cells: 61 pairs, 53 displays and inputs, up to 11 subbands. The largest difference is 3.6e-6; the reference
// computes in floats.
TEST(Cvvdp, AgreesWithTheReference) {
  const std::vector<std::vector<std::string>> rows = rows_of("cvvdp.csv");
  int cells = 0;
  for (size_t r = 1; r < rows.size(); ++r) {
    const std::string &display = rows[r][0], &input = rows[r][1];
    for (size_t i = 2; i < rows[r].size(); ++i) {
      if (rows[r][i].empty()) continue;
      std::istringstream names(rows[0][i]);
      std::string reference, distorted;
      names >> reference >> distorted;
      if (distorted.empty()) distorted = reference;
      const bool is_left_out = kSlowMachine && (cells % 28 != 0 || is_large(reference));
      ++cells;
      if (is_left_out) continue;
      EXPECT_NEAR(score_cell(reference, distorted, display, input).value, std::stod(rows[r][i]), 1e-5)
          << display << " " << input << " " << rows[0][i];
    }
  }
  EXPECT_EQ(cells, 1712);
}

// The largest difference is 1.03e-4 (Q + 0.001).
TEST(Cvvdp, SubbandsAgreeWithTheReference) {
  int values = 0, cells = 0;
  for (const std::vector<std::string>& row : rows_of("cvvdp_subbands.csv")) {
    if (row[0] == "reference" || (kSlowMachine && (cells++ % 9 != 0 || is_large(row[0])))) continue;
    const Score ours = score_cell(row[0], row[1], row[2], row[3]);
    // Three channels, each with all subbands, then one value for each channel.
    ASSERT_EQ(ours.outputs.size(), row.size() - 4 + 3) << row[0] << " " << row[2];
    for (size_t i = 4; i < row.size(); ++i) {
      const double expected = std::stod(row[i]);
      const NamedValue& output = ours.outputs[i - 4];
      EXPECT_NEAR(output.value, expected, 2e-4 * (expected + 0.001))
          << row[1] << " " << row[2] << " " << row[3] << " " << output.name;
      ++values;
    }
  }
  if (!kSlowMachine) {
    EXPECT_EQ(values, 1083);
  }
}

// The reference rounds maps to 16-bit floats, which have 11 bits.
TEST(Cvvdp, MapsAgreeWithTheReference) {
  std::ifstream stream(tests_folder() + "/golden/cvvdp_maps.csv");
  std::string line, scored;
  std::getline(stream, line);
  DifferenceMap map;
  int values = 0;
  while (std::getline(stream, line)) {
    std::istringstream fields(line);
    std::string reference, distorted, output, value, display, quantity;
    std::getline(fields, reference, ',');
    std::getline(fields, distorted, ',');
    std::getline(fields, output, ',');
    std::getline(fields, value);
    std::istringstream words(output);
    words >> display >> quantity;
    if (distorted != scored) {
      ScorerOptions options = on_display(display);
      options.want_map = true;
      map = score_pair(fixture(reference).view, fixture(distorted).view, options).map;
      scored = distorted;
    }
    ASSERT_FALSE(map.values.empty());
    const double expected = std::stod(value);
    double found = 0;
    if (quantity == "mean") {
      for (const float place : map.values) found += static_cast<double>(place);
      found /= static_cast<double>(map.values.size());
    } else if (quantity == "max") {
      found = static_cast<double>(*std::max_element(map.values.begin(), map.values.end()));
    } else {
      int x = 0;
      words >> x;
      found = static_cast<double>(map.values[static_cast<size_t>(std::stoi(quantity) * map.width + x)]);
    }
    EXPECT_NEAR(found, expected, expected / 2048) << line;
    ++values;
  }
  EXPECT_EQ(values, 42);
}

// math.h has them as literals, because kernels compute with those as fast as with registers.
TEST(Cvvdp, ConstantsComeFromThePublishedParameters) {
  namespace published = acuity::cvvdp;
  const auto rounded = [](double value) { return static_cast<float>(value); };
  const double scale = exact_power(10, published::kLogMaskScale);
  const std::vector<float> blur{BLUR_0, BLUR_1, BLUR_2, BLUR_3, BLUR_4, BLUR_5, BLUR_6};
  const std::vector<float> scaled_blur{SCALED_BLUR_0, SCALED_BLUR_1, SCALED_BLUR_2, SCALED_BLUR_3,
                                       SCALED_BLUR_4, SCALED_BLUR_5, SCALED_BLUR_6};
  std::vector<double> weights;
  double sum = 0;
  for (int k = 0; k <= 6; ++k) {
    weights.push_back(exact_exp(-k * k / 18.0));
    sum += (k == 0 ? 1 : 2) * weights.back();
  }
  for (size_t k = 0; k <= 6; ++k) {
    EXPECT_EQ(blur[k], rounded(weights[k] / sum)) << k;
    EXPECT_EQ(scaled_blur[k], rounded(weights[k] / sum * scale)) << k;
  }
  EXPECT_EQ(MASK_SCALE, rounded(scale));
  EXPECT_EQ(DIFFERENCE_POWER, rounded(published::kMaskPower));
  EXPECT_EQ(LARGEST_DIFFERENCE, rounded(exact_power(10, published::kLogLargestDifference)));
  EXPECT_EQ(LUMINANCE_STEP, rounded(published::luminance_step()));
  EXPECT_EQ(LUMINANCE_OFFSET, rounded(published::luminance_offset()));
  for (int c = 0; c < published::kChannels; ++c) {
    const auto of = static_cast<size_t>(c);
    EXPECT_EQ(published::dialect::mask_power(c), rounded(published::kMaskingPowers[of])) << c;
    const auto masking = [&](float a, float b, float d, float e) {
      return published::dialect::masking_of_transient(c, published::dialect::masking_of(c, a, b, d), e);
    };
    for (size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(masking(k == 0 ? 1 : 0, k == 1 ? 1 : 0, k == 2 ? 1 : 0, k == 3 ? 1 : 0),
                rounded(exact_exp2(published::kLogCrossMasking[k][of])))
          << c << k;
    }
  }
}

TEST(Cvvdp, IdenticalPicturesScoreExactly10) {
  for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear"}) {
    for (const char* name : {"scene.png", "flat.png", "black.png", "size_9x17.png", "size_2x2.png"}) {
      const Picture picture = fixture(name);
      EXPECT_EQ(score_pair(picture.view, picture.view, on_display(display)).value, 10) << name << display;
      EXPECT_EQ(score_prepared(picture.view, picture.view, on_display(display)).value, 10) << name << display;
    }
  }
}

TEST(Cvvdp, NothingButThePicturesChangesTheScore) {
  // oneTBB starts no more threads than cores unless told to.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 8);
  for (const char* display : {"standard_4k", "iphone_14_pro_hdr"}) {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{5, 7}, {40, 33}, {331, 301}, {66, 459}}) {
      const Sheet reference({}, width, height, Channels::rgb, drawn(false));
      const Sheet distorted({}, width, height, Channels::rgb, drawn(true));
      ScorerOptions options = on_display(display);
      options.want_map = true;
      options.threads = 1;
      const std::vector<double> expected = numbers(score_pair(reference.view, distorted.view, options));
      EXPECT_LT(expected[0], 10);
      const auto expect_the_same = [&](int threads, const MemoryMode& memory) {
        options.threads = threads;
        options.memory = memory;
        const std::string what = fmt::format("{} {}x{} threads {}", display, width, height, threads);
        EXPECT_EQ(numbers(score_pair(reference.view, distorted.view, options)), expected) << what;
        EXPECT_EQ(numbers(score_prepared(reference.view, distorted.view, options)), expected) << what;
      };
      for (int threads : {1, 2, 3, 8}) expect_the_same(threads, MemoryMode::full());
      for (int rows : {1, 64, 1000}) expect_the_same(2, MemoryMode::strip(rows));
      for (const std::string& target : cpu_targets()) {
        ASSERT_TRUE(limit_cpu(target).ok());
        expect_the_same(2, MemoryMode::full());
      }
      ASSERT_TRUE(limit_cpu("").ok());
    }
  }
}

TEST(Cvvdp, LayoutsChangeNothing) {
  for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_linear"}) {
    for (const Channels channels : {Channels::grey, Channels::rgb, Channels::rgba}) {
      expect_layouts_score_alike(
          [&](const ImageView& a, const ImageView& b) { return score_pair(a, b, on_display(display)); },
          [&](const ImageView& a, const ImageView& b) { return score_prepared(a, b, on_display(display)); },
          drawn(false), drawn(true), channels);
    }
  }
}

TEST(Cvvdp, EqualSamplesOfOtherTypesAreEqual) {
  const Sheet bytes({}, 60, 50, Channels::rgb, drawn(false));
  const Content codes = [](int c, int x, int y) { return std::floor(drawn(false)(c, x, y) * 255 + 0.5) / 255; };
  const Sheet words({SampleType::u16, 16}, 60, 50, Channels::rgb, codes);
  const Sheet floats({SampleType::f32, 8}, 60, 50, Channels::rgb, codes);
  for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg"}) {
    EXPECT_EQ(score_pair(bytes.view, words.view, on_display(display)).value, 10) << display;
    EXPECT_EQ(score_pair(bytes.view, floats.view, on_display(display)).value, 10) << display;
  }
}

TEST(Cvvdp, AlphaIsShownOverBlackAndWhite) {
  const Content opaque = drawn(false);
  const Sheet reference({}, 64, 64, Channels::rgba,
                        [&](int c, int x, int y) { return c == 3 ? 1.0 : opaque(c, x, y); });
  const Sheet distorted({}, 64, 64, Channels::rgba,
                        [&](int c, int x, int y) { return c == 3 ? 0.5 : opaque(c, x, y); });
  const auto over = [&](double grey) {
    // 0.5 is stored as 128 of 255.
    return Sheet({SampleType::f32, 8}, 64, 64, Channels::rgb, [&, grey](int c, int x, int y) {
      const double sample = std::floor(opaque(c, x, y) * 255 + 0.5) / 255;
      return grey + (sample - grey) * 128 / 255;
    });
  };
  const Sheet plain({}, 64, 64, Channels::rgb, opaque);
  const double dark = score_pair(plain.view, over(0).view, on_display("standard_4k")).value;
  const double bright = score_pair(plain.view, over(1).view, on_display("standard_4k")).value;
  const Score both = score_pair(reference.view, distorted.view, on_display("standard_4k"));
  EXPECT_NEAR(both.value, std::min(dark, bright), 1e-5);
  EXPECT_EQ(score_pair(reference.view, reference.view, on_display("standard_4k")).value, 10);
}

TEST(Cvvdp, OptionsReplaceWhatTheDisplaySays) {
  const Picture a = fixture("scene.png"), b = fixture("scene.jpeg10.png");
  const auto value = [&](const std::string& display, const std::vector<OptionValue>& options) {
    return score_pair(a.view, b.view, on_display(display, options)).value;
  };
  const double standard = value("standard_4k", {});
  // The same display in other words.
  EXPECT_EQ(value("standard_4k", {{"peak", "200"},
                                  {"black", "0.2"},
                                  {"ambient", "250"},
                                  {"reflectivity", "0.005"},
                                  {"distance", "0.7472"},
                                  {"size", "30"}}),
            standard);
  const double ppd = cvvdp::pixels_per_degree(*cvvdp::load_display("standard_4k"));
  EXPECT_EQ(value("standard_4k", {{"ppd", fmt::format("{}", ppd)}}), standard);
  EXPECT_EQ(value("sdr_4k_30", {{"peak", "200"}, {"distance", "0.7472"}, {"black", "0.2"}}), standard);
  for (const OptionValue& option : std::vector<OptionValue>{{"ppd", "20"},
                                                            {"distance", "2"},
                                                            {"size", "15"},
                                                            {"peak", "90"},
                                                            {"black", "10"},
                                                            {"ambient", "10000"},
                                                            {"reflectivity", "0.3"}}) {
    EXPECT_GT(std::fabs(value("standard_4k", {option}) - standard), 1e-3) << option.name;
  }
}

TEST(Cvvdp, StatesTheDisplayAndWhatWasNotConverted) {
  Picture a = fixture("scene.png"), b = fixture("scene.jpeg10.png");
  const auto assumptions = [&](const char* display) {
    return score_pair(a.view, b.view, on_display(display)).provenance.assumptions;
  };
  EXPECT_EQ(assumptions("standard_4k")[0], "display: standard_4k, 75.4024 pixels per degree");
  EXPECT_EQ(assumptions("standard_4k")[1], "reference: sRGB codes shown on standard_4k");
  EXPECT_EQ(
      assumptions("standard_hdr_pq")[2],
      "distorted: sRGB codes read as PQ codes of BT.2020-PQ, which is what standard_hdr_pq expects; the file's own "
      "colours are not used");
  a.view.colour.transfer = Transfer::pq;
  EXPECT_EQ(assumptions("standard_hdr_pq")[1], "reference: PQ codes shown on standard_hdr_pq");
}

TEST(Cvvdp, TheDefaultDisplaySuitsTheReference) {
  Picture a = fixture("scene.png"), b = fixture("scene.jpeg10.png");
  for (const auto& [transfer, display] : std::vector<std::pair<Transfer, std::string>>{
           {Transfer::srgb, "standard_4k"}, {Transfer::pq, "standard_hdr_pq"}, {Transfer::hlg, "standard_hdr_hlg"}}) {
    a.view.colour.transfer = b.view.colour.transfer = transfer;
    const double expected = score_pair(a.view, b.view, on_display(display)).value;
    EXPECT_EQ(score_pair(a.view, b.view, on_display("auto")).value, expected) << display;
    EXPECT_EQ(score_prepared(a.view, b.view, {.metrics = {"cvvdp"}, .device = "cpu"}).value, expected) << display;
  }
  a.view.colour.transfer = Transfer::linear;
  Result<Scorer> scorer = Scorer::create(on_display("auto"), a.view.width, a.view.height);
  EXPECT_NE(scorer->score(a.view, b.view).status().message().find("how bright linear samples are"), std::string::npos);
}

// In daylight HLG has no system gamma, which is nothing to those who compare other pictures.
TEST(Cvvdp, LightThatForbidsHlgForbidsNothingElse) {
  Picture a = fixture("scene.png"), b = fixture("scene.jpeg10.png");
  const OptionValue daylight{"ambient", "30000"};
  EXPECT_EQ(score_pair(a.view, b.view, on_display("auto", {daylight})).value,
            score_pair(a.view, b.view, on_display("standard_4k", {daylight})).value);
  a.view.colour.transfer = b.view.colour.transfer = Transfer::hlg;
  Result<Scorer> scorer = Scorer::create(on_display("auto", {daylight}), a.view.width, a.view.height);
  ASSERT_TRUE(scorer.ok()) << scorer.status().message();
  EXPECT_NE(scorer->score(a.view, b.view).status().message().find("cannot show HLG in 30000 lux"), std::string::npos);
}

TEST(Cvvdp, DisplaysHaveThePublishedFigures) {
  const std::map<std::string, double> expected{
      {"standard_4k", 75.40244934516305},         {"standard_hdr_linear_zoom", 25.228336461402645},
      {"standard_fhd", 37.842503853602885},       {"standard_hmd", 13.153262507309297},
      {"standard_phone", 120.56081547997547},     {"sdr_4k_30", 60.54800551173376},
      {"iphone_14_pro_vert", 159.61187740300227}, {"ipad_pro_12_9", 92.39150975665837},
      {"macbook_pro_16", 98.79241965219656},      {"lg_oled_2017_hdr", 120.41073840016432},
      {"eizo_CG3146", 75.19218845811538},         {"65inch_hdr_pq_2Knit", 92.2192695699707},
      {"lg_oled_2026_hdr_pq", 102.6306414709288}};
  for (const auto& [name, ppd] : expected) {
    EXPECT_NEAR(cvvdp::pixels_per_degree(*cvvdp::load_display(name)), ppd, 1e-12 * ppd) << name;
  }
  EXPECT_EQ(cvvdp::built_in_displays().size(), 26u);
  for (const cvvdp::Display& display : cvvdp::built_in_displays()) EXPECT_TRUE(cvvdp::check_display(display).ok());
  // A phone has more subbands than the peers of the reference can do.
  EXPECT_EQ(cvvdp::scales_of({4096, 4096}, expected.at("iphone_14_pro_vert")).size(), 11u);
}

TEST(Cvvdp, HlgInADarkRoomScoresWhereTheReferenceFails) {
  const Picture a = fixture("scene.png"), b = fixture("scene.jpeg10.png");
  const Score in_the_dark = score_pair(a.view, b.view, on_display("standard_hdr_hlg", {{"ambient", "0"}}));
  const double dark = in_the_dark.value;
  // The reference's formula at 5 lux has the same system gamma, and only a faint reflection more.
  EXPECT_NEAR(dark, score_pair(a.view, b.view, on_display("standard_hdr_hlg", {{"ambient", "5"}})).value, 2e-4);
  const auto is_stated = [](const Score& score) {
    return score.provenance.assumptions[0].find("HLG in 0 lux") != std::string::npos;
  };
  EXPECT_TRUE(is_stated(in_the_dark));
  EXPECT_FALSE(is_stated(score_pair(a.view, b.view, on_display("standard_hdr_hlg"))));
  // Up to 1000 nit the room makes no difference to the gamma.
  EXPECT_FALSE(
      is_stated(score_pair(a.view, b.view, on_display("standard_hdr_hlg", {{"ambient", "0"}, {"peak", "1000"}}))));
}

void expect_refused(const std::string& display, const std::string& words, const std::vector<OptionValue>& more = {}) {
  const Result<Scorer> refused = Scorer::create(on_display(display, more), 64, 64);
  ASSERT_FALSE(refused.ok()) << display;
  EXPECT_NE(refused.status().message().find(words), std::string::npos) << refused.status().message();
}

TEST(Cvvdp, RefusesWhatIsNoDisplay) {
  expect_refused("standard_4", "did you mean 'standard_4k'");
  expect_refused("standard_4k", "no effect with ppd", {{"ppd", "60"}, {"distance", "1"}});
  expect_refused("standard_4k", "min_luminance is 300; expected 0 to 200", {{"black", "300"}});
  expect_refused("standard_4k", "its black is as bright as its white", {{"peak", "90"}, {"black", "90"}});
  expect_refused("standard_hdr_hlg", "system gamma", {{"peak", "1001"}, {"ambient", "1000000"}});
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "not JSON"},
      {"[1, 2]", "it is not an object"},
      {"{}", "it has 0 displays"},
      {R"({"tv": 5})", "'tv' is not an object"},
      {R"({"tv": {}})", "'tv' has no max_luminance"},
      {R"({"tv": {"max_luminance": "bright"}})", "max_luminance of 'tv' is not a number"},
      {R"({"tv": {"max_luminance": -5, "pixels_per_degree": 60}})", "max_luminance is -5"},
      {R"({"tv": {"max_luminance": 1e999, "pixels_per_degree": 60}})", "not JSON"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 0}})", "pixels_per_degree is 0"},
      {R"({"tv": {"max_luminance": 100}})", "no resolution"},
      {R"({"tv": {"max_luminance": 100, "resolution": [1920]}})", "resolution of 'tv'"},
      {R"({"tv": {"max_luminance": 100, "resolution": [1920, 1e9]}})", "resolution of 'tv'"},
      {R"({"tv": {"max_luminance": 100, "resolution": [1920, 1080]}})", "neither diagonal_size_inches nor"},
      {R"({"tv": {"max_luminance": 100, "resolution": [1920, 1080], "diagonal_size_inches": 24}})",
       "no viewing_distance_meters"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 60, "colorspace": "luminance"}})", "colorspace is"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 60, "colorspace": 7}})", "colorspace of 'tv' is not text"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 60, "k_refl": 2}})", "k_refl is 2"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 60, "contrast": 0}})", "contrast is 0"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 60, "contrast": -5}})", "contrast is -5"},
      {R"({"tv": {"max_luminance": 100, "pixels_per_degree": 60, "contrast": 1}})",
       "its black is as bright as its white"},
      {R"({"a": {"max_luminance": 100, "pixels_per_degree": 60}, "b": {"max_luminance": 99, "pixels_per_degree": 60}})",
       "has 2 displays; choose one by display="},
  };
  for (const auto& [text, words] : files) {
    const DisplayFile file(text);
    expect_refused(file.path(), words);
  }
  const DisplayFile two(
      R"({"a": {"max_luminance": 100, "pixels_per_degree": 60}, "b": {"max_luminance": 99, "pixels_per_degree": 60}})");
  EXPECT_TRUE(Scorer::create(on_display(two.path() + "#b"), 64, 64).ok());
  expect_refused(two.path() + "#c", "has no display 'c'");
  expect_refused(two.path() + "#b", "fixed number of pixels per degree", {{"distance", "2"}});
  expect_refused("standard_hmd", "distance has no effect", {{"distance", "0.5"}});
  EXPECT_TRUE(Scorer::create(on_display("standard_hmd", {{"distance", "0.5"}, {"size", "5"}}), 64, 64).ok());
  EXPECT_FALSE(Scorer::create(on_display("standard_4k"), 1, 64).ok());
}

}  // namespace
}  // namespace acuity::tests
