// SPDX-License-Identifier: BSD-2-Clause-Patent
// Bad pictures: the right exit code, one line that names the file, and no number.
#include <filesystem>

#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/pictures.h"

namespace acuity::test {
namespace {

constexpr int kWidth = 157;  // of the scene
constexpr int kHeight = 93;

void expect_refused(const std::string& bad, const std::string& mentions = "") {
  const std::vector<std::pair<std::string, std::string>> pairs = {{scene(), bad}, {bad, scene()}};
  for (const auto& [reference, distorted] : pairs) {
    const Outcome outcome = acuity({"score", "-m", "psnr,ssimulacra2", reference, distorted});
    EXPECT_EQ(outcome.exit_code, 3) << bad;
    EXPECT_EQ(outcome.out, "") << bad;
    EXPECT_TRUE(outcome.err.starts_with("acuity: error: ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(bad), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(mentions), std::string::npos) << outcome.err;
  }
}

std::string file(const std::string& name, const std::string& content) {
  const std::string path = scratch(name);
  write_file(path, content);
  return path;
}

TEST(BadInput, Missing) { expect_refused(scratch("missing.png")); }

TEST(BadInput, Directory) {
  const std::string folder = scratch("folder.png");
  std::filesystem::create_directories(folder);
  expect_refused(folder);
}

TEST(BadInput, Empty) { expect_refused(file("empty.png", "")); }

// It is no fault of the pictures, which are not even read.
TEST(BadInput, AHeadThatIsNone) {
  const std::string head = file("head.znpr", "no head");
  const Outcome outcome =
      acuity({"score", "-m", "zensim:head=" + head, scratch("missing.png"), scratch("missing.png")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(outcome.out.empty());
  EXPECT_TRUE(outcome.err.starts_with("acuity: error: '" + head + "' is not a usable zensim head")) << outcome.err;
}

TEST(BadInput, Truncated) {
  const std::string whole = read_file(scene());
  for (const size_t part : {5u, 20u, 40u}) {
    expect_refused(file("truncated.png", whole.substr(0, whole.size() * part / 100)));
  }
}

TEST(BadInput, WrongContent) {
  expect_refused(file("text.png", "This is no picture at all, whatever its name says.\n"));
  expect_refused(file("shell.jpg", "#!/bin/sh\nexit 0\n"));
}

TEST(BadInput, NoPixels) {
  expect_refused(png_declaring(0, 0));
  expect_refused(file("zero.ppm", "P6\n0 0\n255\n"));
}

TEST(BadInput, TooLarge) {
  expect_refused(png_declaring(60000, 60000), "60000");
  expect_refused(file("large.ppm", "P6\n60000 60000\n255\n"), "60000");
}

TEST(BadInput, DifferentSizes) {
  expect_refused(flat(20, 30), "20x30");
  expect_refused(flat(20, 30), "157x93");
}

TEST(BadInput, NanInExr) { expect_refused(exr_with_nan(kWidth, kHeight)); }

TEST(BadInput, CorruptIcc) { expect_refused(jpeg_with_corrupt_icc(kWidth, kHeight)); }

TEST(BadInput, TooSmallForTheMetric) {
  const Outcome outcome = acuity({"score", flat(7, 7), flat(7, 7)});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("7x7"), std::string::npos) << outcome.err;
}

TEST(BadInput, EmptyStandardInput) {
  const Outcome outcome = acuity({"score", scene(), "-"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
}

TEST(BadInput, EmptyName) { EXPECT_EQ(acuity({"score", scene(), ""}).exit_code, 3); }

TEST(BadInput, AFileNameCannotBreakTheLine) {
  const Outcome outcome = acuity({"score", scene(), scratch("two\nlines\x1b[31m.png")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace acuity::test
