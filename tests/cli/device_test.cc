// SPDX-License-Identifier: BSD-2-Clause-Patent
// Videos on a device: in software, and on a stand-in for CUDA's driver that fails.
#include <array>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/slow_cpu_cache.h"
#include "support/raw_video.h"

namespace acuity::test {
namespace {

constexpr int kWidth = 192, kHeight = 160, kFrames = 12;

struct Files {
  std::string reference, distorted;

  Files() : reference(scratch("reference.yuv")), distorted(scratch("distorted.yuv")) {
    const tests::SyntheticClip clip =
        tests::synthetic_clip(fmt::format("synth_{}x{}_{}f_8bit_420", kWidth, kHeight, kFrames));
    write_file(reference, tests::raw_video(clip.reference));
    write_file(distorted, tests::raw_video(clip.distorted));
  }

  Outcome vmaf(const std::vector<std::string>& more, const Surroundings& surroundings = {}) const {
    std::vector<std::string> words{
        "vmaf", "-r",  reference, "-d", distorted, "-w", std::to_string(kWidth), "-h", std::to_string(kHeight),
        "-p",   "420", "-b",      "8",  "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return acuity(words, surroundings);
  }

  Outcome score(const std::vector<std::string>& more, const Surroundings& surroundings = {}) const {
    std::vector<std::string> words{"score", "--size", fmt::format("{}x{}", kWidth, kHeight), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {reference, distorted});
    return acuity(words, surroundings);
  }
};

// What does not depend on the run.
std::string without_rate(const std::string& path) {
  return std::regex_replace(read_file(path), std::regex("\"fps\": [0-9.]+"), "");
}

nlohmann::json values_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out)["results"][0]["metrics"].begin()->at("frames");
}

Surroundings failing(const std::string& how) {
  return {.environment = {"ACUITY_CUDA_DRIVER=" FAKE_DRIVER, "ACUITY_FAKE_DRIVER=" + how}};
}

TEST(VideoOnADevice, HowItIsRunChangesNothing) {
  const Files files;
  const std::string path = scratch("output");
  const std::vector<std::string> output{"--json", "--precision", "max", "-o", path};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), output.begin(), output.end());
    const Outcome outcome = files.vmaf(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return without_rate(path);
  };
  for (const std::vector<std::string>& part :
       {std::vector<std::string>(), {"--subsample", "3"}, {"--frame_skip_ref", "2", "--frame_skip_dist", "2"}}) {
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), part.begin(), part.end());
      return run(more);
    };
    const std::string expected = with({"--no_cuda"});
    EXPECT_EQ(with({"--device", "vulkan", "--frames-in-flight", "1"}), expected);
    EXPECT_EQ(with({"--backend", "vulkan", "--frames-in-flight", "8"}), expected);
    EXPECT_EQ(with({"--device", "vulkan", "--frames-in-flight", "8"}), expected);
    EXPECT_EQ(with({"--device", "auto"}), expected);
    EXPECT_EQ(with({"--gpumask", "1"}), expected);
  }
  EXPECT_EQ(files.vmaf({"--device", "tpu"}).exit_code, 4);
}

// Numbers are read as libvmaf's command reads them.
TEST(VideoOnADevice, AMaskOfZeroIsTheFirstGpu) {
  const Files files;
  const std::string path = scratch("output");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"-n", "--feature", "psnr", "--json", "--precision", "max", "-o", path});
    const Outcome outcome = files.vmaf(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return without_rate(path);
  };
  const std::string expected = run({});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--gpumask", "0"},
                                                {"--gpumask", "0x0", "--device", "vulkan"},
                                                {"--device", "vulkan:0", "--backend", "vulkan"},
                                                {"--gpumask", "4294967295", "--device", "cpu"},
                                                {"--gpumask", "-1", "--no_cuda"},
                                                {"--threads", "0x2", "--cpumask", "010"}}) {
    EXPECT_EQ(run(words), expected) << words[0] << words[1];
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--gpumask", "0", "--device", "cpu"},
                                                {"--gpumask", "0", "--device", "auto"},
                                                {"--gpumask", "1", "--device", "vulkan"},
                                                {"--device", "vulkan", "--backend", "cuda"}}) {
    const Outcome outcome = files.vmaf(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("different devices"), std::string::npos) << outcome.err;
  }
  // The stand-in counts, so that nothing else can have done the work.
  std::vector<std::string> words{"--gpumask", "0", "-n", "--feature", "psnr"};
  EXPECT_EQ(files.vmaf(words, failing("cuLaunchKernel 0 700")).exit_code, 4);
}

