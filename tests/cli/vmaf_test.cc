// SPDX-License-Identifier: BSD-2-Clause-Patent
// 'acuity vmaf' beside libvmaf's own command: tests/golden/vmaf_command holds what that wrote, with its version and
// frame rate taken out, on the instructions every processor has.
#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "support/raw_video.h"

namespace acuity::test {
namespace {

std::string write_clip(const std::string& name, const std::vector<tests::OwnedFrame>& frames) {
  write_file(scratch(name), tests::raw_video(frames));
  return scratch(name);
}

std::vector<std::string> clip_words(const std::string& name = "synth_320x240_4f_8bit_420") {
  const tests::SyntheticClip clip = tests::synthetic_clip(name);
  const FrameShape& format = clip.reference[0].format;
  return {"vmaf",
          "-r",
          write_clip("reference.yuv", clip.reference),
          "-d",
          write_clip("distorted.yuv", clip.distorted),
          "-w",
          std::to_string(format.width),
          "-h",
          std::to_string(format.height),
          "-p",
          "420",
          "-b",
          "8"};
}

Outcome vmaf(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return acuity(words);
}

void expect_as_libvmaf(const std::string& golden, const std::vector<std::string>& words) {
  const std::string path = scratch("output");
  std::vector<std::string> all = words;
  all.insert(all.end(), {"-q", "-o", path});
  const Outcome outcome = vmaf(clip_words(), all);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
  std::string text = read_file(path);
  text = std::regex_replace(text, std::regex("\"version\": \"[^\"]*\""), "\"version\": \"V\"");
  text = std::regex_replace(text, std::regex("VMAF version=\"[^\"]*\""), "VMAF version=\"V\"");
  text = std::regex_replace(text, std::regex("\"fps\": [0-9.]+"), "\"fps\": X");
  text = std::regex_replace(text, std::regex("fps=\"[0-9.]+\""), "fps=\"X\"");
  EXPECT_EQ(text, read_file(std::string(ACUITY_TEST_DATA) + "/golden/vmaf_command/" + golden));
}

TEST(VmafCommand, WritesJsonAsLibvmaf) { expect_as_libvmaf("default.json", {"--json"}); }

TEST(VmafCommand, WritesXmlAsLibvmaf) {
  expect_as_libvmaf("features.xml", {"-m", "version=vmaf_v0.6.1neg:name=neg", "--feature", "psnr=enable_apsnr=true",
                                     "--feature", "cambi", "--threads", "2"});
}

TEST(VmafCommand, WritesCsvAsLibvmaf) {
  expect_as_libvmaf("bootstrap.csv", {"-m", "version=vmaf_b_v0.6.3", "--subsample", "2", "--csv"});
}

TEST(VmafCommand, WritesSubtitlesAsLibvmaf) {
  expect_as_libvmaf("motion.sub", {"-n", "--feature", "motion", "--frame_cnt", "3", "--frame_skip_dist", "1", "--sub",
                                   "--cpumask", "1"});
}

// The columns of libvmaf 3.2.0, which makes some values with the second frame or when all frames are over.
TEST(VmafCommand, ColumnsStandAsInLibvmaf) {
  const std::string path = scratch("output");
  const auto columns = [&](int frames, std::vector<std::string> more) {
    more.insert(more.end(), {"-n", "--csv", "-o", path});
    EXPECT_EQ(vmaf(clip_words("synth_64x64_" + std::to_string(frames) + "f_8bit_420"), more).exit_code, 0);
    const std::string text = read_file(path);
    return text.substr(0, text.find('\n'));
  };
  const std::vector<std::string> both = {"--feature",    "motion=debug=true", "--feature",
                                         "float_motion", "--feature",         "float_moment"};
  const std::string of_frame =
      "Frame,VMAF_integer_feature_motion_sad_score,integer_motion,motion2,motion,"
      "float_moment_ref1st,float_moment_dis1st,float_moment_ref2nd,float_moment_dis2nd,";
  EXPECT_EQ(columns(3, both), of_frame + "motion3,integer_motion2,integer_motion3,");
  EXPECT_EQ(columns(1, both), of_frame + "integer_motion2,integer_motion3,motion3,");
  EXPECT_EQ(columns(2, {"--feature", "float_motion=motion_force_zero=true", "--feature", "float_motion"}),
            "Frame,motion2_force_0,motion3_force_0,motion_force_0,motion2,motion,motion3,");
}

TEST(VmafCommand, TellsTheScore) {
  const Outcome outcome =
      vmaf(clip_words("synth_64x64_2f_8bit_420"), {"-n", "--feature", "psnr", "--cpumask", "1", "--gpumask", "1"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "acuity: --cpumask has no effect here\n");
  EXPECT_TRUE(acuity({"vmaf", "-v"}).out.starts_with("3.2.0 (acuity "));
}

TEST(VmafCommand, KeepsWhatWasScoredBeforeDamage) {
  std::vector<std::string> words = clip_words("synth_64x64_3f_8bit_420");
  std::string bytes = read_file(words[4]);
  write_file(words[4], bytes.substr(0, bytes.size() - 10));
  const std::string path = scratch("output");
  const Outcome outcome = vmaf(words, {"-n", "--feature", "psnr", "--json", "-o", path});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("truncated"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("--size"), std::string::npos) << outcome.err << "an option of another command";
  const nlohmann::json results = nlohmann::json::parse(read_file(path));
  EXPECT_EQ(results["frames"].size(), 2u);
  EXPECT_NE(results["incomplete"].get<std::string>().find("truncated"), std::string::npos);
}

TEST(VmafCommand, AShorterVideoIsWarnedOf) {
  std::vector<std::string> words = clip_words("synth_64x64_3f_8bit_420");
  write_file(words[4], read_file(words[4]).substr(0, 64 * 64 * 3 / 2 * 2));
  const Outcome outcome = vmaf(words, {"-n", "--feature", "psnr"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("ended before"), std::string::npos) << outcome.err;
}

TEST(VmafCommand, NumbersMayHaveMoreDigits) {
  const std::string path = scratch("output");
  ASSERT_EQ(vmaf(clip_words("synth_64x64_1f_8bit_420"),
                 {"-n", "--feature", "psnr", "--json", "-o", path, "--precision", "max"})
                .exit_code,
            0);
  const std::string text = read_file(path);
  EXPECT_TRUE(std::regex_search(text, std::regex("\"psnr_y\": [0-9]+\\.[0-9]{12,}"))) << text;
}

TEST(VmafCommand, EveryNameStandsOnceAndIsWellFormed) {
  const std::string path = scratch("output");
  const std::vector<std::string> words = clip_words("synth_64x64_1f_8bit_420");
  const std::vector<std::string> twice = {
      "-n", "-o", path, "--feature", "psnr=enable_apsnr=true", "--feature", "psnr=enable_apsnr=true:min_sse=0.5"};
  ASSERT_EQ(vmaf(words, twice).exit_code, 0);
  const std::string xml = read_file(path);
  EXPECT_NE(xml.find(" apsnr_y=\""), std::string::npos) << xml;
  EXPECT_EQ(xml.find(" apsnr_y=\""), xml.rfind(" apsnr_y=\"")) << xml;
  const auto message = [&](const std::vector<std::string>& more) {
    const Outcome outcome = vmaf(words, more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(message({"--feature", "psnr", "-m", "version=vmaf_v0.6.1:name=psnr_y"}).find("would give 'psnr_y'"),
            std::string::npos);
  // Of what libvmaf shows only with debug=true.
  EXPECT_EQ(vmaf(words, {"-m", "version=vmaf_v0.6.1:name=integer_vif"}).exit_code, 0);
  EXPECT_NE(message({"--feature", "vif=debug=true", "-m", "version=vmaf_v0.6.1:name=integer_vif"}).find("would give"),
            std::string::npos);
  EXPECT_NE(message({"-m", "version=vmaf_b_v0.6.3", "-m", "version=vmaf_v0.6.1:name=vmaf_bagging"}).find("would give"),
            std::string::npos);
  const auto named = [](const std::string& name) { return "version=vmaf_v0.6.1:name=" + name; };
  for (const char* name : {"a b", "4k", "caf\xe9", "a,b"}) {
    EXPECT_NE(message({"-m", named(name), "-o", path}).find("cannot be written as XML"), std::string::npos);
    EXPECT_EQ(vmaf(words, {"-m", named(name), "-o", path, "--json"}).exit_code, 0);
    EXPECT_TRUE(nlohmann::json::accept(read_file(path)));
    EXPECT_EQ(vmaf(words, {"-m", named(name), "-o", path, "-n"}).exit_code, 0) << "no name is written";
  }
  for (const char* name : {"caf\xe9", "a,b", "a\"b", "a\nb"}) {
    EXPECT_NE(message({"-m", named(name), "-o", path, "--csv"}).find("cannot be written as CSV"), std::string::npos);
  }
  for (const char* name : {"a b", "4k", "caf\xc3\xa9"}) {
    EXPECT_EQ(vmaf(words, {"-m", named(name), "-o", path, "--csv"}).exit_code, 0);
    EXPECT_NE(read_file(path).find(std::string(",") + name + ","), std::string::npos) << read_file(path);
  }
}

// libvmaf leaves out a feature that would give the same names as one before it.
TEST(VmafCommand, OfFeaturesWithTheSameNamesTheFirstCounts) {
  const std::string path = scratch("output");
  const auto results = [&](const std::vector<std::string>& features) {
    std::vector<std::string> more = {"-b", "10", "-n", "--json", "-o", path};
    for (const std::string& feature : features) more.insert(more.end(), {"--feature", feature});
    const Outcome outcome = vmaf(clip_words("synth_64x64_2f_10bit_420"), more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    nlohmann::json all = nlohmann::json::parse(read_file(path));
    all.erase("fps");
    return all;
  };
  const std::string reduced = "psnr=enable_apsnr=true:reduced_hbd_peak=true", plain = "psnr=enable_apsnr=true";
  EXPECT_EQ(results({reduced, plain}), results({reduced}));
  EXPECT_EQ(results({plain, reduced}), results({plain}));
  EXPECT_NE(results({plain}), results({reduced}));
}

// Of a name of a file, say.
TEST(VmafCommand, XmlIsUtf8WhateverTheMessage) {
  std::vector<std::string> words = clip_words("synth_64x64_2f_8bit_420");
  const std::string name = scratch("caf\xe9\x01.yuv"), path = scratch("output");
  std::string frames = read_file(words[4]);
  frames.resize(frames.size() - 10);
  write_file(name, frames);
  words[4] = name;
  EXPECT_NE(vmaf(words, {"-n", "--feature", "psnr", "-o", path}).exit_code, 0);
  EXPECT_NE(read_file(path).find("caf\xef\xbf\xbd?.yuv"), std::string::npos) << read_file(path);
}

TEST(VmafCommand, RefusesWhatMakesNoSense) {
  const std::vector<std::string> words = clip_words("synth_64x64_1f_8bit_420");
  const auto message = [&](const std::vector<std::string>& more) {
    const Outcome outcome = vmaf(words, more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(message({"-m", "vmaf_v0.6.1"}).find("invalid value 'vmaf_v0.6.1' for -m"), std::string::npos);
  EXPECT_NE(message({"-m", "version=vmaf_v7"}).find("there is no model 'vmaf_v7'"), std::string::npos);
  EXPECT_NE(message({"-m", "version=vmaf_v1.0.16_3d0h", "-m", "version=vmaf_v1.0.16_5d0h"}).find("two models"),
            std::string::npos);
  EXPECT_NE(message({"--feature", "nothing"}).find("there is no feature 'nothing'"), std::string::npos);
  EXPECT_NE(message({"--feature", "psnr=x=1"}).find("psnr has no option 'x'"), std::string::npos);
  EXPECT_NE(message({"-b", "9"}).find("invalid value 9 for --bitdepth"), std::string::npos);
  EXPECT_NE(message({"-p", "411"}).find("invalid value '411' for --pixel_format"), std::string::npos);
  for (const char* frames : {"0", "65"}) {
    EXPECT_NE(message({"--frames-in-flight", frames}).find("expected a whole number from 1 to 64"), std::string::npos);
  }
  for (const char* number : {"", "two", "2x", "1.5"}) {
    EXPECT_NE(message({"--gpumask", number}).find("for --gpumask: expected a whole number"), std::string::npos);
  }
  EXPECT_NE(message({"-w", "0"}).find("invalid value '0' for --width: expected at least 1"), std::string::npos);
  EXPECT_NE(message({"--aom_ctc", "v8.0"}).find("expected v1.0 to v7.0"), std::string::npos);
  EXPECT_EQ(acuity({"vmaf", "-r", words[2], "-d", words[4], "-w", "64"}).exit_code, 2);
  EXPECT_EQ(acuity({"vmaf", "-r", words[2]}).exit_code, 2);
  EXPECT_EQ(acuity({"vmaf", "-r", "/no/such/file", "-d", words[4]}).exit_code, 3);
}

}  // namespace
}  // namespace acuity::test
