// SPDX-License-Identifier: BSD-2-Clause-Patent
// What files hold: pictures of all kinds, animations, and what is neither a picture nor a video.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/pictures.h"
#include "media/encode.h"
#include "support/encode_video.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using nlohmann::json;
using tests::Drawing;
using tests::File;

std::string saved(const std::string& name, const File& file) {
  const std::string path = scratch(name);
  write_file(path, std::string(file.begin(), file.end()));
  return path;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// An index 0 to 3 a pixel, in patches large enough for any metric.
Drawing indices(int seed = 0) {
  Drawing drawing;
  drawing.width = drawing.height = 48;
  drawing.channels = 1;
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 48; ++x) drawing.samples.push_back(static_cast<uint16_t>((x / 12 + y / 8 + seed) % 4));
  }
  return drawing;
}

const File kPalette = {250, 20, 10, 10, 200, 30, 20, 40, 180, 128, 128, 128};

std::string gif(const std::string& name, int frames, int transparent = -1) {
  std::vector<tests::GifFrameOptions> list;
  for (int i = 0; i < frames; ++i) {
    list.push_back({.drawing = indices(i), .transparent = transparent, .disposal = 2});
  }
  return saved(name, tests::encode_gif(48, 48, kPalette, list));
}

// The same as a PNG with alpha; what cannot be seen has another colour.
std::string png(const std::string& name, int seed, int transparent = -1) {
  Drawing drawing = indices(seed);
  const std::vector<uint16_t> places = std::move(drawing.samples);
  drawing.samples.clear();
  drawing.channels = transparent < 0 ? 3 : 4;
  for (const uint16_t place : places) {
    for (size_t c = 0; c < 3; ++c) {
      drawing.samples.push_back(place == transparent ? uint16_t{77} : kPalette[size_t{3} * place + c]);
    }
    if (transparent >= 0) drawing.samples.push_back(place == transparent ? 0 : 255);
  }
  return saved(name, tests::encode_png(drawing));
}

double value(const Outcome& outcome, const std::string& metric) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out, nullptr, false);
  if (document.is_discarded()) return -1e9;
  return document["results"][0]["metrics"][metric]["value"];
}