TEST(VideoOnADevice, MemoryThatFramesMayUseIsCapped) {
  const Files files;
  const auto capped = [](const std::string& bytes) {
    return Surroundings{.environment = {"ACUITY_VRAM_CAP_BYTES=" + bytes}};
  };
  const std::vector<std::string> words{"-m", "vmaf", "--device", "vulkan"};
  const nlohmann::json expected = values_of(files.score(words));
  for (const auto& [bytes, code] : {std::pair("1000", 3), std::pair("abc", 2)}) {
    const Outcome scored = files.score(words, capped(bytes));
    EXPECT_EQ(scored.exit_code, code) << scored.err;
    EXPECT_EQ(files.vmaf({"--device", "vulkan"}, capped(bytes)).exit_code, code);
  }
  std::vector<std::string> few = words, many = words;
  few.insert(few.end(), {"--vram-cap", "1"});
  many.insert(many.end(), {"--vram-cap", "1", "--frames-in-flight", "64"});
  EXPECT_EQ(values_of(files.score(few)), expected);
  const Outcome refused = files.score(many);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find(" but 1048576 are available"), std::string::npos) << refused.err;
}

TEST(VideoOnADevice, PartsOfAVideoAreEqualToo) {
  const Files files;
  for (const std::vector<std::string>& part :
       {std::vector<std::string>{"--every", "3"}, {"--start", "4", "--end", "9"}, {"--start", "3", "--every", "4"}}) {
    const auto run = [&](std::vector<std::string> more) {
      more.insert(more.end(), part.begin(), part.end());
      more.insert(more.end(), {"-m", "vmaf"});
      return values_of(files.score(more));
    };
    const nlohmann::json expected = run({"--device", "cpu"});
    ASSERT_GT(expected.size(), 1u);
    EXPECT_EQ(run({"--device", "vulkan", "--frames-in-flight", "1"}), expected);
    EXPECT_EQ(run({"--device", "vulkan", "--frames-in-flight", "8"}), expected);
  }
}

