// SPDX-License-Identifier: BSD-2-Clause-Patent
// Videos through the command, from the pairing of frames to what is printed.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <thread>

#include "cli/command.h"
#include "cli/pictures.h"
#include "cli/pools.h"
#include "cli/schema.h"
#include "cli/video.h"
#include "support/encode_video.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using nlohmann::json;

std::string saved(const std::string& name, const Drawing& drawing) {
  const std::string path = scratch(name);
  write_file(path, draw_y4m(drawing));
  return path;
}

std::string raw() {
  const std::string path = scratch("raw.yuv");
  write_file(path, draw_frame({}, 0, 8) + draw_frame({}, 1, 8));
  return path;
}

std::string reference() { return saved("reference.y4m", {.frames = 6}); }
std::string distorted() { return saved("distorted.y4m", {.frames = 6, .damage = 9}); }

json scored(std::vector<std::string> words) {
  words.insert(words.begin(), {"score", "--json", "-m", "psnr"});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return json::parse(outcome.out)["results"][0];
}

std::vector<int> indices(const json& result) {
  std::vector<int> list;
  for (const json& frame : result["metrics"]["psnr"]["frames"]) list.push_back(frame["index"]);
  return list;
}

void expect_failure(const std::vector<std::string>& words, int exit_code, const std::string& message) {
  std::vector<std::string> all{"score", "-m", "psnr"};
  all.insert(all.end(), words.begin(), words.end());
  const Outcome outcome = acuity(all);
  EXPECT_EQ(outcome.exit_code, exit_code) << message;
  EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "") << message;
}

TEST(Video, JsonHoldsFramesAndPoolsAndKeepsTheSchema) {
  const Outcome outcome = acuity({"score", "--json", "-m", "ssimulacra2,psnr,mse", reference(), distorted()});
  const json schema = json::parse(read_file(ACUITY_DOCS "/acuity-score-1.schema.json"));
  const json document = json::parse(outcome.out);
  for (const std::string& violation : violations(document, schema)) ADD_FAILURE() << violation;
  const json& result = document["results"][0];
  EXPECT_EQ(result["video"]["reference"], json({{"frames", 6}, {"rate", "25/1"}}));
  EXPECT_EQ(result["video"]["scored"], 6);
  const json& metric = result["metrics"]["psnr"];
  ASSERT_EQ(metric["frames"].size(), 6u);
  EXPECT_EQ(metric["frames"][2]["reference_pts"], 0.08);
  EXPECT_EQ(metric["frames"][2]["values"].size(), metric["outputs"].size() + 1);
  EXPECT_EQ(metric["pools"]["psnr"].size(), 14u);
  EXPECT_EQ(metric["pools"]["psnr"]["mean"], metric["value"]);
  std::vector<double> values;
  for (const json& frame : metric["frames"]) values.push_back(frame["values"]["psnr"]);
  for (const cli::Pool& pool : cli::pools(values)) EXPECT_EQ(metric["pools"]["psnr"][pool.name], *pool.value);
}

// As when its time limit is over: the frames until then are scored, and no more.
TEST(Video, EndsSoonAfterItWasGivenUp) {
  cli::ScoreJob job;
  job.reference = saved("long.y4m", {.frames = 40});
  job.metrics = {{.name = "psnr", .options = {}, .label = "psnr"}};
  job.device = "cpu";
  job.threads = 1;
  int asked = 0;
  job.is_given_up = [&] { return ++asked > 5; };
  const cli::PairResult result =
      cli::score_video(job, {}, job.reference, [](int64_t, const std::optional<cli::FrameTotal>&) {});
  EXPECT_EQ(result.status.code(), StatusCode::ok) << result.status.message();
  EXPECT_EQ(result.cut_short.code(), StatusCode::cancelled) << result.cut_short.message();
  ASSERT_TRUE(result.video);
  EXPECT_EQ(result.video->frames.size(), 5u);
}

TEST(Video, APictureIsAVideoOfOneFrame) {
  const json still = scored({scene(), noisy()});
  const json video = scored({"--sync", "index", scene(), noisy()});
  EXPECT_EQ(still["metrics"]["psnr"]["value"], video["metrics"]["psnr"]["value"]);
  EXPECT_EQ(indices(video), std::vector<int>{0});
}

