// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity bench' and what other commands do with the capability file.
#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "cli/command.h"
#include "support/fixtures.h"

namespace acuity::test {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Bench : public testing::Test {
 protected:
  Outcome in_cache(const std::vector<std::string>& words) const {
    return acuity(words, {.environment = {"XDG_CACHE_HOME=" + folder}});
  }
  Outcome score() const {
    return in_cache({"score", "-m", "mse", "--explain", data("scene.png"), data("scene.blur.png")});
  }
  static std::string data(const std::string& name) { return ACUITY_TEST_DATA "/data/" + name; }
  // The only file of the folder.
  std::string file() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder + "/acuity")) files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : files.front();
  }

  const std::string folder = scratch("cache");
};

TEST_F(Bench, CalibratesAndShowsIt) {
  Outcome outcome = in_cache({"bench"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "Nothing has been measured on this machine yet; 'acuity bench --calibrate' measures everything.\n");
  EXPECT_FALSE(fs::exists(folder));
  outcome = in_cache({"bench", "--calibrate", "-m", "mse,psnr_yuv", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // What comes later may be left out on a slow machine.
  for (const char* part :
       {"cpu  ", "ns per pixel", "    512x512", "\n  mse             pair      ", "\n  mse             pair many ",
        "\n  mse             prepared  ", "\n  mse             prepare   ", "\n  psnr_yuv        pair"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_TRUE(contains(outcome.out, "The file: " + file() + "\n")) << outcome.out;
  EXPECT_EQ(in_cache({"bench"}).out, outcome.out);
  fs::remove_all(folder);
}

TEST_F(Bench, ScoresAreMeasuredAsTheyRun) {
  EXPECT_TRUE(contains(score().out, " (guessed), and a GPU in 401 ms (guessed) with the time to open it"));
  EXPECT_TRUE(contains(in_cache({"bench"}).out, "mse             pair"));
  const std::string text = read_file(file());
  EXPECT_TRUE(contains(text, "\"mse\":{\"pair\":{\"65536\":[")) << text;
  // However long it took.
  write_file(file(), std::regex_replace(text, std::regex(R"(\[[0-9.e+-]+,1\])"), "[10,1]"));
  const Outcome second = score();
  EXPECT_TRUE(contains(second.out, " (measured), and a GPU in 401 ms (guessed) with the time to open it"))
      << second.out;
  fs::remove_all(folder);
}

TEST_F(Bench, ADamagedFileIsReplaced) {
  const std::string before = score().out;
  write_file(file(), "{\"format\": \"acuity-capability/1\", \"acuity\": \"0.0.1\"}");
  const Outcome outcome = score();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(
      contains(outcome.err, "warning: the capability file '" + file() +
                                "' is not used and will be replaced: it was written by acuity 0.0.1, and this is "))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "(guessed), and"));
  EXPECT_EQ(score().err, "");
  fs::remove_all(folder);
}

TEST_F(Bench, AFolderThatCannotBeWrittenIsNoTrouble) {
  write_file(folder, "not a folder");
  const Outcome outcome = score();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const Outcome calibrated = in_cache({"bench", "--calibrate", "-m", "mse", "--device", "cpu"});
  EXPECT_EQ(calibrated.exit_code, 1);
  EXPECT_TRUE(contains(calibrated.err, "cannot write the capability file '" + folder + "/acuity/")) << calibrated.err;
  fs::remove_all(folder);
}

TEST_F(Bench, RefusesWhatItCannotMeasure) {
  const Outcome options = in_cache({"bench", "--calibrate", "-m", "cvvdp:display=nope"});
  EXPECT_EQ(options.exit_code, 2);
  EXPECT_NE(options.err.find("default options"), std::string::npos) << options.err;
  const Outcome model = in_cache({"bench", "--calibrate", "-m", "vmaf"});
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_TRUE(contains(model.err, "vmaf is made of features that are measured on their own")) << model.err;
  const Outcome device = in_cache({"bench", "--calibrate", "-m", "mse", "--device", "cuda:99"});
  EXPECT_EQ(device.exit_code, 4) << device.err;
  const Outcome homeless = acuity({"bench", "--calibrate"}, {.environment = {"XDG_CACHE_HOME=", "HOME="}});
  EXPECT_EQ(homeless.exit_code, 2);
  EXPECT_TRUE(contains(homeless.err, "neither XDG_CACHE_HOME nor HOME names a folder")) << homeless.err;
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace acuity::test
