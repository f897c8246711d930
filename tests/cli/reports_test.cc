// SPDX-License-Identifier: BSD-2-Clause-Patent
// Forms for scripts and tables, results in files, and what --fail-under asks of them.
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/limits.h"
#include "cli/lists.h"
#include "cli/pictures.h"
#include "cli/progress.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

std::string reference() {
  write_file(scratch("reference.y4m"), draw_y4m({.frames = 4}));
  return scratch("reference.y4m");
}

std::string distorted() {
  write_file(scratch("distorted.y4m"), draw_y4m({.frames = 4, .damage = 9}));
  return scratch("distorted.y4m");
}

Strings lines_of(const std::string& text) {
  Strings lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Strings> rows_of(const std::string& text) {
  std::vector<Strings> rows;
  for (const std::string& line : lines_of(text)) {
    rows.emplace_back();
    std::istringstream stream(line + ",");
    for (std::string field; std::getline(stream, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

TEST(ValueOnly, OneLineAPairWithTabsBetweenMetrics) {
  const Outcome outcome = acuity({"score", "--value-only", "-m", "psnr,mse", scene(), noisy(), "lost.png", scene()});
  EXPECT_EQ(outcome.exit_code, 3);
  const json results =
      json::parse(acuity({"score", "--json", "-m", "psnr,mse", scene(), noisy()}).out)["results"][0]["metrics"];
  const Strings lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  const size_t tab = lines[0].find('\t');
  EXPECT_EQ(std::stod(lines[0].substr(0, tab)), results["psnr"]["value"]);
  EXPECT_EQ(std::stod(lines[0].substr(tab + 1)), results["mse"]["value"]);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], "100\t0");
}

TEST(WideCsv, ARowAFrameAndAColumnAnOutput) {
  const std::string first = reference();
  const std::string second = distorted();
  const Strings words{"score", "-m", "mse,ssim,float_moment", first, second};
  Strings wide = words;
  wide.insert(wide.begin() + 1, "--csv-wide");
  Strings told = words;
  told.insert(told.begin() + 1, "--json");
  const std::vector<Strings> rows = rows_of(acuity(wide).out);
  const json metrics = json::parse(acuity(told).out)["results"][0]["metrics"];
  ASSERT_EQ(rows.size(), 5u);
  const Strings fixed{"reference", "distorted", "frame", "reference_pts", "distorted_pts", "mse"};
  EXPECT_EQ(Strings(rows[0].begin(), rows[0].begin() + 6), fixed);
  size_t columns = 0;
  for (size_t c = 5; c < rows[0].size(); ++c) {
    const std::string& name = rows[0][c];
    if (name == "error" || name == "warnings") continue;
    const size_t dot = name.find('.');
    const json& metric = metrics[name.substr(0, dot)];
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(rows[i + 1].size(), rows[0].size());
      const json& values = metric["frames"][i]["values"];
      EXPECT_EQ(std::stod(rows[i + 1][c]), values[name.substr(dot == name.npos ? 0 : dot + 1)]) << name;
    }
    ++columns;
  }
  size_t values = 0;
  for (const json& metric : metrics) values += metric["frames"][0]["values"].size();
  EXPECT_EQ(columns, values);
  EXPECT_EQ(rows[2][2], "1");
  EXPECT_EQ(rows[0].back(), "warnings");
}

TEST(WideCsv, PicturesHaveOneRowAndFailuresTheirError) {
  const std::vector<Strings> rows =
      rows_of(acuity({"score", "--csv-wide", "-m", "psnr", scene(), "lost.png", noisy()}).out);
  ASSERT_EQ(rows.size(), 3u);
  for (const Strings& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][5], "");
  EXPECT_NE(rows[1][rows[1].size() - 2].find("there is no such file; give"), std::string::npos);
  EXPECT_GT(std::stod(rows[2][5]), 20);
}

TEST(OutputOfScore, TakesItsFormFromAnOptionOrFromTheName) {
  const auto written = [&](const std::string& name, const Strings& more) {
    Strings words{"score", "-m", "psnr", "-o", scratch(name), scene(), noisy()};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = acuity(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    return read_file(scratch(name));
  };
  const std::string form = acuity({"score", "-m", "psnr", scene(), noisy()}).out;
  EXPECT_EQ(written("scores.txt", {}), form);
  EXPECT_EQ(written("scores.json", {"--plain"}), form);
  EXPECT_EQ(written("coloured", {"--color", "always"}), form);
  EXPECT_TRUE(json::accept(written("scores.json", {})));
  EXPECT_TRUE(json::accept(written("scores", {"--json"})));
  EXPECT_EQ(written("scores.csv", {}), acuity({"score", "--csv", "-m", "psnr", scene(), noisy()}).out);
}

TEST(OutputOfScore, KeepsTheRulesOfOutputs) {
  const std::string model = scratch("model.json");
  write_file(model, "{}");
  const auto code = [](const Strings& more) {
    Strings words{"score", scene(), noisy()};
    words.insert(words.end(), more.begin(), more.end());
    return acuity(words).exit_code;
  };
  EXPECT_EQ(code({"-o", noisy()}), 2);
  EXPECT_EQ(code({"-m", "vmaf:model=" + model, "-o", model}), 2);
  EXPECT_EQ(read_file(model), "{}");
  EXPECT_EQ(code({"-o", scratch("same.png"), "--map", scratch("same.png")}), 2);
  EXPECT_EQ(code({"-o", scratch("nowhere") + "/scores.json"}), 1);
  const std::string output = scratch("full.json");
  write_file(output, "the old one");
  const Outcome full = run({"sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" score --json -o \"$1\" \"$2\" \"$3\"",
                            ACUITY_COMMAND, output, scene(), noisy()});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_TRUE(json::accept(full.out)) << full.out;
  EXPECT_NE(full.err.find("the results are on standard output instead"), std::string::npos) << full.err;
  EXPECT_EQ(read_file(output), "the old one");
}

TEST(OutputOfScore, AFailedPairIsInTheFile) {
  const std::string output = scratch("failed.json");
  EXPECT_EQ(acuity({"score", "-o", output, scene(), "lost.png", noisy()}).exit_code, 3);
  const json document = json::parse(read_file(output));
  EXPECT_TRUE(document["results"][0].contains("error"));
  EXPECT_TRUE(document["results"][1].contains("metrics"));
  EXPECT_EQ(document["complete"], true);
}

// The noisy scene has a PSNR of about 28.5 dB and an MSE of about 91.
TEST(FailUnder, ConditionsNameMetrics) {
  const auto code = [](const Strings& conditions) {
    Strings words{"score", "-m", "psnr,mse", scene(), noisy()};
    for (const std::string& condition : conditions) words.insert(words.end(), {"--fail-under", condition});
    return acuity(words).exit_code;
  };
  EXPECT_EQ(code({"psnr>=28"}), 0);
  EXPECT_EQ(code({"psnr>=29"}), 5);
  EXPECT_EQ(code({"mse<=100"}), 0);
  EXPECT_EQ(code({"MSE <= 90"}), 5);
  EXPECT_EQ(code({"psnr>=28", "mse<=90"}), 5);
  EXPECT_EQ(code({"28", "mse<=100"}), 0);
  for (const char* wrong :
       {"psnr>28", "psnr=28", "psnr>=", "psnr>=x", "psnr>=0,5", ">=5", "ssim>=1", "psnr.p7>=1", "psnr", "psnr.p5>=1"}) {
    EXPECT_EQ(code({wrong}), 2) << wrong;
  }
}

TEST(FailUnder, PoolsOfFrames) {
  const std::string first = reference();
  const std::string second = distorted();
  const json pools =
      json::parse(acuity({"score", "--json", "-m", "mse", first, second}).out)["results"][0]["metrics"]["mse"]["pools"];
  const double least = pools["mse"]["min"], most = pools["mse"]["max"];
  ASSERT_LT(least, most);
  const auto outcome = [&](const std::string& condition) {
    return acuity({"score", "-m", "mse", "--fail-under", condition, first, second});
  };
  EXPECT_EQ(outcome("mse.max<=" + std::to_string(most + 0.01)).exit_code, 0);
  const Outcome broken = outcome("mse.max<=" + std::to_string(least));
  EXPECT_EQ(broken.exit_code, 5);
  EXPECT_NE(broken.err.find("mse.max is "), std::string::npos) << broken.err;
  EXPECT_EQ(outcome("mse.min<=" + std::to_string(least + 0.01)).exit_code, 0);
}

TEST(FailUnder, OptionsBelongToTheName) {
  const Result<cli::MetricList> list = cli::parse_metrics(Strings{"vmaf:neg,vmaf,butteraugli:pnorm=2.5"}, metrics());
  const auto place = [&](const std::string& text) -> int {
    const Result<std::vector<cli::Limit>> limits = cli::parse_limits(Strings{text}, list->metrics);
    return limits.ok() ? static_cast<int>(limits->front().metric) : -1;
  };
  EXPECT_EQ(place("vmaf:neg>=1"), 0);
  EXPECT_EQ(place("vmaf:neg.p10>=1"), 0);
  EXPECT_EQ(place("vmaf>=1"), 1);
  EXPECT_EQ(place("butteraugli<=1"), 2);
  EXPECT_EQ(place("butteraugli:pnorm=2.5<=1"), 2);
  EXPECT_EQ(place("butteraugli:pnorm=2.5.max<=1"), 2);
  EXPECT_EQ(place("vmaf:4k>=1"), -1);
}

TEST(Progress, TotalsComeFromCountsOrFromTimes) {
  VideoFormat format;
  EXPECT_FALSE(cli::total_of(format).has_value());
  format.rate = {25, 1};
  format.seconds = 10.01;
  ASSERT_TRUE(cli::total_of(format).has_value());
  EXPECT_EQ(cli::total_of(format)->frames, 250);
  EXPECT_TRUE(cli::total_of(format)->about);
  format.frames = 249;
  EXPECT_EQ(cli::total_of(format)->frames, 249);
  EXPECT_FALSE(cli::total_of(format)->about);
  const cli::FrameCount count;
  EXPECT_EQ(count.told(0, cli::FrameTotal{250, true}), "0 of about 250 frames");
  EXPECT_TRUE(count.told(10, cli::FrameTotal{250}).starts_with("10 of 250 frames, "));
  EXPECT_TRUE(count.told(300, cli::FrameTotal{250, true}).starts_with("300 frames, "));
  EXPECT_TRUE(count.told(3, {}).starts_with("3 frames, "));
}

TEST(Times, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(*cli::parse_time("1:30", "--start"), 90);
  EXPECT_EQ(*cli::parse_time("00:01:30.25", "--start"), 90.25);
  EXPECT_EQ(*cli::parse_time("90:00", "--start"), 5400);
  EXPECT_EQ(*cli::parse_time("2:00:00", "--start"), 7200);
  for (const char* text :
       {"1:60", "1:2:3:4", ":30", "1:", "1:60:00", "-1:00", "1:-1", "1.5:00", "a:b", "1:1e1", "1:nan"}) {
    EXPECT_EQ(cli::parse_time(text, "--start").status().code(), StatusCode::usage) << text;
  }
}

}  // namespace
}  // namespace acuity::test
