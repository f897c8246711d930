// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP from the command line: pictures one by one, videos as wholes.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "acuity/picture.h"
#include "cli/map_colours.h"
#include "cli/pictures.h"
#include "metrics/cvvdp/scales.h"
#include "support/fixtures.h"
#include "support/synthetic_video.h"
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
  // In CSV too, where a metric without such a value ends with its pools.
  const std::string csv = acuity({"score", "--csv", "-m", "cvvdp,psnr_yuv", scratch("a.y4m"), scratch("b.y4m")}).out;
  EXPECT_NE(csv.find(fmt::format(",cvvdp,{:.17g},higher,0.5.6,,,,,all,\n", metric["value"].get<double>())),
            std::string::npos)
      << csv;
  EXPECT_EQ(csv.find(",all,"), csv.rfind(",all,")) << csv;
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

// A clip of the goldens as a file.
std::string golden_clip(const std::string& name, int width, int height, int frames, const std::string& rate,
                        bool distorted, Subsampling subsampling = Subsampling::yuv420) {
  const tests::SyntheticVideo video(width, height, 8, subsampling);
  std::string text = "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) + " F" + rate +
                     (subsampling == Subsampling::yuv444 ? " C444\n" : " C420jpeg\n");
  for (int t = 0; t < frames; ++t) {
    text += "FRAME\n";
    const tests::OwnedFrame frame = distorted ? video.distorted(t) : video.reference(t);
    for (const std::vector<uint8_t>& plane : frame.planes) text.append(plane.begin(), plane.end());
  }
  write_file(scratch(name), text);
  return scratch(name);
}

double value_of(const json& result) { return result["metrics"].front()["value"].get<double>(); }

// Numbers of the published reference (tests/golden/video/cvvdp.csv), with the options that the metric's page names.
TEST(Cvvdp, GivesTheNumbersOfPycvvdp) {
  const std::vector<std::string> meaning{"--matrix", "bt709"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), meaning.begin(), meaning.end());
    return words;
  };
  const std::string at_30 = golden_clip("30.y4m", 160, 90, 30, "30:1", false);
  const std::string at_24 = golden_clip("24.y4m", 160, 90, 24, "24:1", true);
  const json resampled = scored(with({"--sync", "resample", at_30, at_24}));
  EXPECT_NEAR(value_of(resampled), 4.909062385559082, 2e-5);
  EXPECT_TRUE(states(resampled, "shown as 120 frames per second"));
  EXPECT_TRUE(states(resampled, "120 frames per second; before the first frame"));
  EXPECT_NEAR(value_of(scored(with({"--sync", "resample:60", at_30, at_24}))), 5.065356254577637, 2e-5);
  const Outcome slower = acuity({"score", "-m", "cvvdp", "--sync", "resample:25", at_30, at_24});
  EXPECT_EQ(slower.exit_code, 2);
  EXPECT_NE(slower.err.find("at most 25"), std::string::npos) << slower.err;
  const Outcome longer =
      acuity({"score", "-m", "cvvdp", "--sync", "resample", golden_clip("60.y4m", 160, 90, 60, "30:1", false), at_24});
  EXPECT_EQ(longer.exit_code, 3);
  EXPECT_NE(longer.err.find("60 frames"), std::string::npos) << longer.err;
}

// The same clips as RGB.
std::string golden_rgb_clip(const std::string& name, int width, int height, int frames, bool distorted) {
  const tests::SyntheticVideo video(width, height, 8, Subsampling::yuv444);
  std::string samples;
  for (int t = 0; t < frames; ++t) {
    const std::vector<uint8_t> frame = tests::rgb_of(distorted ? video.distorted(t) : video.reference(t));
    samples.append(frame.begin(), frame.end());
  }
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  const Outcome made = run({"ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r",
                            "30", "-i", "-", "-c:v", "ffv1", scratch(name)},
                           {.input = samples});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return scratch(name);
}