TEST(VideoOnADevice, WhatWasScoredBeforeAFaultIsWrittenAndMarked) {
  const Files files;
  const std::string path = scratch("output");
  const std::vector<std::string> words{"--device",           "cuda", "-n",     "--feature", "psnr",
                                       "--frames-in-flight", "2",    "--json", "-o",        path};
  const Outcome whole = files.vmaf(words, failing(""));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const nlohmann::json all = nlohmann::json::parse(read_file(path))["frames"];
  ASSERT_EQ(all.size(), size_t{kFrames});
  std::set<size_t> lengths;
  int calls_before = 0;
  for (int calls = 0; calls < 60; ++calls) {
    write_file(path, "");
    const Outcome outcome = files.vmaf(words, failing(fmt::format("cuStreamSynchronize {} 700", calls)));
    const std::string text = read_file(path);
    if (outcome.exit_code == 0) {
      EXPECT_EQ(nlohmann::json::parse(text)["frames"], all);
      EXPECT_FALSE(nlohmann::json::parse(text).contains("incomplete"));
      continue;
    }
    ASSERT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_NE(outcome.err.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << outcome.err;
    if (text.empty()) continue;
    const nlohmann::json results = nlohmann::json::parse(text);
    const size_t frames = results["frames"].size();
    ASSERT_LT(frames, size_t{kFrames});
    lengths.insert(frames);
    for (size_t i = 0; i < frames; ++i) EXPECT_EQ(results["frames"][i], all[i]);
    EXPECT_NE(results["incomplete"].get<std::string>().find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << text;
    calls_before = calls;
  }
  EXPECT_GE(lengths.size(), 5u);
  // The other formats.
  const std::vector<std::pair<std::string, std::string>> marks{
      {"--xml", "  <incomplete reason=\""}, {"--csv", "\n# incomplete: "}, {"--sub", "}incomplete: "}};
  for (const auto& [format, mark] : marks) {
    std::vector<std::string> others{"--device",           "cuda", "-n",   "--feature", "psnr",
                                    "--frames-in-flight", "2",    format, "-o",        path};
    EXPECT_EQ(files.vmaf(others, failing(fmt::format("cuStreamSynchronize {} 700", calls_before))).exit_code, 4);
    EXPECT_NE(read_file(path).find(mark), std::string::npos) << read_file(path);
    EXPECT_EQ(files.vmaf(others, failing("")).exit_code, 0);
    EXPECT_EQ(read_file(path).find("incomplete"), std::string::npos);
  }
}

TEST(VideoOnADevice, ScoreKeepsWhatItHasToo) {
  const Files files;
  for (const char* metric : {"psnr_yuv", "psnr"}) {
    const std::vector<std::string> words{"--device", "cuda", "-m", metric, "--frames-in-flight", "2"};
    const nlohmann::json all = values_of(files.score(words, failing("")));
    ASSERT_EQ(all.size(), size_t{kFrames});
    std::set<size_t> lengths;
    for (int calls = 0; calls < 60; calls += 2) {
      const Outcome outcome = files.score(words, failing(fmt::format("cuStreamSynchronize {} 700", calls)));
      if (outcome.exit_code == 0) continue;
      ASSERT_EQ(outcome.exit_code, 4) << outcome.err;
      const nlohmann::json pair = nlohmann::json::parse(outcome.out)["results"][0];
      if (!pair.contains("metrics")) continue;
      EXPECT_EQ(pair["complete"], false);
      const nlohmann::json frames = pair["metrics"].begin()->at("frames");
      ASSERT_LT(frames.size(), size_t{kFrames});
      lengths.insert(frames.size());
      for (size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i], all[i]);
    }
    EXPECT_GE(lengths.size(), 3u) << metric;
  }
}

// More than are in flight, so that a device can fail at different frames.
constexpr size_t kMany = 40;

// As failing(), on a machine whose CPU is so slow that "auto" chooses the device.
Surroundings failing_beside_slow_cpu(const std::string& how) {
  Surroundings surroundings = failing(how);
  surroundings.environment.push_back(slow_cpu_cache({"ssimulacra2", "ciede", "float_ms_ssim", "cambi"}));
  return surroundings;
}

std::array<std::string, 2> write_many_frames() {
  const tests::SyntheticClip clip = tests::synthetic_clip("synth_400x304_5f_8bit_420");
  std::array<std::string, 2> paths{scratch("many_reference.yuv"), scratch("many_distorted.yuv")};
  for (size_t side = 0; side < 2; ++side) {
    const std::string few = tests::raw_video(side == 0 ? clip.reference : clip.distorted);
    std::string bytes;
    for (size_t i = 0; i < kMany; i += clip.reference.size()) bytes += few;
    write_file(paths[side], bytes);
  }
  return paths;
}

TEST(VideoOnADevice, ListsTellWhatRunsWhere) {
  const auto runs_on = [](const std::string& metric) {
    const std::string text = acuity({"metrics", metric}).out;
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex("\n  runs on       (.*)\n"))) << text;
    return found.str(1);
  };
  EXPECT_EQ(runs_on("vmaf"), "the CPU and GPUs with 64-bit integers and doubles");
  EXPECT_EQ(runs_on("vif"), "the CPU and GPUs with 64-bit integers and doubles");
  EXPECT_EQ(runs_on("cambi"), "the CPU and GPUs with 64-bit integers");
  EXPECT_EQ(runs_on("ciede"), "the CPU and GPUs with doubles");
  EXPECT_EQ(runs_on("psnr_hvs"), "the CPU and GPUs");
  EXPECT_EQ(runs_on("ssimulacra2"), "the CPU and GPUs");
  EXPECT_NE(acuity({"devices"}).out.find("\n  metrics          all"), std::string::npos);
}