TEST(Video, FilesPipesAndRawStreamsScoreAlike) {
  const std::string first = reference();
  const std::string second = distorted();
  const json metric = scored({first, second})["metrics"]["psnr"];
  EXPECT_EQ(scored({"--threads", "1", first, second})["metrics"]["psnr"], metric);
  const Outcome piped = acuity({"score", "--json", "-m", "psnr", "-", second}, {.input = read_file(first)});
  EXPECT_EQ(json::parse(piped.out)["results"][0]["metrics"]["psnr"], metric) << piped.err;

  const std::string fifo = scratch("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] { write_file(fifo, read_file(second)); });
  EXPECT_EQ(scored({first, fifo})["metrics"]["psnr"], metric);
  writer.join();

  std::string samples;
  for (int i = 0; i < 6; ++i) samples += draw_frame({.damage = 9}, i, 8);
  const std::string yuv = scratch("distorted.yuv");
  write_file(yuv, samples);
  const json mixed = scored({"--size", ",64x48", "--siting", "centre", first, yuv});
  EXPECT_EQ(mixed["metrics"]["psnr"]["pools"], metric["pools"]);
  EXPECT_EQ(mixed["metrics"]["psnr"]["frames"][1]["distorted_pts"], nullptr);
}

TEST(Video, FramesAreChosen) {
  const std::string first = reference();
  const std::string second = distorted();
  EXPECT_EQ(indices(scored({"--start", "1", "--end", "5", "--every", "3", first, second})), (std::vector<int>{1, 4}));
  const std::string four = saved("first_four.y4m", {.frames = 4});
  EXPECT_EQ(indices(scored({"--offset", "-2", first, four})), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(indices(scored({"--offset=2", four, first})), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(scored({"--shortest", first, four})["metrics"]["psnr"]["value"], 100);
  expect_failure({"--offset", "1", first, second}, 3, "leaves out the first 1 of " + second);
  expect_failure({"--offset", "-1", first, second}, 3, "leaves out the first 1 of " + first);
}

TEST(Video, FramesAreChosenByTheirTime) {
  const std::string first = reference();
  const std::string second = distorted();
  EXPECT_EQ(indices(scored({"--start", "00:00:00.08", first, second})), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(indices(scored({"--start", "0:0.07", "--end", "0:0.16", first, second})), (std::vector<int>{2, 3}));
  EXPECT_EQ(indices(scored({"--start", "1", "--end", "0:0.16", "--every", "2", first, second})),
            (std::vector<int>{1, 3}));
  // The numbers count from the start of the file, whatever is left out; so do the times.
  const std::string four = saved("first_four.y4m", {.frames = 4});
  EXPECT_EQ(indices(scored({"--offset", "-2", "--start", "0:0.12", first, four})), (std::vector<int>{3, 4, 5}));
  expect_failure({"--start", "1:00", first, second}, 3, "no frame of");
  expect_failure({"--start", "0:00.2", "--end", "0:0.1", first, second}, 2, "is not after");
  expect_failure({"--start", "1:60", first, second}, 2, "00:01:30");
  expect_failure({"--size", "64x48", "--start", "0:01", raw(), raw()}, 2, "no frame rate");
  // A metric that looks at neighbours sees those before the start.
  const auto motion = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"score", "--json", "-m", "motion,vmaf", first, second};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(acuity(words).out)["results"][0]["metrics"]["motion"]["frames"];
  };
  const json whole = motion({});
  const json part = motion({"--start", "0:0.12"});
  ASSERT_EQ(part.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(part[i], whole[i + 3]);
}

// Both look at the frame before, also at one that is not scored; only motion measures that.
TEST(Video, MetricsThatLookBackShareFramesThatAreNotScored) {
  const std::string first = saved("first.y4m", {.width = 96, .height = 96, .frames = 6});
  const std::string second = saved("second.y4m", {.width = 96, .height = 96, .frames = 6, .damage = 9});
  const auto values = [&](const std::string& metrics, const std::string& metric) {
    const Outcome outcome = acuity({"score", "--json", "--every", "3", "-m", metrics, first, second});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["results"][0]["metrics"][metric]["frames"];
  };
  const json motion = values("motion", "motion"), speed = values("speed_temporal", "speed_temporal");
  for (const char* both : {"speed_temporal,motion", "motion,speed_temporal"}) {
    EXPECT_EQ(values(both, "motion"), motion);
    EXPECT_EQ(values(both, "speed_temporal"), speed);
  }
}

TEST(Video, TimesPairFramesOfDifferentRates) {
  const std::string fast = saved("fast.y4m", {.frames = 12, .rate = "50:1"});
  const json result = scored({"--sync", "pts", reference(), fast});
  for (const json& frame : result["metrics"]["psnr"]["frames"])
    EXPECT_EQ(frame["reference_pts"], frame["distorted_pts"]);
  EXPECT_EQ(indices(result).size(), 6u);
  const json slow = scored({"--sync", "pts", fast, reference()});
  EXPECT_EQ(indices(slow).size(), 12u);
  expect_failure({"--sync", "pts", reference(), saved("long.y4m", {.frames = 14, .rate = "50:1"})}, 3, "14");
  const Outcome warned = acuity({"score", "--shortest", "-m", "psnr", reference(), fast});
  EXPECT_NE(warned.err.find("paired by number"), std::string::npos) << warned.err;
}

TEST(Video, WhatDoesNotFitIsAnError) {
  const std::string first = reference();
  const std::string good = read_file(first);
  expect_failure({first, saved("small.y4m", {.width = 62, .frames = 6})}, 3, "--scale dist or --scale ref");
  expect_failure({first, saved("short.y4m", {.frames = 4})}, 3, "has 6 frames (25 frames per second) but");
  expect_failure({first, saved("empty.y4m", {.frames = 0})}, 3, "has 0");
  expect_failure({saved("empty.y4m", {.frames = 0}), saved("none.y4m", {.frames = 0})}, 3, "has no frames");
  expect_failure({"--start", "6", first, first}, 3, "no frame of");
  expect_failure({first, scratch("absent.y4m")}, 3, "no such file");
  expect_failure({"--map", scratch("map.png"), "-m", "ssimulacra2", first, first}, 2, "--map");
  expect_failure({"--sync", "sideways", first, first}, 2, "--sync");
  expect_failure({"--size", "64", first, first}, 2, "WIDTHxHEIGHT");
  expect_failure({"--pixel-format", "gray", first, first}, 2, "--size");
  expect_failure({"--matrix", "bt7", first, first}, 2, "bt709");
  expect_failure({"--start", "5", "--end", "5", first, first}, 2, "--end");
  expect_failure({"--size", "64x48", "--sync", "pts", raw(), raw()}, 2, "frame rate");
  const std::string cut = scratch("cut.y4m");
  write_file(cut, good.substr(0, good.size() - 10));
  expect_failure({first, cut}, 3, "truncated");
  expect_failure({cut, first}, 3, "truncated");
  // Asked to, it keeps what was scored and still says that something is wrong.
  const Outcome partial = acuity({"score", "--json", "--shortest", "-m", "psnr", first, cut});
  EXPECT_EQ(partial.exit_code, 3);
  EXPECT_EQ(json::parse(partial.out)["results"][0]["video"]["scored"], 5);
}

TEST(Video, CsvHasARowForEachFrameAndPool) {
  const std::string missing = scratch("absent.y4m");
  const std::string text = acuity({"score", "--csv", "-m", "psnr_yuv,mse", reference(), distorted(), missing}).out;
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 1u + 2 * (6 + 14) + 1);
  EXPECT_EQ(lines[0],
            "reference,distorted,width,height,metric,value,better,version,error,frame,reference_pts,distorted_pts,pool,"
            "warnings");
  for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), ','), 13) << line;
  EXPECT_TRUE(lines[2].ends_with(",1,0.040000000000000001,0.040000000000000001,,")) << lines[2];
  EXPECT_TRUE(lines[7].ends_with(",,,,,mean,")) << lines[7];
}

