// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity plan', with figures that are given, so that nothing depends on how fast this machine is.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "support/fixtures.h"

namespace acuity::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class PlanCommand : public testing::Test {
 protected:
  void SetUp() override {
    // Whatever a pair takes here, 10 ns per pixel of one thread are in the file, and 20 to decode it.
    ASSERT_EQ(in_cache({"score", data("scene.png"), data("scene.blur.png")}).exit_code, 0);
    const fs::path file = fs::directory_iterator(folder + "/acuity")->path();
    json document = json::parse(read_file(file));
    for (json& device : document["devices"]) {
      for (json& metric : device["ns_per_pixel"]) {
        for (json& mode : metric) {
          for (json& figure : mode) figure = {10, 1};
        }
      }
      device["ns_per_pixel"]["PNG"]["decode"] = {{"65536", {20, 1}}};
    }
    write_file(file, document.dump());
    write_file(pairs, "reference,distorted\n" + row("scene.png", "scene.blur.png") +
                          row("scene.png", "scene.noise.png") + row("scene.png", "scene.jpeg10.png") +
                          row("scene.png", "scene.jpeg50.png") + row("portrait.png", "portrait.blur.png"));
  }
  void TearDown() override { fs::remove_all(folder); }

  Outcome in_cache(const std::vector<std::string>& words) const {
    return acuity(words, {.environment = {"XDG_CACHE_HOME=" + folder}});
  }
  static std::string data(const std::string& name) { return ACUITY_TEST_DATA "/data/" + name; }
  static std::string row(const std::string& reference, const std::string& distorted) {
    return data(reference) + "," + data(distorted) + "\n";
  }

  const std::string folder = scratch("cache"), pairs = scratch("pairs.csv");
};