// Next to nothing is lost on the way to light, whatever the two sides are. All numbers are the reference's.
TEST(Cvvdp, OtherFormsOfFramesLoseNextToNothing) {
  const std::string a = golden_rgb_clip("a.mkv", 352, 288, 12, false);
  const std::string b = golden_rgb_clip("b.mkv", 352, 288, 12, true);
  EXPECT_NEAR(value_of(scored({a, b})), 8.851828575134277, 5e-6);
  EXPECT_NEAR(value_of(scored({"--fps", "60", a, b})), 8.682339668273926, 5e-6);
  // 4:4:4 against 4:2:0.
  const std::string whole = golden_clip("whole.y4m", 321, 181, 12, "30:1", false, Subsampling::yuv444);
  const std::string half = golden_clip("half.y4m", 160, 90, 12, "30:1", true);
  const Outcome scaled = acuity({"score", "--json", "--matrix", "bt709", "-m",
                                 "cvvdp:display=standard_fhd:full_screen=bilinear:resolution=200x112:ppd="
                                 "37.842503853602885",
                                 whole, half});
  ASSERT_EQ(scaled.exit_code, 0) << scaled.err;
  EXPECT_NEAR(value_of(json::parse(scaled.out)["results"][0]), 0.8165254592895508, 2e-5);
  // A picture as a video of one frame, on one side or both.
  const std::string data = tests::tests_folder() + "/data/";
  const auto one_frame = [&](const std::string& picture, const std::string& name) {
    const Outcome made = run({"ffmpeg", "-v", "error", "-y", "-i", data + picture, "-c:v", "ffv1", scratch(name)});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return scratch(name);
  };
  const std::string original = one_frame("scene.png", "scene.mkv");
  const std::string damaged = one_frame("scene.jpeg10.png", "jpeg10.mkv");
  const double still = value_of(scored({data + "scene.png", data + "scene.jpeg10.png"}));
  EXPECT_NEAR(still, 8.452777862548828, 2e-5);
  // RGB stays as it is stored, so that codes become the same light.
  EXPECT_EQ(value_of(scored({original, damaged})), still);
  EXPECT_EQ(value_of(scored({data + "scene.png", damaged})), still);
  EXPECT_EQ(value_of(scored({original, data + "scene.jpeg10.png"})), still);
  // What the other metrics of frames compare stays as it was.
  const Outcome both = acuity({"score", "--json", "-m", "cvvdp,psnr_yuv", a, b});
  const Outcome other = acuity({"score", "--json", "-m", "psnr_yuv", a, b});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(json::parse(both.out)["results"][0]["metrics"]["psnr_yuv"]["value"],
            json::parse(other.out)["results"][0]["metrics"]["psnr_yuv"]["value"]);
}

// 8 bits against 10: the deeper side is not rounded, and nothing is seen where the samples are the same.
TEST(Cvvdp, DepthsThatDifferMeetAtTheDeeperOne) {
  const auto clip = [&](const std::string& name, int depth, int added) {
    const tests::OwnedFrame frame = tests::SyntheticVideo(64, 48, 8, Subsampling::yuv420).reference(0);
    std::string text = "YUV4MPEG2 W64 H48 F25:1 C" + std::string(depth == 8 ? "420jpeg" : "420p10") + "\nFRAME\n";
    for (const std::vector<uint8_t>& plane : frame.planes) {
      for (const uint8_t sample : plane) {
        const int code = (sample << (depth - 8)) + added;
        text.push_back(static_cast<char>(code & 255));
        if (depth > 8) text.push_back(static_cast<char>(code >> 8));
      }
    }
    write_file(scratch(name), text);
    return scratch(name);
  };
  const std::string eight = clip("8.y4m", 8, 0), ten = clip("10.y4m", 10, 0), finer = clip("finer.y4m", 10, 1);
  const auto value = [&](const std::string& a, const std::string& b) {
    return value_of(scored({"--siting", "centre", a, b}));
  };
  EXPECT_EQ(value(eight, ten), 10);
  EXPECT_EQ(value(eight, finer), value(ten, finer));
  EXPECT_LT(value(eight, finer), 10);
}

TEST(Cvvdp, PaddingAndScalingAreStated) {
  const std::string a = golden_clip("a.y4m", 160, 90, 12, "30:1", false);
  const std::string b = golden_clip("b.y4m", 160, 90, 12, "30:1", true);
  const auto with = [&](const std::string& metric, const std::string& other) {
    const Outcome outcome = acuity({"score", "--json", "-m", metric, "--matrix", "bt709", a, other});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? json::parse(outcome.out)["results"][0] : json();
  };
  EXPECT_TRUE(states(with("cvvdp", b), "padding: replicate"));
  EXPECT_TRUE(states(with("cvvdp:padding=symmetric", b), "padding: symmetric"));
  const json capped = with("cvvdp:capped=3", b);
  EXPECT_TRUE(states(capped, "capped: 3 scales instead of the 6 of the definition"));
  const std::string small = golden_clip("small.y4m", 80, 45, 12, "30:1", true);
  const json scaled = with("cvvdp:full_screen=bilinear:resolution=100x57:ppd=75.40244934516305", small);
  EXPECT_TRUE(states(scaled, "160 x 90 and 80 x 45 scaled to 100 x 57, bilinear"));
  const Outcome refused = acuity({"score", "-m", "cvvdp", a, small});
  EXPECT_EQ(refused.exit_code, 3);
  const Outcome also = acuity({"score", "-m", "cvvdp:full_screen=area,psnr_yuv", a, small});
  EXPECT_EQ(also.exit_code, 3) << also.err;
}

