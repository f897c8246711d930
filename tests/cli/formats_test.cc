// SPDX-License-Identifier: BSD-2-Clause-Patent
// The three forms of output. JSON and CSV are promises to other programs.
#include <regex>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "acuity/version.h"
#include "cli/command.h"
#include "cli/pictures.h"
#include "cli/schema.h"

namespace acuity::test {
namespace {

using nlohmann::json;

// Readers must let fields pass that they do not know; this release must have none that the schema does not know.
void close_objects(json& schema) {
  if (schema.is_object() && schema.contains("properties") && schema["type"] == "object") {
    schema["additionalProperties"] = false;
  }
  for (json& part : schema) {
    if (part.is_structured()) close_objects(part);
  }
}

const json& schema() {
  static const json document = [] {
    json read = json::parse(read_file(ACUITY_DOCS "/acuity-score-1.schema.json"));
    close_objects(read);
    return read;
  }();
  return document;
}

void expect_valid(const std::string& text) {
  for (const std::string& violation : violations(json::parse(text), schema())) ADD_FAILURE() << violation;
}

TEST(Json, KeepsTheSchema) {
  const Outcome outcome =
      acuity({"score", "--json", "-m", "ssimulacra2,psnr,mse", scene(), noisy(), scratch("absent.png")});
  expect_valid(outcome.out);
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "acuity-score/1");
  EXPECT_EQ(document["acuity"], ACUITY_VERSION);
  EXPECT_EQ(document["warnings"], json::array());
  const json& good = document["results"][0];
  EXPECT_EQ(good["reference"], scene());
  EXPECT_EQ(good["distorted"], noisy());
  EXPECT_EQ(good["width"], 157);
  EXPECT_EQ(good["height"], 93);
  EXPECT_EQ(good["metrics"]["mse"]["better"], "lower");
  EXPECT_EQ(good["metrics"]["psnr"]["better"], "higher");
  EXPECT_EQ(good["metrics"]["ssimulacra2"]["version"], find_metric("ssimulacra2")->version);
  EXPECT_EQ(good["metrics"]["ssimulacra2"]["outputs"].size(), 90u);  // 93 rows are enough for five scales of 18
  EXPECT_TRUE(good["device"].get<std::string>().starts_with("cpu"));
  const json& bad = document["results"][1];
  EXPECT_EQ(bad.size(), 4u);
  EXPECT_TRUE(bad["error"].is_string());
}

TEST(Json, TheSchemaCatchesMistakes) {
  const json good = json::parse(acuity({"score", "--json", "-m", "psnr", scene(), noisy()}).out);
  const auto broken = [&](const char* pointer, const json& value) {
    json document = good;
    document[json::json_pointer(pointer)] = value;
    return !violations(document, schema()).empty();
  };
  EXPECT_FALSE(broken("/warnings/0", "some warning"));
  EXPECT_TRUE(broken("/schema", "acuity-score/2"));
  EXPECT_TRUE(broken("/unknown", 1));
  EXPECT_TRUE(broken("/results/0/metrics/psnr/unknown", 1));
  EXPECT_TRUE(broken("/results/0/width", "157"));
  EXPECT_TRUE(broken("/results/0/error", "both an error and metrics"));
  EXPECT_TRUE(broken("/results/0/metrics/psnr/value", nullptr));
  EXPECT_TRUE(broken("/results/0/metrics/psnr/better", "sideways"));
}

TEST(Json, NumbersHave17Digits) {
  const std::string text = acuity({"score", "--json", "-m", "psnr", scene(), noisy()}).out;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex("\"psnr\":\\{\"value\":([0-9.]+)")));
  const std::string digits = std::regex_replace(match[1].str(), std::regex("\\."), "");
  EXPECT_GE(digits.size(), 16u);  // a last digit of 0 is not written
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(Json, TellsWhatWasAssumedOnWhichSide) {
  const json result = json::parse(acuity({"score", "--json", scene(), noisy()}).out)["results"][0];
  bool reference = false;
  bool distorted = false;
  for (const json& line : result["assumptions"]) {
    reference = reference || line.get<std::string>().starts_with("reference: PNG");
    distorted = distorted || line.get<std::string>().starts_with("distorted: PNG");
  }
  EXPECT_TRUE(reference && distorted) << result["assumptions"];
}

TEST(Json, StaysValidWhateverAFileIsCalled) {
  const std::vector<std::string> names = {"caf\xc3\xa9.png", "\xff\xfe.png", "quote\".png", "new\nline.png",
                                          "back\\slash.png"};
  for (const std::string& name : names) {
    const std::string path = scratch(name);
    write_file(path, read_file(noisy()));
    const Outcome outcome = acuity({"score", "--json", "-m", "psnr", scene(), path, path + ".absent"});
    expect_valid(outcome.out);
    EXPECT_TRUE(json::parse(outcome.out)["results"][0].contains("metrics")) << name;
  }
}

TEST(Json, ExplanationsGoToStandardError) {
  const Outcome outcome = acuity({"score", "--json", "--explain", "-m", "psnr", scene(), noisy()});
  expect_valid(outcome.out);
  EXPECT_NE(outcome.err.find("psnr: version"), std::string::npos);
}

TEST(Csv, HasAHeaderAndARowForEachMetric) {
  const Outcome outcome = acuity({"score", "--csv", "-m", "psnr,mse", scene(), noisy(), scratch("absent.png")});
  EXPECT_EQ(outcome.exit_code, 3);
  const std::string files = scene() + "," + noisy() + ",157,93,";
  const std::regex expected("reference,distorted,width,height,metric,value,better,version,error,warnings\n" + files +
                            "psnr,28\\.5[0-9]+,higher,1,,\n" + files + "mse,90\\.9[0-9]+,lower,1,,\n" + scene() +
                            ",[^\n]*absent.png,,,,,,,[^\n]+,\n");
  EXPECT_TRUE(std::regex_match(outcome.out, expected)) << outcome.out;
}

TEST(Csv, QuotesWhatNeedsQuotes) {
  const std::string path = scratch("a,\"b\".png");
  write_file(path, read_file(noisy()));
  const Outcome outcome = acuity({"score", "--csv", "-m", "psnr", scene(), path});
  EXPECT_NE(outcome.out.find(",\"" + scratch("a,\"\"b\"\".png") + "\","), std::string::npos) << outcome.out;
}

TEST(Plain, TellsValueDirectionAndMeaning) {
  const Outcome outcome = acuity({"score", "-m", "ssimulacra2,mse", scene(), blurred()});
  EXPECT_EQ(outcome.exit_code, 0);
  const std::regex expected(
      "reference  [^\n]*scene.png\ndistorted  [^\n]*blurred.png\nsize       157 x 93\n"
      "ssimulacra2 +[0-9.]+  higher is better; [^\n]+\n"
      "mse +[0-9.]+  lower is better; [^\n]+\n");
  EXPECT_TRUE(std::regex_match(outcome.out, expected)) << outcome.out;
}

TEST(Plain, IsTheDefault) {
  EXPECT_EQ(acuity({"score", "--plain", scene(), noisy()}).out, acuity({"score", scene(), noisy()}).out);
}

TEST(Plain, ExplainsWhenAsked) {
  const std::string text =
      acuity({"score", "--explain", "--threads", "2", "--memory", "strip:32", scene(), noisy()}).out;
  for (const char* part : {"reference: PNG", "distorted: PNG", "2 threads", "strip 32", "on cpu", "decode_reference",
                           " ms", "timeline, in ms since the start:", "read reference from", "read distorted from",
                           "make scorer from", "score from"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace acuity::test