TEST(Files, ATransparentGifIsThePngOfItsPixels) {
  const std::string first = gif("a.gif", 1, 2), second = png("a.png", 0, 2);
  for (const auto& [a, b] : {std::pair(first, second), std::pair(second, first)}) {
    const Outcome outcome = acuity({"score", "--json", "-m", "ssimulacra2,psnr", a, b});
    EXPECT_EQ(value(outcome, "ssimulacra2"), 100);
    EXPECT_EQ(value(outcome, "psnr"), 100);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Files, PicturesOfAllFormatsArePicturesToEveryMetric) {
  for (const std::string metric : {"ssimulacra2", "vmaf"}) {
    const Outcome outcome = acuity({"score", "-m", metric, png("a.png", 0), gif("a.gif", 1)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_FALSE(has(outcome.out + outcome.err, "frames per second")) << outcome.out << outcome.err;
    EXPECT_FALSE(has(outcome.out + outcome.err, "frame rate")) << outcome.out << outcome.err;
  }
  const std::string map = scratch("map.png");
  EXPECT_EQ(acuity({"score", "--map", map, gif("a.gif", 1), gif("b.gif", 1)}).exit_code, 0);
  EXPECT_NE(read_file(map), "");
}

TEST(Files, AnimationsAreVideosWhereBothAre) {
  const std::string first = gif("a.gif", 3), second = gif("b.gif", 3);
  const Outcome outcome = acuity({"score", "--json", "-m", "psnr", first, second});
  EXPECT_EQ(value(outcome, "psnr"), 100);
  EXPECT_EQ(json::parse(outcome.out)["results"][0]["video"]["scored"], 3);
  EXPECT_TRUE(has(outcome.out, "3 frames")) << outcome.out;
}

TEST(Files, WarnsOfTransparencyThatComesAfterTheFirstFrame) {
  const auto animation = [](const std::string& name, int transparent) {
    return saved(name, tests::encode_gif(48, 48, kPalette,
                                         {{.drawing = indices(0), .disposal = 2},
                                          {.drawing = indices(1), .transparent = transparent, .disposal = 2},
                                          {.drawing = indices(2), .transparent = transparent, .disposal = 2}}));
  };
  const auto warnings = [](const std::string& a, const std::string& b) {
    const Outcome outcome = acuity({"score", "--json", "-m", "psnr", a, b});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["warnings"];
  };
  const std::string clear = animation("clear.gif", 2), opaque = animation("opaque.gif", -1);
  for (const auto& [a, b] : {std::pair(clear, opaque), std::pair(opaque, clear)}) {
    EXPECT_EQ(warnings(a, b), json({"frame 1 of " + clear + " has transparency but that of " + opaque +
                                    " does not and counts as opaque"}));
  }
  EXPECT_EQ(warnings(clear, clear), json::array());
}

TEST(Files, OfAnAnimationAndAPictureOneFrameIsChosen) {
  const std::string animation = gif("a.gif", 3), still = png("a.png", 1);
  for (const auto& [a, b] : {std::pair(animation, still), std::pair(still, animation)}) {
    const Outcome refused = acuity({"score", a, b});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(has(refused.err, "holds 3 pictures; choose one with --frame N, from 0 to 2")) << refused.err;
    EXPECT_EQ(refused.out, "");
  }
  const Outcome chosen = acuity({"score", "--json", "--frame", "1,", animation, still});
  EXPECT_EQ(value(chosen, "ssimulacra2"), 100);
  EXPECT_TRUE(has(chosen.out, "picture 1 of 3, counted from 0")) << chosen.out;
  EXPECT_LT(value(acuity({"score", "--json", "--frame", ",2", still, animation}), "ssimulacra2"), 90);
  EXPECT_EQ(acuity({"score", "--frame", "3,", animation, still}).exit_code, 3);
  EXPECT_EQ(acuity({"score", "--frame", "x", animation, still}).exit_code, 2);
}

TEST(Files, OneFrameOfAVideoIsChosen) {
  const std::string video = scratch("v.y4m"), shorter = scratch("s.y4m");
  write_file(video, draw_y4m({.frames = 5}));
  write_file(shorter, draw_y4m({.frames = 3}));
  const Outcome outcome = acuity({"score", "--json", "-m", "psnr", "--frame", "2", video, shorter});
  EXPECT_EQ(value(outcome, "psnr"), 100);
  EXPECT_EQ(json::parse(outcome.out)["results"][0]["video"]["scored"], 1);
  const double other = value(acuity({"score", "--json", "-m", "psnr", "--frame", "4,2", video, shorter}), "psnr");
  EXPECT_LT(other, 100);
  EXPECT_EQ(value(acuity({"score", "--json", "-m", "psnr", "--frame", "2,4", shorter, video}), "psnr"), other);
  EXPECT_TRUE(has(acuity({"score", "--frame", "7", video, shorter}).err, "v.y4m has no frame 7: it has 5 frames"));
  EXPECT_TRUE(has(acuity({"score", "--frame", "4", video, shorter}).err, "s.y4m has no frame 4: it has 3 frames"));
  EXPECT_EQ(acuity({"score", "--frame", "1", "--start", "1", video, shorter}).exit_code, 2);
}

TEST(Files, AreRecognisedByContent) {
  const std::string text = scratch("text.png");
  write_file(text, "This is no picture at all, whatever its name says.\n");
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"-m", "vmaf"}, {"--sync", "index"}}) {
    std::vector<std::string> words = {"score", text, scene()};
    words.insert(words.begin() + 1, options.begin(), options.end());
    const Outcome outcome = acuity(words);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_TRUE(has(outcome.err, "is not a picture or video in a known format: it begins with 54 68 69 73"))
        << outcome.err;
    EXPECT_FALSE(has(outcome.err, "damaged")) << outcome.err;
  }
  const std::string raw = scratch("photo.yuv");
  write_file(raw, std::string(5000, '\x10'));
  const Outcome outcome = acuity({"score", raw, raw});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(has(outcome.err, "--size WIDTHxHEIGHT")) << outcome.err;
}

TEST(Files, WhatHasNoEndIsRefusedAtItsBeginning) {
  for (const std::string metric : {"ssimulacra2", "vmaf"}) {
    const Outcome outcome = run({"timeout", "20", ACUITY_COMMAND, "score", "-m", metric, "/dev/zero", scene()});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_TRUE(has(outcome.err, "'/dev/zero' is not a picture or video")) << outcome.err;
  }
}

// Sanitizers and emulators reserve more addresses than any limit leaves.
#ifdef ACUITY_MEMORY_CAN_BE_LIMITED
TEST(Files, MemoryThatRunsOutIsNotDamage) {
  const std::string video = scratch("v.mkv");
  Encoding encoding{.width = 2560, .height = 1440, .times = {0, 40}};
  const std::string frame(size_t{2560} * 1440 * 3 / 2, '\x40');
  write_file(video, encode_video(encoding, {frame, frame}));
  ASSERT_NE(read_file(video), "");
  int refused = 0;
  for (int limit = 200000; limit < 600000; limit += 25000) {
    const Outcome outcome = run({"sh", "-c",
                                 "ulimit -v " + std::to_string(limit) +
                                     "; exec " ACUITY_COMMAND " score --threads 1 -m psnr_yuv " + video + " " + video});
    EXPECT_FALSE(has(outcome.err, "damaged")) << limit << ": " << outcome.err;
    if (has(outcome.err, "out of memory")) ++refused;
    if (outcome.exit_code == 0) break;
  }
  EXPECT_GT(refused, 0);
}
#endif