TEST(Cvvdp, AWrongDisplayIsAMistakeOfTheCommandLine) {
  for (const std::string& file : {scene(), golden_clip("a.y4m", 160, 90, 2, "30:1", false)}) {
    const Outcome outcome = acuity({"score", "-m", "cvvdp:display=standard_4q", file, file});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(outcome.err.starts_with("acuity: error: there is no display 'standard_4q'")) << outcome.err;
    EXPECT_NE(outcome.err.find("standard_4k"), std::string::npos);
  }
  const Outcome pictures = acuity({"score", "-m", "cvvdp:padding=symmetric", scene(), noisy()});
  EXPECT_EQ(pictures.exit_code, 2);
  EXPECT_TRUE(pictures.err.starts_with("acuity: error: the option padding of cvvdp is for videos")) << pictures.err;
  const std::string video = golden_clip("a.y4m", 160, 90, 2, "30:1", false);
  const Outcome grey = acuity({"score", "-m", "cvvdp:grey=luminance", video, video});
  EXPECT_EQ(grey.exit_code, 2);
  EXPECT_TRUE(grey.err.starts_with("acuity: error: the option grey of cvvdp is for pictures")) << grey.err;
  const Outcome clip = acuity({"score", "-m", "cvvdp:clip=both", video, video});
  EXPECT_EQ(clip.exit_code, 2);
  EXPECT_NE(clip.err.find("has no effect without full_screen"), std::string::npos) << clip.err;
}