TEST(VideoOnADevice, ListsTellWhatOptionsAndSizesAreAccepted) {
  const auto expect_in = [](const std::string& metric, const std::string& line) {
    const std::string text = acuity({"metrics", metric}).out;
    EXPECT_NE(text.find(line), std::string::npos) << text;
  };
  expect_in("cambi", "\n  pictures      from 216 pixels across or down\n");
  expect_in("cambi", "heatmaps_path: folder for maps of the banding;");
  expect_in("speed_chroma",
            "\n  pictures      with colour planes from 80 x 80 samples after speed_prescale: of 4:2:0 ");
  expect_in("speed_temporal", "\n  pictures      from 80 x 80 pixels after speed_prescale\n");
  expect_in("float_motion", "motion_add_scale1: add the motion of the frames at half their size; GPUs need doubles");
  expect_in("float_motion", "motion_filter_size: taps of the blur: 1 or 3; any other number means 5; ");
  expect_in("vif", "\n  pictures      from 16 x 16 pixels\n");
  expect_in("vif",
            "\n  works on      the Y'CbCr samples of videos; pictures are converted (BT.709, limited range, 4:4:4)\n");
  expect_in("cvvdp_video", "\n  works on      the samples of videos, Y'CbCr or RGB; pictures stay RGB\n");
  expect_in("cvvdp_video", "\n  map           yes, of one frame: --map with --frame\n");
  EXPECT_EQ(acuity({"metrics", "vif"}).out.find("map "), std::string::npos);
}

// The maps of a frame lie where they do without a failure, whoever made them. The device's kernels do nothing here.
TEST(VideoOnADevice, MapsOfBandingGoOnWhereTheDeviceFailed) {
  const std::array<std::string, 2> paths = write_many_frames();
  const auto map_of = [&](const std::string& device, const std::string& fault) {
    const std::string folder = scratch("banding");
    std::filesystem::remove_all(folder);
    const Outcome outcome = acuity({"score", "--size", "400x304", "-m", "cambi:heatmaps_path=" + folder, "--threads",
                                    "1", "--device", device, paths[0], paths[1]},
                                   failing_beside_slow_cpu(fault));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("cuda:0 failed") != std::string::npos, !fault.empty()) << outcome.err;
    return read_file(folder + "/cambi_heatmap_scale_0_400x304_16b.gray");
  };
  const std::string on_cpu = map_of("cpu", ""), on_device = map_of("cuda", "");
  constexpr size_t kFrame = size_t{400} * 304 * 2;
  ASSERT_EQ(on_cpu.size(), kMany * kFrame);
  ASSERT_EQ(on_device, std::string(kMany * kFrame, '\0'));
  const std::string mixed = map_of("auto", "cuStreamSynchronize 30 700");
  ASSERT_EQ(mixed.size(), kMany * kFrame);
  size_t of_device = 0;
  for (size_t i = 0; i < kMany; ++i) {
    const std::string expected = on_cpu.substr(i * kFrame, kFrame), found = mixed.substr(i * kFrame, kFrame);
    ASSERT_NE(expected.find_first_not_of('\0'), std::string::npos) << "they cannot be told apart";
    if (i == of_device && found != expected) ++of_device;
    ASSERT_TRUE(found == expected || i < of_device) << "frame " << i << " after " << of_device;
  }
  EXPECT_GT(of_device, 0u);
  EXPECT_LT(of_device, kMany);
}

TEST(VideoOnADevice, UnderAutoTheCpuGoesOn) {
  const std::array<std::string, 2> paths = write_many_frames();
  const auto score = [&](const std::string& device, const std::string& fault) {
    const Outcome outcome = acuity({"score", "--json", "--size", "400x304", "-m", "ssimulacra2", "--threads", "1",
                                    "--device", device, paths[0], paths[1]},
                                   failing_beside_slow_cpu(fault));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["results"][0];
  };
  const auto frames_of = [](const nlohmann::json& result) { return result["metrics"]["ssimulacra2"]["frames"]; };
  const nlohmann::json on_cpu = frames_of(score("cpu", "")), on_device = frames_of(score("cuda", ""));
  ASSERT_EQ(on_cpu.size(), kMany);
  ASSERT_NE(on_cpu[0]["values"], on_device[0]["values"]) << "they cannot be told apart";
  std::set<size_t> lengths;  // of what the device scored
  for (const int calls : {8, 20}) {
    const nlohmann::json result = score("auto", fmt::format("cuStreamSynchronize {} 700", calls)),
                         frames = frames_of(result);
    ASSERT_EQ(frames.size(), kMany);
    size_t of_device = 0;
    while (of_device < kMany && frames[of_device]["values"] == on_device[of_device]["values"]) ++of_device;
    for (size_t i = of_device; i < kMany; ++i) {
      ASSERT_EQ(frames[i]["index"], i);
      // The device may have finished frames in flight before it failed.
      const bool is_in_flight = i < of_device + 8 && frames[i]["values"] == on_device[i]["values"];
      ASSERT_TRUE(is_in_flight || frames[i] == on_cpu[i]) << i;
    }
    const std::string warning = fmt::format("the device failed, so the CPU scored frame {} of ", of_device);
    EXPECT_NE(result["warnings"].dump().find(warning), std::string::npos) << result["warnings"];
    lengths.insert(of_device);
  }
  EXPECT_GE(lengths.size(), 2u);
}

