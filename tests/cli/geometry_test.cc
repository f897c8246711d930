// SPDX-License-Identifier: BSD-2-Clause-Patent
// --scale and --crop, of pictures and videos.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/pictures.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using json = nlohmann::json;

json scored(std::vector<std::string> words) {
  words.insert(words.begin(), {"score", "--json", "-m", "psnr"});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.exit_code == 0 ? json::parse(outcome.out)["results"] : json();
}

void expect_failure(std::vector<std::string> words, int exit_code, const std::string& part) {
  words.insert(words.begin(), {"score", "-m", "psnr"});
  const Outcome outcome = acuity(words);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

std::string saved(const std::string& name, const Drawing& drawing) {
  const std::string path = scratch(name);
  write_file(path, draw_y4m(drawing));
  return path;
}

bool states(const json& result, const std::string& part) { return result.dump().find(part) != std::string::npos; }

TEST(Geometry, PicturesOfDifferentSizesAreToldWhatToDo) {
  expect_failure({scene(), flat(40, 30)}, 3, "--scale dist or --scale ref");
  expect_failure({scene(), flat(40, 30)}, 3, "--crop WxH+X+Y,WxH+X+Y");
}

TEST(Geometry, APictureIsScaledToTheSizeOfTheOther) {
  const json down = scored({"--scale", "ref", scene(), flat(40, 30)});
  EXPECT_EQ(down[0]["width"], 40);
  EXPECT_TRUE(states(down[0], "reference: PNG, 8-bit RGB, sRGB, scaled from 157x93 to 40x30 (bicubic)")) << down.dump();
  const json up = scored({"--scale", "dist", "--scaler", "lanczos", scene(), flat(40, 30)});
  EXPECT_EQ(up[0]["height"], 93);
  EXPECT_TRUE(states(up[0], "scaled from 40x30 to 157x93 (lanczos)")) << up.dump();
  const Outcome text = acuity({"score", "--scale", "dist", scene(), flat(40, 30)});
  EXPECT_NE(text.out.find("\ndistorted  scaled from 40x30 to 157x93 (bicubic)\n"), std::string::npos) << text.out;
}

TEST(Geometry, AFlatPictureIsEqualToItselfAtAnySize) {
  for (const std::string side : {"ref", "dist"}) {
    for (const std::string filter : {"bicubic", "bilinear", "lanczos"}) {
      EXPECT_EQ(scored({"-m", "mse", "--scale", side, "--scaler", filter, flat(50, 70),
                        flat(33, 19)})[0]["metrics"]["mse"]["value"],
                0.0);
    }
  }
}

TEST(Geometry, APartWithoutTransparencyIsOpaque) {
  const auto saved_pam = [](const std::string& name, char alpha) {
    const std::string path = scratch(name);
    std::string samples(static_cast<size_t>(16 * 16 * 2), '\xff');
    samples[1] = alpha;
    write_file(path, "P7\nWIDTH 16\nHEIGHT 16\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n" + samples);
    return path;
  };
  const std::string clear = saved_pam("clear.pam", '\0'), opaque = saved_pam("opaque.pam", '\xff');
  EXPECT_TRUE(states(scored({clear, opaque})[0], "has transparency"));
  const json part = scored({"--crop", "8x8+4+4", clear, opaque});
  EXPECT_FALSE(states(part[0], "has transparency")) << part.dump();
}

TEST(Geometry, TheReferenceIsScaledToEachOfSeveral) {
  const std::string a = flat(40, 30), b = flat(50, 70);
  const json all = scored({"--scale", "ref", scene(), a, b, a, scene()});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0]["width"], 40);
  EXPECT_EQ(all[1]["width"], 50);
  EXPECT_EQ(all[2]["width"], 40);
  EXPECT_EQ(all[3]["width"], 157);
  EXPECT_FALSE(states(all[3], "scaled from"));
  EXPECT_EQ(all[0]["metrics"]["psnr"]["value"], all[2]["metrics"]["psnr"]["value"]);
  EXPECT_EQ(all[1]["metrics"]["psnr"]["value"], scored({"--scale", "ref", scene(), b})[0]["metrics"]["psnr"]["value"]);
}

TEST(Geometry, ThreadsDoNotChangeAScaledScore) {
  const json one = scored({"--threads", "1", "--scale", "dist", scene(), flat(40, 30)});
  const json three = scored({"--threads", "3", "--scale", "dist", scene(), flat(40, 30)});
  EXPECT_EQ(one[0]["metrics"], three[0]["metrics"]);
}