TEST(Cvvdp, OtherRatesAreShownAtOneRate) {
  const std::string a = golden_clip("30.y4m", 64, 48, 4, "30:1", false);
  const std::string b = golden_clip("24.y4m", 64, 48, 4, "24:1", true);
  const Outcome outcome = acuity({"score", "-m", "cvvdp", a, b});
  EXPECT_NE(outcome.out.find("--sync resample"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("--sync pts"), std::string::npos) << outcome.out;
  EXPECT_NE(acuity({"score", "-m", "psnr_yuv", a, b}).out.find("--sync pts"), std::string::npos);
}

// What decides what the number means is told unasked.
TEST(Cvvdp, TextForPeopleStatesTheDisplay) {
  const std::string text = acuity({"score", "-m", "cvvdp", scene(), noisy()}).out;
  EXPECT_NE(text.find("display: standard_4k, 75.4024 pixels per degree"), std::string::npos) << text;
  EXPECT_EQ(text.find("device:"), std::string::npos) << text;
  const std::string other = acuity({"score", "-m", "cvvdp:display=standard_hdr_pq:capped=3", scene(), noisy()}).out;
  EXPECT_NE(other.find("sRGB codes read as PQ codes"), std::string::npos) << other;
  EXPECT_NE(other.find("which gives another score"), std::string::npos) << other;
  EXPECT_EQ(acuity({"score", "-m", "ssimulacra2", scene(), noisy()}).out.find("decoded to"), std::string::npos);
}

TEST(Cvvdp, MapsAreOverThePictureInItsOwnColours) {
  const auto map_of = [&](std::vector<std::string> words, const std::string& name) {
    words.insert(words.begin(), {"score", "-m", "cvvdp", "--map", scratch(name)});
    const Outcome outcome = acuity(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<Picture> map = read_picture(scratch(name));
    EXPECT_TRUE(map.ok()) << map.status().message();
    return map.ok() ? *map : Picture();
  };
  // Nothing is seen: blue, as bright as the picture is.
  const Picture same = map_of({scene(), scene()}, "same.png");
  const auto at = [](const Picture& picture, int x, int y) {
    const auto* row = reinterpret_cast<const uint8_t*>(picture.view.planes[0] + y * picture.view.row_stride);
    return std::array<int, 3>{row[3 * x], row[3 * x + 1], row[3 * x + 2]};
  };
  for (const auto& [red, green, blue] : {at(same, 3, 3), at(same, 80, 50)}) {
    EXPECT_EQ(red, green);
    EXPECT_GT(blue, red);
  }
  const Picture noise = map_of({scene(), noisy()}, "noise.png");
  EXPECT_FALSE(std::equal(noise.pixels.get(), noise.pixels.get() + 1000, same.pixels.get()));
  map_of({"--map-colours", "supra-threshold", scene(), noisy()}, "supra.png");
  EXPECT_NE(read_file(scratch("supra.png")), read_file(scratch("noise.png")));
  const Outcome refused =
      acuity({"score", "-m", "mse", "--map", scratch("x.png"), "--map-colours", "threshold", scene(), noisy()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("is for cvvdp"), std::string::npos) << refused.err;
  // Of a frame of a video.
  const std::string a = golden_clip("a.y4m", 160, 90, 6, "30:1", false);
  const std::string b = golden_clip("b.y4m", 160, 90, 6, "30:1", true);
  const Picture frame = map_of({"--frame", "4", a, b}, "frame.png");
  EXPECT_EQ(frame.view.width, 160);
  EXPECT_EQ(frame.view.height, 90);
  const json whole = scored({a, b}), part = scored({"--frame", "4", a, b});
  EXPECT_EQ(part["metrics"]["cvvdp"]["frames"][0]["values"], whole["metrics"]["cvvdp"]["frames"][4]["values"]);
  const Outcome all = acuity({"score", "-m", "cvvdp", "--map", scratch("x.png"), a, b});
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_NE(all.err.find("--frame N"), std::string::npos) << all.err;
}

std::vector<std::vector<std::string>> rows_of(const std::string& golden) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream stream(tests::tests_folder() + "/golden/" + golden);
  std::string line;
  std::getline(stream, line);  // names of the columns
  while (std::getline(stream, line)) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

// The clip of cvvdp_colours.csv and cvvdp_distogram.csv, read as pycvvdp reads raw video.
std::vector<std::string> golden_pair() {
  return {"--matrix", "bt601", golden_clip("a.y4m", 160, 90, 10, "30:1", false),
          golden_clip("b.y4m", 160, 90, 10, "30:1", true)};
}

// pycvvdp computes its colours in 16-bit floats.
TEST(Cvvdp, MapsHaveTheColoursOfPycvvdp) {
  const std::vector<std::string> videos = golden_pair();
  std::map<std::string, Picture> maps;
  size_t compared = 0;
  for (const std::vector<std::string>& row : rows_of("cvvdp_colours.csv")) {
    const std::string &reference = row[0], &frame = row[2], &colours = row[3];
    Picture& map = maps[reference + frame + colours];
    if (map.view.width == 0) {
      const std::string data = tests::tests_folder() + "/data/";
      std::vector<std::string> words{"score", "-m", "cvvdp", "--map", scratch("map.png"), "--map-colours", colours};
      if (frame.empty()) {
        words.insert(words.end(), {data + reference, data + row[1]});
      } else {
        words.insert(words.end(), {"--frame", frame});
        words.insert(words.end(), videos.begin(), videos.end());
      }
      const Outcome outcome = acuity(words);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      Result<Picture> read = read_picture(scratch("map.png"));
      ASSERT_TRUE(read.ok()) << read.status().message();
      map = *read;
    }
    const int x = std::stoi(row[4]), y = std::stoi(row[5]);
    const auto* pixel = reinterpret_cast<const uint8_t*>(map.view.planes[0] + y * map.view.row_stride + 3 * x);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(pixel[c], std::stoi(row[6 + c]), 1)
          << reference << " " << frame << " " << colours << " " << x << " " << y;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 80u);
}

TEST(Cvvdp, ADistogramShowsWhatPycvvdpShows) {
  const std::string path = scratch("distogram.png");
  // The largest loss is 5.18 JOD.
  for (const auto& [most, loss_of_brightest] : {std::pair{"10", 10.0}, {"2", 2.0}, {"auto", 6.0}}) {
    std::vector<std::string> words{"score", "-m", "cvvdp", "--distogram", path, "--distogram-max", most};
    for (const std::string& word : golden_pair()) words.push_back(word);
    const Outcome outcome = acuity(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Result<Picture> picture = read_picture(path);
    ASSERT_TRUE(picture.ok()) << picture.status().message();
    const std::vector<std::vector<std::string>> rows = rows_of("video/cvvdp_distogram.csv");
    EXPECT_EQ(rows.size(), 72u);
    for (const std::vector<std::string>& row : rows) {
      const int channel = std::stoi(row[1]), frame = std::stoi(row[2]), subband = std::stoi(row[3]);
      const int x = frame * 64 + 32, y = channel * (6 * 16 + 4) + subband * 16 + 8;
      const auto* pixel =
          reinterpret_cast<const uint8_t*>(picture->view.planes[0] + y * picture->view.row_stride + 3 * x);
      const double place = std::min(std::stod(row[4]) / loss_of_brightest, 1.0) * 254;
      // One of the colours on both sides: the loss may lie between them.
      const auto is_colour = [&](double at) {
        const cli::MapColour colour = cli::map_colour(at / 254);
        return std::equal(colour.begin(), colour.end(), pixel);
      };
      EXPECT_TRUE(is_colour(std::floor(place)) || is_colour(std::ceil(place)))
          << most << " " << channel << " " << frame << " " << subband;
    }
  }
  for (const char* wrong : {"0", "-1", "nan", "black", "1e9"}) {
    std::vector<std::string> words{"score", "-m", "cvvdp", "--distogram", path, "--distogram-max", wrong};
    for (const std::string& word : golden_pair()) words.push_back(word);
    const Outcome outcome = acuity(words);
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_NE(outcome.err.find("--distogram-max"), std::string::npos) << outcome.err;
  }
  const Outcome alone = acuity({"score", "-m", "cvvdp", "--distogram-max", "3", scene(), noisy()});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("needs --distogram"), std::string::npos) << alone.err;
}

// The reference's counts as many channels as there are, and a video of one frame is a still picture.
TEST(Cvvdp, ADistogramOfOneFrameIsOfThreeChannels) {
  const std::string a = golden_clip("a.y4m", 160, 90, 1, "30:1", false);
  const std::string b = golden_clip("b.y4m", 160, 90, 1, "30:1", true);
  const std::string path = scratch("distogram.png");
  const json outputs = scored({"--distogram", path, a, b})["metrics"].front()["outputs"];
  const Result<Picture> picture = read_picture(path);
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  for (size_t c = 0; c < cvvdp::kStillChannels; ++c) {
    for (int s = 0; s < 6; ++s) {
      const std::string name =
          std::string(cvvdp::kChannelNames[c]) + (s < 5 ? fmt::format("_subband{}", s + 1) : "_base");
      const double seen = outputs[name].get<double>() * cvvdp::distogram_weight(c, s == 5, cvvdp::kStillChannels);
      const double place = std::min((10 - cvvdp::jod_of(seen)) / 10, 1.0) * 254;
      const int y = static_cast<int>(c) * (6 * 16 + 4) + s * 16 + 8;
      const cli::MapColour colour = cli::map_colour(std::floor(place + 0.5) / 254);
      EXPECT_TRUE(std::equal(colour.begin(), colour.end(),
                             reinterpret_cast<const uint8_t*>(picture->view.planes[0] + y * picture->view.row_stride)))
          << name;
    }
  }
}

TEST(Cvvdp, ADistogramShowsSubbandsOverTime) {
  const std::string a = golden_clip("a.y4m", 160, 90, 10, "30:1", false);
  const std::string b = golden_clip("b.y4m", 160, 90, 10, "30:1", true);
  const std::string path = scratch("distogram.png");
  ASSERT_EQ(acuity({"score", "-m", "cvvdp", "--distogram", path, a, b}).exit_code, 0);
  const Result<Picture> picture = read_picture(path);
  ASSERT_TRUE(picture.ok()) << picture.status().message();
  EXPECT_EQ(picture->view.width, 640);
  EXPECT_EQ(picture->view.height, 4 * 6 * 16 + 3 * 4);
  // Nothing takes its place.
  for (const char* other : {"-o", "--map"}) {
    const Outcome twice = acuity({"score", "-m", "cvvdp", "--distogram", path, other, path, "--frame", "2", a, b});
    EXPECT_EQ(twice.exit_code, 2) << twice.err;
    EXPECT_NE(twice.err.find(std::string(other) + " and --distogram are both"), std::string::npos) << twice.err;
  }
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"-m", "cvvdp", "--distogram", scratch("d.jpg"), a, b},
        {"-m", "psnr_yuv", "--distogram", path, a, b},
        {"-m", "cvvdp", "--distogram", path, scene(), noisy()}}) {
    std::vector<std::string> words = wrong;
    words.insert(words.begin(), "score");
    const Outcome outcome = acuity(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("--distogram"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace acuity::test
