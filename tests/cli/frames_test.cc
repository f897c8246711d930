// SPDX-License-Identifier: BSD-2-Clause-Patent
// Metrics of frames through 'acuity score'.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/pictures.h"
#include "cli/schema.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using nlohmann::json;

std::string saved(const std::string& name, const Drawing& drawing) {
  write_file(scratch(name), draw_y4m(drawing));
  return scratch(name);
}

std::string reference() { return saved("reference.y4m", {.frames = 24}); }
std::string distorted() { return saved("distorted.y4m", {.frames = 24, .damage = 9}); }

json scored(std::vector<std::string> words) {
  words.insert(words.begin(), {"score", "--json"});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  const json schema = json::parse(read_file(ACUITY_DOCS "/acuity-score-1.schema.json"));
  for (const std::string& violation : violations(document, schema)) ADD_FAILURE() << violation;
  return document["results"][0];
}

TEST(Frames, AreScoredInOnePassWithPictures) {
  const json both = scored({"-m", "psnr,motion,psnr_yuv:enable_apsnr=true", reference(), distorted()});
  EXPECT_EQ(both["metrics"].size(), 3u);
  EXPECT_EQ(both["metrics"]["psnr"], scored({"-m", "psnr", reference(), distorted()})["metrics"]["psnr"]);
  const json& yuv = both["metrics"]["psnr_yuv:enable_apsnr=true"];
  EXPECT_EQ(yuv["frames"].size(), 24u);
  EXPECT_EQ(yuv["frames"][0]["values"]["psnr_yuv"], yuv["frames"][0]["values"]["psnr_y"]);
  EXPECT_EQ(yuv["aggregates"].size(), 3u);
  EXPECT_FALSE(both["metrics"]["motion"].contains("aggregates"));
}

// The frames before and after are looked at although they are not scored.
TEST(Frames, PartsGiveWhatTheWholeGives) {
  const char* metric = "motion:motion_five_frame_window=true:motion_moving_average=true";
  const json whole = scored({"-m", metric, reference(), distorted()})["metrics"][metric]["frames"];
  for (const std::vector<std::string>& part : std::vector<std::vector<std::string>>{
           {"--every", "3"}, {"--start", "5"}, {"--end", "9"}, {"--start", "2", "--end", "20", "--every", "7"}}) {
    std::vector<std::string> words = part;
    words.insert(words.end(), {"-m", metric, reference(), distorted()});
    const json frames = scored(words)["metrics"][metric]["frames"];
    EXPECT_FALSE(frames.empty());
    for (const json& frame : frames) EXPECT_EQ(frame, whole[frame["index"].get<size_t>()]) << part[0] << part[1];
  }
}

TEST(Frames, PicturesAreVideosOfOneFrame) {
  const json result = scored({"-m", "psnr_yuv", scene(), noisy()});
  EXPECT_EQ(result["video"]["scored"], 1);
  const std::string assumptions = result["assumptions"].dump();
  EXPECT_NE(assumptions.find("converted to yuv444p by matrix bt709 in limited range"), std::string::npos)
      << assumptions;
  const double value = result["metrics"]["psnr_yuv"]["value"];
  EXPECT_GT(value, 20);
  EXPECT_LT(value, 45);
}

TEST(Frames, AreComparedInTheFormOfTheReference) {
  const std::string deep = saved("deep.y4m", {.frames = 24, .tag = "420p10"});
  const auto value = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"-m", "psnr_yuv"});
    return scored(words)["metrics"]["psnr_yuv"]["value"].get<double>();
  };
  const double at_reference = value({reference(), deep});
  EXPECT_EQ(at_reference, value({"--depth", "8", reference(), deep}));
  EXPECT_EQ(at_reference, value({"--at", "yuv420p", reference(), deep}));
  EXPECT_EQ(value({"--at", "dist", reference(), deep}), value({"--depth", "10", reference(), deep}));
  EXPECT_EQ(value({"--at", "yuv420p10", reference(), deep}), value({"--depth", "10", reference(), deep}));
  const Outcome text = acuity({"score", "-m", "psnr_yuv", reference(), deep});
  EXPECT_NE(text.out.find("distorted  converted from yuv420p10 to yuv420p for frame metrics"), std::string::npos)
      << text.out;
  for (const std::string form : {"yuv421p", "yuv420p7", "yuv420p10le", "8", ""}) {
    EXPECT_EQ(acuity({"score", "-m", "psnr_yuv", "--at", form, reference(), deep}).exit_code, 2) << form;
  }
  EXPECT_EQ(acuity({"score", "-m", "psnr", "--at", "dist", reference(), deep}).exit_code, 2);
}

// Models of the first generation want 10 bits, and have them wherever a side does.
TEST(Frames, ModelsThatWantTenBitsGetThem) {
  const std::string a = saved("ten.y4m", {.width = 320, .height = 240, .frames = 3, .tag = "420p10"});
  const std::string b = saved("ten_bad.y4m", {.width = 320, .height = 240, .frames = 3, .tag = "420p10", .damage = 9});
  const std::string eight = saved("eight.y4m", {.width = 320, .height = 240, .frames = 3});
  const auto values = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"-m", "vmaf:v1"});
    std::vector<double> list;
    const json result = scored(words);
    for (const json& frame : result["metrics"]["vmaf:v1"]["frames"]) {
      list.push_back(frame["values"]["vmaf"]);
    }
    EXPECT_EQ(list.size(), 3u);
    return list;
  };
  const std::string output = scratch("v1.json");
  ASSERT_EQ(acuity({"vmaf", "-r", a, "-d", b, "-m", "version=vmaf_v1.0.16_3d0h", "--json", "--precision", "max", "-o",
                    output, "-q"})
                .exit_code,
            0);
  std::vector<double> of_libvmafs_command;
  const json log = json::parse(read_file(output));
  for (const json& frame : log["frames"]) of_libvmafs_command.push_back(frame["metrics"]["vmaf"]);
  EXPECT_EQ(values({a, b}), of_libvmafs_command);
  EXPECT_EQ(values({eight, b}), values({"--depth", "10", eight, b}));
  EXPECT_EQ(values({b, eight}), values({"--depth", "10", b, eight}));
  for (const char* same : {"vmaf:v1", "vmaf:v1:precision=AUTO", "vmaf:v1:Precision=auto", "vmaf:MODEL=v1"}) {
    const std::string assumptions = scored({"-m", same, eight, b})["assumptions"].dump();
    EXPECT_NE(assumptions.find("converted from yuv420p to yuv420p10"), std::string::npos) << same << assumptions;
  }
}

TEST(Frames, ModelsAreNamedByAWord) {
  const Outcome models = acuity({"models"});
  EXPECT_NE(models.out.find("vmaf:v1.0.16_3d0h, or vmaf:v1\n"), std::string::npos) << models.out;
  const Outcome none = acuity({"score", "-m", "vmaf:v7", reference(), distorted()});
  EXPECT_EQ(none.exit_code, 2) << none.err;
  EXPECT_NE(none.err.find("there is no model 'v7'"), std::string::npos) << none.err;
  write_file(scratch("model.json"), "{\"model_dict\": 1}");
  const Outcome bad = acuity({"score", "-m", "vmaf:model=" + scratch("model.json"), reference(), distorted()});
  EXPECT_EQ(bad.exit_code, 3) << bad.err;
  EXPECT_NE(bad.err.find("is not a usable VMAF model"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace acuity::test
