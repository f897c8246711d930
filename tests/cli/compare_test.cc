// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity compare' and 'acuity serve'.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/batch_pictures.h"
#include "cli/command.h"

namespace acuity::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double score_of(const std::string& reference, const std::string& distorted) {
  return std::stod(acuity({"score", "-m", "psnr", "--value-only", reference, distorted}).out);
}

// Two references, a variant that is better for one of them, and one that has no file for the other.
struct Folders {
  std::string folder = scratch("compare");
  Folders() {
    for (const char* name : {"refs", "old", "new", "some"}) std::filesystem::create_directories(folder + "/" + name);
    put("refs/a.ppm", 1);
    put("refs/b.ppm", 2);
    put("old/a.ppm", 3);
    put("old/b.ppm", 2);  // equal to its reference
    put("new/a.pnm", 1);
    put("new/b.ppm", 5);
    put("some/a.ppm", 6);
  }
  void put(const std::string& name, unsigned seed) const {
    std::filesystem::copy_file(small_picture("compared.ppm", seed), folder + "/" + name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  std::string operator/(const std::string& name) const { return folder + "/" + name; }
};

TEST(Compare, MarksTheBestAndCountsWins) {
  const Folders folders;
  const Outcome outcome = acuity(
      {"compare", "--reference", folders / "refs", "--variant", folders / "old", folders / "new", "-m", "mse,psnr"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("mse, lower is better\nreference")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\npsnr, higher is better\nreference")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "0*\n")) << "mse of equal pictures is best: " << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\nwins  ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "\nmedian")) << outcome.out;
}

TEST(Compare, JsonHoldsScoresMeansAndWins) {
  const Folders folders;
  const Outcome outcome = acuity(
      {"compare", "-r", folders / "refs", "--variant", folders / "old", folders / "new", "-m", "psnr", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["schema"], "acuity-compare/1");
  ASSERT_EQ(json["results"].size(), 4u);
  EXPECT_EQ(json["results"][0]["scores"]["psnr"], score_of(folders / "refs/a.ppm", folders / "old/a.ppm"));
  EXPECT_EQ(json["results"][1]["distorted"], folders / "new/a.pnm");
  EXPECT_EQ(json["results"][1]["device"], "cpu");
  EXPECT_EQ(json["results"][1]["warnings"], nlohmann::json::array());
  const nlohmann::json& variants = json["metrics"]["psnr"]["variants"];
  EXPECT_EQ(variants[folders / "old"]["wins"], 1);
  EXPECT_EQ(variants[folders / "new"]["wins"], 1);
  const double a = json["results"][0]["scores"]["psnr"], b = json["results"][2]["scores"]["psnr"];
  EXPECT_EQ(variants[folders / "old"]["mean"], (a + b) / 2);
  EXPECT_EQ(variants[folders / "old"]["median"], (a + b) / 2);
}

TEST(Compare, WhatIsMissingIsLeftOutOfMeans) {
  const Folders folders;
  const Outcome outcome = acuity(
      {"compare", "-r", folders / "refs", "--variant", folders / "old", "--variant", folders / "some", "-m", "psnr"});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "some has no file for")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "over the 1 of 2 references")) << outcome.out;
  const std::string csv = scratch("compared.csv");
  EXPECT_EQ(
      acuity({"compare", "-r", folders / "refs", "--variant", folders / "some", "-o", csv, "-m", "psnr"}).exit_code, 6);
  EXPECT_TRUE(read_file(csv).starts_with("reference,variant,distorted,psnr,device,warnings,error\n")) << read_file(csv);
  // Programs see it where they see why a score is missing.
  const std::string why = fmt::format("--variant {} has no file for {}", folders / "some", folders / "refs/b.ppm");
  EXPECT_TRUE(contains(read_file(csv), fmt::format(",,,,,{}\n", why))) << read_file(csv);
  const Outcome json =
      acuity({"compare", "-r", folders / "refs", "--variant", folders / "some", "--json", "-m", "psnr"});
  const nlohmann::json missing = nlohmann::json::parse(json.out)["results"][1];
  EXPECT_EQ(missing["error"], why);
  EXPECT_EQ(missing["device"], nullptr);
}

TEST(Compare, OneReferenceMayHaveFiles) {
  const Folders folders;
  const std::string reference = folders / "refs/a.ppm";
  const Outcome outcome =
      acuity({"compare", "-r", reference, "--variant", folders / "old/a.ppm", folders / "new/a.pnm", "-m", "psnr,mse"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("reference  " + reference)) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "new/a.pnm")) << outcome.out;
  EXPECT_EQ(acuity({"compare", "-r", folders / "refs", "--variant", reference}).exit_code, 2);
  EXPECT_EQ(acuity({"compare", "-r", reference}).exit_code, 2);
  const Outcome twice =
      acuity({"compare", "-r", reference, "--variant", folders / "old/a.ppm", folders / "old/a.ppm", "--json"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(contains(twice.err, "old/a.ppm is given twice")) << twice.err;
  EXPECT_EQ(acuity({"compare", "--variant", reference}).exit_code, 2);
  EXPECT_EQ(acuity({"compare", "-r", reference, "--variant", scratch("none.ppm")}).exit_code, 6);
}

TEST(Serve, AnswersEveryLine) {
  const std::string a = small_picture("sa.ppm", 1), b = small_picture("sb.ppm", 2);
  const std::string files = fmt::format("\"reference\":\"{}\",\"distorted\":\"{}\"", a, b);
  std::string input = "{\"id\":[1,\"x\"]," + files + "}\n\nnonsense\n{\"id\":2," + files + ",\"metrics\":\"mse\"}\n";
  input += "{\"id\":3,\"reference\":\"" + a + "\"}\n{\"id\":4," + files + ",\"metric\":\"mse\"}\n";
  input += "{\"id\":5,\"reference\":\"" + a + "\",\"distorted\":\"" + scratch("none.ppm") + "\"}\n{\"id\":6," + files;
  input += ",\"metrics\":[\"msee\"]}\n{\"id\":8," + files + ",\"ref_path\":\"" + a + "\"}\n";
  input += "{\"id\":\"9\",\"reference\":\"" + a + "\",\"dist_path\":\"" + b + "\"}\n";
  input += "{\"id\":7," + files + "}";  // the last line need not end
  const Outcome outcome = acuity({"serve", "-m", "psnr"}, {.input = input});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::map<std::string, nlohmann::json> answers;
  for (size_t at = 0; at < outcome.out.size(); at = outcome.out.find('\n', at) + 1) {
    const auto answer = nlohmann::json::parse(outcome.out.substr(at, outcome.out.find('\n', at) - at));
    answers[answer["id"].dump()] = answer;
  }
  ASSERT_EQ(answers.size(), 10u) << outcome.out;
  const double psnr = score_of(a, b);
  EXPECT_EQ(answers["[1,\"x\"]"]["scores"]["psnr"], psnr);
  EXPECT_EQ(answers["7"]["scores"]["psnr"], psnr);
  EXPECT_EQ(answers["7"]["line"], 11);
  EXPECT_EQ(answers["\"9\""]["scores"]["psnr"], psnr);
  EXPECT_TRUE(contains(answers["8"]["error"], "'ref_path' is given under two names"));
  EXPECT_TRUE(answers["2"]["scores"].contains("mse"));
  EXPECT_FALSE(answers["2"].contains("error"));
  EXPECT_TRUE(contains(answers["null"]["error"], "found 'nonsense'"));
  EXPECT_TRUE(contains(answers["3"]["error"], "'distorted' is missing"));
  EXPECT_TRUE(contains(answers["4"]["error"], "did you mean 'metrics'"));
  EXPECT_TRUE(contains(answers["5"]["error"], "there is no such file"));
  EXPECT_EQ(answers["5"]["kind"], "input");
  EXPECT_TRUE(contains(answers["6"]["error"], "there is no metric 'msee'"));
}

// No double holds the number, and nothing but the id needs it.
TEST(Serve, RepeatsAnyId) {
  const std::string a = small_picture("sa.ppm", 1);
  const std::string line = fmt::format("{{\"id\":1e400,\"reference\":\"{0}\",\"distorted\":\"{0}\"}}\n", a);
  const Outcome outcome = acuity({"serve", "-m", "mse"}, {.input = line});
  EXPECT_TRUE(outcome.out.starts_with("{\"id\":1e400,\"line\":1,\"width\":16")) << outcome.out;
}

TEST(Serve, ShowsAllOutputsIfAsked) {
  const std::string a = small_picture("sa.ppm", 1), b = small_picture("sb.ppm", 2);
  const std::string line = fmt::format("{{\"reference\":\"{}\",\"distorted\":\"{}\"}}\n", a, b);
  const Outcome outcome = acuity({"serve", "-m", "psnr", "--outputs", "all"}, {.input = line});
  EXPECT_TRUE(nlohmann::json::parse(outcome.out)["outputs"]["psnr"].contains("psnr_r")) << outcome.out;
  EXPECT_EQ(acuity({"serve", "--devices", "nosuch"}, {.input = line}).exit_code, 4);
}

}  // namespace
}  // namespace acuity::test