TEST(VideoOnADevice, SeveralVideosAreScoredByOtherDevicesIfOneFails) {
  const Files files;
  const auto score = [&](const std::string& device, const std::string& fault) {
    std::vector<std::string> words{"score",        "--json",   "--size",   fmt::format("{}x{}", kWidth, kHeight),
                                   "-m",           "psnr_yuv", "--device", device,
                                   files.reference};
    words.insert(words.end(), 4, files.distorted);
    const Outcome outcome = acuity(words, failing(fault));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["results"];
  };
  const auto frames_of = [](const nlohmann::json& result) { return result["metrics"]["psnr_yuv"]["frames"]; };
  const nlohmann::json on_cpu = score("cpu", ""), on_device = score("cuda", "");
  ASSERT_NE(frames_of(on_cpu[0]), frames_of(on_device[0])) << "they cannot be told apart";
  const nlohmann::json results = score("auto", "cuStreamSynchronize 4 700");
  ASSERT_EQ(results.size(), 4u);
  size_t moved = 0;
  for (const nlohmann::json& result : results) {
    EXPECT_EQ(frames_of(result), frames_of(on_cpu[0]));  // the device does not finish one
    const std::string warnings = result["warnings"].dump();
    moved += warnings.find("cuda:0 could not score it, so cpu did") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(moved, 1u);
}

TEST(VideoOnADevice, FrameMetricsWarnOfADeviceThatFailed) {
  const std::array<std::string, 2> paths = write_many_frames();
  const std::string warning = "cuda:0 failed, so the CPU measured frame ", path = scratch("output");
  const auto is_in = [&](const std::string& text) { return text.find(warning) != std::string::npos; };
  for (const bool fails : {true, false}) {
    const auto surroundings = [&] { return failing_beside_slow_cpu(fails ? "cuStreamSynchronize 20 700" : ""); };
    for (const char* form : {"--json", "--csv", "--value-only"}) {
      const Outcome scored = acuity({"score", form, "--size", "400x304", "-m", "ciede,float_ms_ssim", "--threads", "1",
                                     "--device", "auto", paths[0], paths[1]},
                                    surroundings());
      ASSERT_EQ(scored.exit_code, 0) << scored.err;
      EXPECT_EQ(is_in(scored.err), fails) << scored.err;
      if (form != std::string("--json")) continue;
      const nlohmann::json result = nlohmann::json::parse(scored.out)["results"][0];
      EXPECT_EQ(result["warnings"].size(), fails ? 1u : 0u) << result["warnings"];
      EXPECT_EQ(is_in(result["warnings"].dump()), fails);
      ASSERT_TRUE(result["device"].get<std::string>().starts_with("cuda:0 (")) << "auto chose another device";
    }
    for (const char* form : {"--json", "--xml"}) {
      const Outcome measured =
          acuity({"vmaf",  "-r",        paths[0],        "-d",       paths[1], "-w", "400", "-h",
                  "304",   "-p",        "420",           "-b",       "8",      "-q", "-n",  "--feature",
                  "ciede", "--feature", "float_ms_ssim", "--device", "auto",   form, "-o",  path},
                 surroundings());
      ASSERT_EQ(measured.exit_code, 0) << measured.err;
      EXPECT_EQ(is_in(measured.err), fails) << measured.err;
      EXPECT_EQ(is_in(read_file(path)), fails);
    }
  }
}

}  // namespace
}  // namespace acuity::test