TEST(Geometry, APartIsComparedAlone) {
  const json both = scored({"--crop", "60x50+11+7", scene(), noisy()});
  EXPECT_EQ(both[0]["width"], 60);
  EXPECT_EQ(both[0]["height"], 50);
  EXPECT_TRUE(states(both[0], "cropped to 60x50+11+7 of 157x93")) << both.dump();
  EXPECT_NE(both[0]["metrics"]["psnr"]["value"], scored({scene(), noisy()})[0]["metrics"]["psnr"]["value"]);
  // The same part of the same picture is itself, another is not.
  EXPECT_EQ(scored({"-m", "mse", "--crop", "60x50+11+7", scene(), scene()})[0]["metrics"]["mse"]["value"], 0.0);
  EXPECT_NE(scored({"-m", "mse", "--crop", "60x50+11+7,60x50+12+7", scene(), scene()})[0]["metrics"]["mse"]["value"],
            0.0);
  // One side alone, and then scaled.
  EXPECT_EQ(scored({"--crop", "40x30+0+0,", scene(), flat(40, 30)})[0]["width"], 40);
  EXPECT_EQ(scored({"--crop", ",40x30+0+0", "--scale", "dist", scene(), noisy()})[0]["width"], 157);
}

TEST(Geometry, PartsThatMakeNoSenseAreRefused) {
  for (const char* text : {"60x50", "60", "60x50+1", "x50+1+1", "60x50+1+", "60x50+-1+0", "0x5+1+1", "6e1x5+1+1"}) {
    expect_failure({"--crop", text, scene(), noisy()}, 2, "--crop: ");
  }
  expect_failure({"--crop", "150x50+8+0", scene(), noisy()}, 3, "is not inside");
  expect_failure({"--crop", ",60x90+0+4", scene(), noisy()}, 3, "--crop 60x90+0+4 is not inside '" + noisy());
}

TEST(Geometry, FramesAreCroppedWhereSamplesOfColourEnd) {
  const std::string odd = saved("odd.y4m", {.width = 33, .height = 21});
  const std::string other = saved("other.y4m", {.width = 33, .height = 21, .damage = 9});
  const json part = scored({"--crop", "13x9+20+12", odd, other});
  EXPECT_EQ(part[0]["width"], 13);
  EXPECT_EQ(part[0]["height"], 9);
  EXPECT_TRUE(states(part[0], "cropped to 13x9+20+12 of 33x21")) << part.dump();
  expect_failure({"--crop", "13x9+19+12", odd, other}, 3, "use --crop 14x9+18+12");
  expect_failure({"--crop", "12x8+0+1", odd, other}, 3, "use --crop 12x10+0+0");
  const std::string full = saved("full.y4m", {.width = 33, .height = 21, .tag = "444"});
  EXPECT_EQ(scored({"-m", "mse", "--crop", "12x8+5+1", full, full})[0]["metrics"]["mse"]["value"], 0.0);
  const std::string wide = saved("wide.y4m", {.width = 33, .height = 21, .tag = "422"});
  expect_failure({"--crop", "12x8+5+1", wide, wide}, 3, "each of which stands for 2x1 pixels: use --crop 14x8+4+1");
}

TEST(Geometry, ACropOfFramesIsThoseSamples) {
  // A stream of the right part, made by hand: drawn samples depend on their place, so it must be cut out of the whole.
  const Drawing drawing{.width = 32, .height = 20, .frames = 2};
  const std::string whole = saved("whole.y4m", drawing);
  std::string text = "YUV4MPEG2 W16 H8 F25:1 Ip A1:1 C420jpeg\n";
  for (int f = 0; f < 2; ++f) {
    const std::string frame = draw_frame(drawing, f, 8);
    text += "FRAME\n";
    for (int y = 4; y < 12; ++y) text += frame.substr(static_cast<size_t>(y * 32 + 10), 16);
    for (int plane = 0; plane < 2; ++plane) {
      for (int y = 2; y < 6; ++y) text += frame.substr(static_cast<size_t>(32 * 20 + plane * 160 + y * 16 + 5), 8);
    }
  }
  const std::string part = scratch("part.y4m");
  write_file(part, text);
  EXPECT_EQ(scored({"-m", "mse", "--crop", "16x8+10+4,", whole, part})[0]["metrics"]["mse"]["value"], 0.0);
  EXPECT_NE(scored({"-m", "mse", "--crop", "16x8+12+4,", whole, part})[0]["metrics"]["mse"]["value"], 0.0);
}

TEST(Geometry, VideoInfoTellsOfBoth) {
  const std::string video = saved("a.y4m", {.width = 64, .height = 48});
  const std::string small = saved("b.y4m", {.width = 32, .height = 24});
  const Outcome outcome = acuity({"video-info", "--crop", "60x40+2+2,", "--scale", "dist", video, small});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("cropped to 60x40+2+2 of 64x48"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("scaled from 32x24 to 60x40 (bicubic)"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace acuity::test
