// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP from the command line: pictures one by one, videos as wholes.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/pictures.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using nlohmann::json;

json scored(std::vector<std::string> words) {
  words.insert(words.begin(), {"score", "--json", "-m", "cvvdp"});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.exit_code == 0 ? json::parse(outcome.out)["results"][0] : json();
}

bool states(const json& result, const std::string& words) {
  const json& all = result["assumptions"];
  return std::any_of(all.begin(), all.end(),
                     [&](const json& line) { return line.get<std::string>().find(words) != std::string::npos; });
}

TEST(Cvvdp, AVideoHasOneValueForAllFrames) {
  write_file(scratch("a.y4m"), draw_y4m({.frames = 8}));
  write_file(scratch("b.y4m"), draw_y4m({.frames = 8, .damage = 40}));
  const json result = scored({scratch("a.y4m"), scratch("b.y4m")});
  const json& metric = result["metrics"]["cvvdp"];
  EXPECT_EQ(metric["value"], metric["aggregates"]["cvvdp_video"]);
  EXPECT_EQ(metric["frames"].size(), 8u);
  EXPECT_NE(metric["value"], metric["pools"]["cvvdp_video"]["mean"]);
  EXPECT_LT(metric["value"].get<double>(), 10);
  EXPECT_TRUE(states(result, "25 frames per second"));
  // Another rate is another video.
  const json faster = scored({"--fps", "60", scratch("a.y4m"), scratch("b.y4m")});
  EXPECT_NE(faster["metrics"]["cvvdp"]["value"], metric["value"]);
  EXPECT_TRUE(states(faster, "60 frames per second"));
  const json same = scored({"--fps", "25/1", scratch("a.y4m"), scratch("b.y4m")});
  EXPECT_EQ(same["metrics"]["cvvdp"]["value"], metric["value"]);
}

TEST(Cvvdp, ARawVideoNeedsItsRate) {
  write_file(scratch("a.yuv"), draw_frame({}, 0, 8) + draw_frame({}, 1, 8));
  const Outcome refused = acuity({"score", "-m", "cvvdp", "--size", "64x48", scratch("a.yuv"), scratch("a.yuv")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("give --fps"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
  for (const char* rate : {"0", "-25", "fast", "25/0", "2000", "nan"}) {
    const Outcome wrong =
        acuity({"score", "-m", "cvvdp", "--size", "64x48", "--fps", rate, scratch("a.yuv"), scratch("a.yuv")});
    EXPECT_EQ(wrong.exit_code, 2) << rate;
    EXPECT_NE(wrong.err.find("for --fps"), std::string::npos) << wrong.err;
  }
  EXPECT_EQ(
      scored({"--size", "64x48", "--fps", "29.97", scratch("a.yuv"), scratch("a.yuv")})["metrics"]["cvvdp"]["value"],
      10);
}

TEST(Cvvdp, PicturesStayPicturesBesideFrameMetrics) {
  const json alone = scored({scene(), noisy()});
  const Outcome outcome = acuity({"score", "--json", "-m", "cvvdp,psnr_yuv", scene(), noisy()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["results"][0]["metrics"]["cvvdp"]["value"], alone["metrics"]["cvvdp"]["value"]);
}

// The example of the metric's page, with a faster encoder.
TEST(Cvvdp, HdrVideoIsShownOnAnHdrDisplay) {
  const std::vector<std::string> tags{"-color_trc", "smpte2084",   "-color_primaries",
                                      "bt2020",     "-colorspace", "bt2020nc"};
  const auto make = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"ffmpeg", "-v", "error", "-y"});
    const std::string path = words.back();
    words.pop_back();
    words.insert(words.end(), tags.begin(), tags.end());
    words.insert(words.end(), {"-c:v", "ffv1", "-strict", "-2", path});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return path;
  };
  const std::string original = make({"-f", "lavfi", "-i", "testsrc2=size=128x96:rate=30:duration=0.5", "-pix_fmt",
                                     "yuv420p10le", scratch("original.mkv")});
  const std::string blurred = make({"-i", original, "-vf", "gblur=1", "-pix_fmt", "yuv420p10le", scratch("blur.mkv")});
  const json result = scored({original, blurred});
  EXPECT_TRUE(states(result, "display: standard_hdr_pq"));
  EXPECT_TRUE(states(result, "PQ codes shown on standard_hdr_pq"));
  EXPECT_LT(result["metrics"]["cvvdp"]["value"].get<double>(), 9.9);
  EXPECT_EQ(scored({original, original})["metrics"]["cvvdp"]["value"], 10);
}

}  // namespace
}  // namespace acuity::test