TEST_F(PlanCommand, ShowsWhereRowsWouldRun) {
  const Outcome outcome = in_cache({"plan", pairs, "--devices", "cpu", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part :
       {"4 rows of 384 x 288 pixels, 1 reference, ssimulacra2\n",
        "  cpu        100 % of the rows  pair                 1.1 ms per row, measured  memory ",
        "\n  decoding   11 ms on 1 thread, measured\n", "\n  all in     15 ms, measured\n",
        "  not cpu, prepared: slower on this device: 5.0 ms instead of 4.4 ms\n",
        "Times per row are for scoring. Reading files is not counted; it goes on beside the rest.\n"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
}

// Both drivers show the same cards.
TEST_F(PlanCommand, UsesACardOnceThroughTheFirstName) {
  const std::vector<std::string> environment = {"XDG_CACHE_HOME=" + folder, "ACUITY_CUDA_DRIVER=" FAKE_DRIVER,
                                                "ACUITY_HIP_DRIVER=" FAKE_DRIVER};
  const auto planned = [&](const char* devices) {
    return acuity({"plan", pairs, "--devices", devices}, {.environment = environment}).out;
  };
  const std::string mixed = planned("hip:0,auto");
  EXPECT_TRUE(contains(mixed, "  not cuda:0, pair: it is the same card as hip:0\n")) << mixed;
  EXPECT_TRUE(contains(mixed, "  not hip:1, pair: it is the same card as cuda:1\n")) << mixed;
  const std::string named = planned("hip:0,cuda");
  EXPECT_TRUE(contains(named, "  not cuda:0, pair: it is the same card as hip:0\n")) << named;
}

TEST_F(PlanCommand, AsJson) {
  const Outcome outcome =
      in_cache({"plan", pairs, "--devices", "vulkan,cpu", "--threads", "1", "--json", "-m", "mse,psnr"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "acuity-plan/1");
  EXPECT_EQ(document["unplanned_rows"], 0);
  int64_t rows = 0;
  for (const json& group : document["groups"]) {
    rows += group["rows"].get<int64_t>();
    EXPECT_EQ(group["metrics"], json({"mse", "psnr"}));
    EXPECT_GT(group["total_ms"], 0.0);
    EXPECT_EQ(group["measured"], false);
    EXPECT_EQ(group["decode_measured"], true);
    EXPECT_GT(group["decode_ms"], 0.0);
    EXPECT_GT(group["total_ms"], group["decode_ms"]);
    EXPECT_EQ(group["devices"].size(), 1u);
    EXPECT_EQ(group["devices"][0]["device"], "cpu");
    EXPECT_DOUBLE_EQ(group["devices"][0]["share"], 1);
    EXPECT_GT(group["devices"][0]["memory"]["host_bytes"], 0);
    EXPECT_FALSE(group["not_used"].empty());
    for (const json& option : group["not_used"]) EXPECT_NE(option["reason"], "");
  }
  EXPECT_EQ(rows, 5);
}

// Rows that are scored note how long decoding took; what was not is guessed.
TEST_F(PlanCommand, DecodingIsPlannedByFormat) {
  const std::string picture = scratch("picture.ppm"), other = scratch("other.ppm");
  for (const std::string& path : {picture, other}) {
    write_file(path, "P6 384 288 255\n" + std::string(384 * 288 * 3, path == other ? 'x' : 'y'));
  }
  write_file(pairs, "reference,distorted\n" + picture + "," + other + "\n");
  const auto planned = [&] {
    return json::parse(in_cache({"plan", pairs, "--devices", "cpu", "--threads", "2", "--json"}).out)["groups"][0];
  };
  EXPECT_EQ(planned()["decode_measured"], false);
  EXPECT_NEAR(planned()["decode_ms"].get<double>(), 384 * 288 * 10e-6, 1e-9) << "two pictures on two threads";
  ASSERT_EQ(in_cache({"batch", pairs, "--devices", "cpu", "-o", scratch("out.csv")}).exit_code, 0);
  EXPECT_EQ(planned()["decode_measured"], true);
}

TEST_F(PlanCommand, MemoryDecidesAboutStrips) {
  const Outcome outcome =
      in_cache({"plan", pairs, "--devices", "cpu", "--threads", "1", "--memory-limit", "1", "-m", "butteraugli"});
  EXPECT_TRUE(contains(outcome.out, " of memory, but 1 MiB are free")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "not cpu, pair, strip ")) << outcome.out;
}

// A stand-in for CUDA's driver, with 8 GiB of memory of which 1 GiB is free.
TEST_F(PlanCommand, WhatIsFreeOnAGpuCounts) {
  const auto most_bytes = [&](const std::string& cap) {
    std::vector<std::string> environment{"XDG_CACHE_HOME=" + folder, "ACUITY_CUDA_DRIVER=" FAKE_DRIVER,
                                         "ACUITY_FAKE_DRIVER=nothing 0 0"};
    if (!cap.empty()) environment.push_back("ACUITY_VRAM_CAP_BYTES=" + cap);
    const Outcome outcome =
        acuity({"plan", pairs, "--devices", "cuda:0", "--json"}, {.environment = std::move(environment)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json group = json::parse(outcome.out)["groups"][0];
    const json& option = group[group["devices"].empty() ? "not_used" : "devices"][0];
    EXPECT_EQ(option["device"], "cuda:0");
    return option["memory"]["device_bytes"].get<int64_t>() +
           (option["rows_that_fit"].get<int64_t>() - 1) * option["further_row_memory"]["device_bytes"].get<int64_t>();
  };
  EXPECT_LE(most_bytes(""), int64_t{1} << 30);
  EXPECT_GT(most_bytes(""), int64_t{1} << 29);
  EXPECT_LE(most_bytes("100000000"), 100'000'000);
  EXPECT_GT(most_bytes("100000000"), 50'000'000);
}

TEST_F(PlanCommand, FilesThatCannotBeReadAreNamed) {
  const std::string missing = scratch("missing.png");
  write_file(pairs, "reference,distorted\n" + missing + ",b.png\n" + row("scene.png", "scene.blur.png"));
  const Outcome outcome = in_cache({"plan", pairs, "--devices", "cpu"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "1 row of 384 x 288 pixels, 1 reference, ssimulacra2\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "1 row cannot be planned:\n  cannot read '" + missing + "': there is no such file"))
      << outcome.out;
  const std::string video = scratch("video.y4m");
  write_file(video, "YUV4MPEG2 W8 H8 F25:1 C420jpeg\nFRAME\n" + std::string(96, 'x'));
  write_file(pairs, "reference,distorted\n" + video + "," + video + "\n");
  const Outcome of_video = in_cache({"plan", pairs, "--devices", "cpu"});
  EXPECT_EQ(of_video.exit_code, 3);
  EXPECT_TRUE(contains(of_video.out, "'" + video + "' is a video; only pictures are planned\n")) << of_video.out;
  write_file(pairs, "reference,distorted\n" + missing + ",b.png\n");
  EXPECT_EQ(in_cache({"plan", pairs, "--devices", "cpu"}).exit_code, 3);
  EXPECT_EQ(in_cache({"plan", scratch("no_list.csv")}).exit_code, 3);
  EXPECT_EQ(in_cache({"plan", pairs, "--devices", "cuda:99"}).exit_code, 4);
  EXPECT_EQ(in_cache({"plan"}).exit_code, 2);
}

// As 'acuity batch' has them.
TEST_F(PlanCommand, OptionsOfPicturesCount) {
  const std::string animation = scratch("animation.gif");
  const std::string frame("\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0", 15);  // a pixel
  write_file(animation, std::string("GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff", 19) + frame + frame + ";");
  write_file(pairs, "reference,distorted\n" + animation + "," + animation + "\n");
  EXPECT_EQ(in_cache({"plan", pairs, "--devices", "cpu", "-m", "psnr"}).exit_code, 3) << "which of them is not known";
  const Outcome second = in_cache({"plan", pairs, "--devices", "cpu", "-m", "psnr", "--frame", "1"});
  EXPECT_EQ(second.exit_code, 0) << second.out;
  EXPECT_TRUE(contains(second.out, "1 row of 1 x 1 pixels")) << second.out;
  write_file(pairs, "reference,distorted\n" + row("scene.png", "scene.blur.png") + row("flat.png", "flat.white.png"));
  for (const std::vector<std::string>& changed :
       {std::vector<std::string>{"--crop", "16x16+0+0"}, {"--scale", "ref"}}) {
    std::vector<std::string> words{"plan", pairs, "--devices", "cpu"};
    words.insert(words.end(), changed.begin(), changed.end());
    EXPECT_TRUE(contains(in_cache(words).err, "in the size that they have")) << changed[0];
  }
  const Outcome frames = in_cache({"plan", pairs, "--devices", "cpu", "-m", "vmaf"});
  EXPECT_EQ(frames.exit_code, 3);
  EXPECT_EQ(frames.out, "2 rows cannot be planned:\n  vmaf compares frames; only metrics of pictures are planned\n");
}

}  // namespace
}  // namespace acuity::test