TEST(Video, InfoTellsWhatIsAssumed) {
  const Outcome outcome = acuity({"video-info", reference(), saved("other.y4m", {.frames = 2, .tag = "444p10"})});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"frames    6\n", "chroma sited centre", "assumed   matrix bt601", "10-bit yuv444p",
                           "frames: 6 and 2", "depth: 8 and 10"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(acuity({"video-info"}).exit_code, 2);
  EXPECT_EQ(acuity({"video-info", scratch("absent.y4m")}).exit_code, 3);
  const Outcome half = acuity({"video-info", reference(), scratch("absent.y4m")});
  EXPECT_EQ(half.exit_code, 3);
  EXPECT_NE(half.out.find("frames    6\n"), std::string::npos) << half.out;
}

// What is easily overlooked is part of the text without --explain.
TEST(Video, WhatIsEasilyOverlookedIsStated) {
  const std::string fields = saved("fields.y4m", {.frames = 2, .extra = " A4:3 It"});
  const Outcome outcome = acuity({"score", "-m", "psnr_yuv", fields, fields});
  for (const char* part : {"reference  pixels of 4:3", "distorted  interlaced: both fields are scored together"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST(Video, TheLimitIsForTheMean) {
  EXPECT_EQ(acuity({"score", "-m", "psnr", "--fail-under", "99", reference(), distorted()}).exit_code, 5);
  EXPECT_EQ(acuity({"score", "-m", "psnr", "--fail-under", "1", reference(), distorted()}).exit_code, 0);
}

TEST(Video, WhatDescribesOneVideoHasNoDirection) {
  for (const char* metric : {"motion", "float_motion", "float_moment"}) {
    EXPECT_EQ(scored({reference(), distorted(), "-m", metric})["metrics"][metric]["better"], "neither");
  }
  const Outcome outcome = acuity({"score", "-m", "motion", "--fail-under", "3", reference(), distorted()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("write 'motion>=3' or 'motion<=3'"), std::string::npos) << outcome.err;
  EXPECT_EQ(acuity({"score", "-m", "motion", "--fail-under", "motion<=1e6", reference(), distorted()}).exit_code, 0);
}

TEST(Video, FrameMetricsHaveNoStrips) {
  const Outcome outcome = acuity({"score", "-m", "mse,psnr_yuv", "--memory", "strip:32", reference(), distorted()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(
      outcome.err.find("--memory strip:32 does not work with psnr_yuv, which needs whole frames; use auto or full"),
      std::string::npos)
      << outcome.err;
  EXPECT_EQ(acuity({"score", "-m", "psnr_yuv", "--memory", "full", reference(), distorted()}).exit_code, 0);
  EXPECT_EQ(acuity({"score", "-m", "mse", "--memory", "strip:32", reference(), distorted()}).exit_code, 0);
}

TEST(Pools, AreWhatTheirNamesSay) {
  const std::vector<double> values{3, 1, 2, 4};
  const auto pool = [&](const std::string& name) {
    for (const cli::Pool& entry : cli::pools(values)) {
      if (entry.name == name) return *entry.value;
    }
    return -1.0;
  };
  EXPECT_EQ(pool("mean"), 2.5);
  EXPECT_DOUBLE_EQ(pool("harmonic_mean"), 4 / (1 / 4. + 1 / 2. + 1 / 3. + 1 / 5.) - 1);
  EXPECT_EQ(pool("min"), 1);
  EXPECT_EQ(pool("max"), 4);
  EXPECT_EQ(pool("p50"), 2.5);
  EXPECT_DOUBLE_EQ(pool("p90"), 3.7);
  EXPECT_DOUBLE_EQ(pool("std"), std::sqrt(1.25));
  EXPECT_FALSE(cli::pools(std::vector<double>{-1, 5})[1].value.has_value());
}

// The drawing in a container, without loss; times in ms.
std::string contained(const std::string& name, const Drawing& drawing, std::vector<int64_t> times) {
  std::vector<std::string> frames;
  for (int i = 0; i < static_cast<int>(times.size()); ++i) frames.push_back(draw_frame(drawing, i, 8));
  const std::string path = scratch(name);
  Encoding encoding;
  encoding.width = drawing.width;
  encoding.height = drawing.height;
  encoding.times = std::move(times);
  write_file(path, encode_video(encoding, frames));
  return path;
}

TEST(Video, ContainersGiveWhatYuv4MpegGives) {
  const std::vector<int64_t> times = {0, 40, 80, 120, 160, 200};
  const std::string first = contained("reference.mkv", {}, times);
  const std::string second = contained("distorted.mkv", {.damage = 9}, times);
  const json container = scored({first, second});
  const json plain = scored({saved("r.y4m", {.frames = 6, .tag = "420mpeg2"}),
                             saved("d.y4m", {.frames = 6, .tag = "420mpeg2", .damage = 9})});
  EXPECT_EQ(container["metrics"]["psnr"]["frames"], plain["metrics"]["psnr"]["frames"]);
  EXPECT_EQ(container["metrics"]["psnr"]["pools"], plain["metrics"]["psnr"]["pools"]);
  const json piped = json::parse(
      acuity({"score", "--json", "-m", "psnr", first, "-"}, {.input = read_file(second)}).out)["results"][0];
  EXPECT_EQ(piped["metrics"]["psnr"]["frames"], plain["metrics"]["psnr"]["frames"]);
}

TEST(Video, VariableRatesArePairedByTime) {
  // The distorted video lacks two frames, which the one before them stands in for.
  const std::string first = contained("constant.mkv", {}, {0, 40, 80, 120, 160, 200});
  const std::string second = contained("variable.mkv", {.damage = 9}, {0, 40, 160, 200});
  const json result = scored({"--sync", "pts", first, second});
  std::vector<double> times;
  for (const json& frame : result["metrics"]["psnr"]["frames"]) times.push_back(frame["distorted_pts"]);
  EXPECT_EQ(times, (std::vector<double>{0, 0.04, 0.04, 0.16, 0.16, 0.2}));
}

TEST(Video, TheLastFrameOfAContainerHasAMap) {
  const std::string video = contained("mapped.mkv", {}, {0, 40, 80});
  for (const char* frame : {"0", "2"}) {
    const Outcome outcome =
        acuity({"score", "-m", "mse", "--map", scratch("last.pfm"), "--frame", frame, video, video});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_EQ(acuity({"score", "-m", "mse", "--map", scratch("last.pfm"), "--frame", "3", video, video}).exit_code, 3);
}

TEST(Video, StandardInputIsOneSideOnly) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"vmaf", "-r", "-", "-d", "-"}, {"score", "-", "-"}, {"video-info", "-", "-"}}) {
    const Outcome outcome = acuity(words, {.input = read_file(reference())});
    EXPECT_EQ(outcome.exit_code, 2) << words.front();
    EXPECT_NE(outcome.err.find("can be given only once"), std::string::npos) << outcome.err;
  }
}

TEST(Video, FramesOfTheSameTimeArePairedInTheirOrder) {
  const std::string doubled = contained("doubled.mkv", {}, {0, 0, 40, 80, 80, 120});
  const json result = scored({"--sync", "pts", doubled, doubled});
  EXPECT_EQ(indices(result).size(), 6u);
  for (const json& frame : result["metrics"]["psnr"]["frames"]) EXPECT_EQ(frame["values"]["psnr"], 100) << frame;
}

TEST(Video, AVariableRateIsNotResampled) {
  const std::string first = contained("constant.mkv", {}, {0, 40, 80, 120, 160, 200});
  expect_failure({"--sync", "resample", first, contained("pause.mkv", {}, {0, 40, 80, 120, 160, 800})}, 3,
                 "--sync pts");
}

TEST(Video, GreyStaysGreyInAnotherDepth) {
  const auto of = [](const std::string& name, const std::string& colour, const std::string& luma,
                     const std::string& chroma) {
    std::string file = "YUV4MPEG2 W16 H16 F25:1 C" + colour + " XCOLORRANGE=FULL\nFRAME\n";
    for (const std::string& code : {luma, chroma, chroma}) {
      for (int i = 0; i < 16 * 16; ++i) file += code;
    }
    write_file(scratch(name), file);
    return scratch(name);
  };
  using namespace std::string_literals;
  const std::string deep = of("deep.y4m", "444p10", "\x91\x01"s, "\x00\x02"s);  // 401, 512
  const std::string plain = of("plain.y4m", "444", "\x64"s, "\x80"s);           // 100, 128
  EXPECT_EQ(scored({"--depth", "10", deep, plain})["metrics"]["psnr"]["value"], 100);
}

TEST(Video, TextTellsWhereTheTimeWent) {
  const Outcome outcome = acuity({"score", "-m", "psnr", reference(), distorted()});
  EXPECT_NE(outcome.out.find("\ntime       decode_reference "), std::string::npos) << outcome.out;
}

TEST(Video, PsnrOfYCbCrPointsToThatOfThePlanes) {
  const json result = json::parse(acuity({"score", "--json", "-m", "psnr", reference(), distorted()}).out);
  EXPECT_NE(result["warnings"].dump().find("use psnr_yuv"), std::string::npos) << result["warnings"];
  const json other = json::parse(acuity({"score", "--json", "-m", "psnr_yuv,mse", reference(), distorted()}).out);
  EXPECT_TRUE(other["warnings"].empty()) << other["warnings"];
}

TEST(Video, ScalingIsAskedForAndTold) {
  const std::string small = saved("half.y4m", {.width = 32, .height = 24, .frames = 6});
  for (const std::string side : {"ref", "dist"}) {
    const json result = scored({"--scale", side, reference(), small});
    EXPECT_EQ(result["width"], side == "ref" ? 32 : 64);
    EXPECT_NE(result.dump().find(side == "ref" ? "scaled from 64x48 to 32x24 (bicubic)"
                                               : "scaled from 32x24 to 64x48 (bicubic)"),
              std::string::npos)
        << result.dump();
  }
  expect_failure({"--scale", "both", reference(), small}, 2, "expected ref or dist");
  expect_failure({"--scaler", "lanczos", reference(), small}, 2, "--scaler needs --scale");
  expect_failure({"--scale", "dist", "--scaler", "magic", reference(), small}, 2, "use one of bicubic");
}

}  // namespace
}  // namespace acuity::test