TEST(Files, StreamsThatAreShownDifferentlyAreWarnedOf) {
  const auto stream = [](const std::string& name, const std::string& extra) {
    const std::string path = scratch(name);
    write_file(path, draw_y4m({.frames = 1, .extra = extra}));
    return path;
  };
  const std::string square = stream("square.y4m", " A1:1 Ip"), wide = stream("wide.y4m", " A16:11 Ip");
  const std::string fields = stream("fields.y4m", " A1:1 It");
  const auto warnings = [](const std::string& a, const std::string& b) {
    const Outcome outcome = acuity({"score", "--json", "-m", "psnr_yuv", a, b});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out)["warnings"].dump();
  };
  EXPECT_TRUE(has(warnings(square, wide), "pixels of 1:1 but")) << warnings(square, wide);
  EXPECT_TRUE(has(warnings(square, fields), "interlaced")) << warnings(square, fields);
  EXPECT_EQ(warnings(square, square), "[]");
}

TEST(Files, TheLimitHasAnOption) {
  const Outcome refused = acuity({"score", "--max-pixels", "14600", scene(), noisy()});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(has(refused.err, "157x93 = 14601 pixels, more than the limit of 14600")) << refused.err;
  EXPECT_TRUE(has(refused.err, "--max-pixels")) << refused.err;
  EXPECT_EQ(acuity({"score", "--max-pixels", "14601", scene(), noisy()}).exit_code, 0);
  const std::string video = scratch("v.y4m");
  write_file(video, draw_y4m({.frames = 2}));
  EXPECT_EQ(acuity({"score", "--max-pixels", "3071", video, video}).exit_code, 3);
  EXPECT_EQ(acuity({"score", "--max-pixels", "3072", "-m", "psnr", video, video}).exit_code, 0);
  EXPECT_EQ(acuity({"score", "--max-pixels", "0", video, video}).exit_code, 2);
}

TEST(Files, AKnownFormatIsNotReadAsRawSamples) {
  const std::string raw = scratch("r.yuv"), video = scratch("v.y4m"), contained = scratch("v.mkv");
  write_file(raw, draw_frame({}, 0, 8));
  write_file(video, draw_y4m({.frames = 1}));
  write_file(contained, encode_video({.times = {0}}, {draw_frame({}, 0, 8)}));
  for (const std::string& file : {video, contained}) {
    const Outcome outcome = acuity({"score", "-m", "psnr_yuv", "--size", "64x48", "--shortest", raw, file});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_TRUE(has(outcome.err, "is a file in a known format, not raw YUV")) << outcome.err;
    EXPECT_EQ(acuity({"score", "-m", "psnr_yuv", "--size", "64x48,", raw, file}).exit_code, 0);
  }
}

TEST(Files, AlphaThatIsOpaqueEverywhereIsNone) {
  const std::string plain = png("plain.png", 0);
  Drawing drawing = indices();
  const std::vector<uint16_t> places = std::move(drawing.samples);
  drawing.samples.clear();
  drawing.channels = 4;
  for (const uint16_t place : places) {
    for (size_t c = 0; c < 3; ++c) drawing.samples.push_back(kPalette[size_t{3} * place + c]);
    drawing.samples.push_back(255);
  }
  const Outcome outcome = acuity({"score", "--json", plain, saved("opaque.png", tests::encode_png(drawing))});
  EXPECT_EQ(value(outcome, "ssimulacra2"), 100);
  EXPECT_EQ(json::parse(outcome.out)["warnings"].dump(), "[]");
  EXPECT_TRUE(has(outcome.out, "alpha, opaque everywhere")) << outcome.out;
}

TEST(Files, AdviceIsNotWhatIsInUse) {
  const std::string video = scratch("v.y4m"), shorter = scratch("s.y4m");
  write_file(video, draw_y4m({.frames = 5}));
  write_file(shorter, draw_y4m({.frames = 3}));
  EXPECT_TRUE(has(acuity({"score", video, shorter}).err, "--sync pts"));
  const Outcome outcome = acuity({"score", "--sync", "pts", video, shorter});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(has(outcome.err, "--shortest")) << outcome.err;
  EXPECT_FALSE(has(outcome.err, "--sync pts")) << outcome.err;
}

}  // namespace
}  // namespace acuity::test
