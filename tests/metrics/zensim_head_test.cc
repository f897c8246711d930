// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "metrics/zensim/head.h"
#include "metrics/zensim/pooling.h"
#include "support/fixtures.h"
#include "support/scoring.h"

namespace acuity::tests {
namespace {

using zensim::Head;

std::string head_path(const std::string& name) { return tests_folder() + "/data/zensim_head_" + name + ".znpr"; }

std::vector<std::byte> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(text.empty()) << path;
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Score score(const std::string& reference, const std::string& distorted, std::vector<OptionValue> options) {
  const ScorerOptions scorer{.metrics = {{"zensim", std::move(options)}}, .device = "cpu"};
  return score_pair(fixture(reference).view, fixture(distorted).view, scorer);
}

// a: packed, three layers, an alpha head, a logistic pin, a calibration of 7 knots, five kinds of transform. b: plain,
// one layer, a calibration of 30 knots.
TEST(ZensimHead, AgreesWithTheReference) {
  int compared = 0;
  for (const std::string name : {"a", "b"}) {
    std::map<std::pair<std::string, std::string>, Score> scores;  // by pair
    for (const auto& [output, ours] :
         {std::pair("head_raw", "head_raw"), {"head_pinned", "head_pinned"}, {"score", "value"}}) {
      if (name == "b" && output == std::string("head_pinned")) continue;  // b has no pin
      for (const Golden& golden : goldens("zensim.csv", "test_head_" + name + "_" + output)) {
        if (golden.reference == golden.distorted) continue;  // those are 100, whatever the head makes of zeros
        Score& result = scores[{golden.reference, golden.distorted}];
        if (result.metric.empty()) result = score(golden.reference, golden.distorted, {{"head", head_path(name)}});
        const double value = ours == std::string("value") ? result.value : tests::output(result, ours);
        EXPECT_NEAR(value, std::stod(golden.value), 1e-4) << golden.distorted << " " << name << " " << output;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, kSlowMachine ? 25 : 270);
}

TEST(ZensimHead, MakesOfZerosWhatTheReferenceMakes) {
  for (const std::string name : {"a", "b"}) {
    const Head head = *Head::read(head_path(name));
    for (const Golden& golden : goldens("zensim.csv", "test_head_" + name + "_score")) {
      if (golden.reference != golden.distorted) continue;
      const std::vector<double> zeros(zensim::kAllFeatures);
      EXPECT_NEAR(head.evaluate(zeros, 384, 288).score, std::stod(golden.value), 1e-4) << name;
      EXPECT_EQ(score(golden.reference, golden.distorted, {{"head", head_path(name)}}).value, 100) << name;
    }
  }
}

TEST(ZensimHead, IsNamedInTheResult) {
  const Score result = score("scene.png", "scene.jpeg50.png", {{"head", head_path("b")}});
  const std::vector<std::string>& all = result.provenance.assumptions;
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const std::string& line) {
    return line.find("372 inputs, 1 layer, schema 0000000000000000, SHA-256 ") != line.npos;
  }));
  // The features that are reported do not depend on it.
  const Score all_features = score("scene.png", "scene.jpeg50.png", {{"head", head_path("b")}, {"features", "all"}});
  EXPECT_EQ(all_features.value, result.value);
  EXPECT_EQ(output(all_features, "iw_s3_b_mse"),
            output(score("scene.png", "scene.jpeg50.png", {{"features", "all"}}), "iw_s3_b_mse"));
}

std::string refusal(std::vector<std::byte> file) {
  const Result<Head> head = Head::parse("x.znpr", file);
  if (head.ok()) return "";
  EXPECT_EQ(head.status().code(), StatusCode::input);
  EXPECT_EQ(head.status().message().rfind("'x.znpr' is not a usable zensim head: ", 0), 0u) << head.status().message();
  return head.status().message();
}

void put(std::vector<std::byte>& file, size_t at, uint32_t value) { std::memcpy(file.data() + at, &value, 4); }

TEST(ZensimHead, RefusesWhatItCannotUse) {
  const std::vector<std::byte> good = content_of(head_path("b"));
  const auto changed = [&](size_t at, uint32_t value) {
    std::vector<std::byte> file = good;
    put(file, at, value);
    return refusal(file);
  };
  EXPECT_EQ(refusal(good), "");
  EXPECT_NE(refusal({}).find("does not begin as one"), std::string::npos);
  EXPECT_NE(changed(4, 4).find("version 4"), std::string::npos);
  EXPECT_NE(changed(8, 944).find("944 inputs"), std::string::npos);
  EXPECT_NE(changed(12, 0).find("0 outputs"), std::string::npos);
  EXPECT_NE(changed(16, 5000).find("5000 layers"), std::string::npos);
  EXPECT_NE(changed(32, 0xFFFFFFF0u).find("outside of the file"), std::string::npos);
  EXPECT_NE(changed(36, 4).find("scaler has a wrong size"), std::string::npos);
  EXPECT_NE(changed(92, 8).find("sparse overrides"), std::string::npos);
  EXPECT_NE(changed(128 + 4, 2).find("weights"), std::string::npos);

  std::vector<std::byte> packed = content_of(head_path("a"));
  EXPECT_EQ(refusal(packed), "");
  put(packed, 96, 0xFFFFFFFFu);
  EXPECT_NE(refusal(packed).find("unpacks to 4294967295 bytes"), std::string::npos);
  put(packed, 96, 139487);
  EXPECT_NE(refusal(packed).find("cannot be unpacked"), std::string::npos);

  const Status missing =
      Scorer::create({.metrics = {{"zensim", {{"head", "/no/such/file"}}}}, .device = "cpu"}, 64, 64).status();
  EXPECT_EQ(missing.code(), StatusCode::input);
  EXPECT_NE(missing.message().find("/no/such/file"), std::string::npos);
}

// Two layers that use the same weights: in a larger file such layers would need gigabytes.
TEST(ZensimHead, RefusesLayersThatShareTheirWeights) {
  constexpr uint32_t kInputs = 372, kTable = 128, kWeights = kTable + 2 * 48;
  constexpr uint32_t kBiases = kWeights + kInputs * kInputs, kScales = kBiases + 4 * kInputs;
  const auto file = [&](uint32_t layers) {
    std::vector<std::byte> bytes(kScales + 4 * kInputs);
    std::memcpy(bytes.data(), "ZNPR\3", 5);
    put(bytes, 8, kInputs);
    put(bytes, 12, kInputs);
    put(bytes, 16, layers);
    put(bytes, 48, kTable);
    put(bytes, 52, layers * 48);
    for (uint32_t at = kTable; at < kTable + layers * 48; at += 48) {
      const uint32_t entry[] = {kInputs, kInputs,     0x200,   kWeights,   kInputs * kInputs,
                                kScales, 4 * kInputs, kBiases, 4 * kInputs};
      std::memcpy(bytes.data() + at, entry, sizeof(entry));
    }
    return bytes;
  };
  EXPECT_EQ(refusal(file(1)), "");
  EXPECT_NE(refusal(file(2)).find("more weights than the file holds"), std::string::npos);
}

TEST(ZensimHead, RefusesParametersThatAreNotThoseOfTheTransform) {
  const std::vector<std::byte> good = content_of(head_path("b"));
  const std::string_view text(reinterpret_cast<const char*>(good.data()), good.size());
  const size_t key = text.find("feature_transform_params");
  ASSERT_NE(key, std::string::npos);
  const size_t comma = text.find(',', key);  // of the first line: 1.0216458576906007e-05,0.289...
  ASSERT_NE(comma, std::string::npos);
  const auto changed = [&](size_t at, char character) {
    std::vector<std::byte> file = good;
    file[at] = static_cast<std::byte>(character);
    return refusal(file);
  };
  EXPECT_EQ(changed(comma - 1, ' '), "");
  EXPECT_NE(changed(comma - 1, 'x').find("x' is not a parameter of a transform"), std::string::npos);
  EXPECT_NE(changed(comma - 8, ',').find("3 parameters instead of 2"), std::string::npos);

  // What trainers write for a limit that is none, as long as what it replaces.
  const size_t line = text.find("1.0216458576906007e-05", key);
  ASSERT_LT(line, comma);
  const auto replaced = [&](std::string number) {
    number.insert(0, comma - line - number.size(), ' ');
    std::vector<std::byte> file = good;
    std::memcpy(file.data() + line, number.data(), number.size());
    return refusal(file);
  };
  EXPECT_EQ(replaced("-inf"), "");
  EXPECT_NE(replaced("-infx").find("-infx' is not a parameter of a transform"), std::string::npos);
}

TEST(ZensimHead, ShowsNothingButAsciiOfAFile) {
  std::vector<std::byte> file = content_of(head_path("b"));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  file[text.find("winsor_p99") + 2] = std::byte{0xD2};
  EXPECT_NE(refusal(file).find("transform 'wi?sor_p99' is not known"), std::string::npos);
}

void expect_no_number(const std::vector<std::byte>& file) {
  const std::string path = testing::TempDir() + "zensim_overflow.znpr";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  const ScorerOptions options{.metrics = {{"zensim", {{"head", path}}}}, .device = "cpu"};
  const Picture reference = fixture("scene.png"), distorted = fixture("scene.jpeg50.png");
  Result<Scorer> scorer = Scorer::create(options, reference.view.width, reference.view.height);
  ASSERT_TRUE(scorer.ok()) << scorer.status().message();
  const Status status = scorer->score(reference.view, distorted.view).status();
  EXPECT_EQ(status.code(), StatusCode::input);
  EXPECT_NE(status.message().find("the head computes "), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
}

TEST(ZensimHead, IsToBlameForWhatIsNoNumber) {
  std::vector<std::byte> file = content_of(head_path("b"));
  uint32_t means = 0, scales = 0;
  std::memcpy(&means, file.data() + 32, 4);
  std::memcpy(&scales, file.data() + 40, 4);
  put(file, means, 0x7F61B1E6u);   // 3e38
  put(file, scales, 0x00800000u);  // 1e-38
  expect_no_number(file);
}

// Two layers of one input, whose weights and biases are 3e38, and a pin, which makes 100 of infinity.
TEST(ZensimHead, IsToBlameForWhatIsNoNumberBeforeThePin) {
  constexpr uint32_t kTable = 128, kLarge = kTable + 2 * 48, kMetadata = kLarge + 4;
  const std::string key = "zentrain.tanh_output_head";
  const uint32_t length = static_cast<uint32_t>(key.size()) + 10;
  std::vector<std::byte> file(kMetadata + length);
  std::memcpy(file.data(), "ZNPR\3", 5);
  for (const uint32_t at : {8, 12}) put(file, at, 1);
  put(file, 16, 2);
  put(file, 48, kTable);
  put(file, 52, 2 * 48);
  put(file, 64, kMetadata);
  put(file, 68, length);
  for (uint32_t at = kTable; at < kLarge; at += 48) {
    const uint32_t entry[] = {1, 1, 0, kLarge, 4, 0, 0, kLarge, 4};
    std::memcpy(file.data() + at, entry, sizeof(entry));
  }
  put(file, kLarge, 0x7F61B1E6u);  // 3e38
  file[kMetadata] = static_cast<std::byte>(key.size());
  std::memcpy(file.data() + kMetadata + 1, key.data(), key.size());
  put(file, kMetadata + 1 + key.size() + 1, 4);
  put(file, kMetadata + 1 + key.size() + 5, 0x41F00000u);  // 30
  expect_no_number(file);
}

// Every file cut short is refused, and no changed byte does any harm.
TEST(ZensimHead, SurvivesDamage) {
  for (const std::string name : {"a", "b"}) {
    const std::vector<std::byte> good = content_of(head_path(name));
    for (size_t size = 0; size < good.size(); size += size < 400 ? 1 : 97) {
      EXPECT_NE(refusal({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)}), "") << name << " " << size;
    }
    const std::vector<double> features(zensim::kAllFeatures, 0.25);
    for (size_t at = 0; at < 500; ++at) {
      for (const int value : {0, 1, 0x7F, 0xFF}) {
        std::vector<std::byte> file = good;
        file[at] = static_cast<std::byte>(value);
        const Result<Head> head = Head::parse("x.znpr", file);
        if (head.ok()) head->evaluate(features, 100, 50);
      }
    }
  }
}

}  // namespace
}  // namespace acuity::tests
