// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/lists.h"

#include <gtest/gtest.h>

namespace acuity::cli {
namespace {

using Strings = std::vector<std::string>;
const Strings kAllowed{"ssimulacra2", "psnr", "mse"};

Result<NameList> parse(const Strings& lists) { return parse_names(lists, "metric", kAllowed); }

TEST(Lists, NamesKeepTheirOrder) {
  EXPECT_EQ(parse({"mse,psnr"})->names, (Strings{"mse", "psnr"}));
  EXPECT_EQ(parse({" mse , psnr\t"})->names, (Strings{"mse", "psnr"}));
  EXPECT_EQ(parse({"mse", "psnr,ssimulacra2"})->names, (Strings{"mse", "psnr", "ssimulacra2"}));
}

TEST(Lists, NamesGivenTwiceCountOnce) {
  const Result<NameList> list = parse({"mse,psnr,mse", "psnr"});
  EXPECT_EQ(list->names, (Strings{"mse", "psnr"}));
  EXPECT_EQ(list->repeated, (Strings{"mse", "psnr"}));
}

TEST(Lists, EmptyPlacesAreErrors) {
  for (const char* text : {"", ",", "mse,", ",mse", "mse,,psnr", "mse, ,psnr"}) {
    EXPECT_EQ(parse({text}).status().code(), StatusCode::usage) << text;
  }
}

TEST(Lists, UnknownNamesAreErrorsWithAGuess) {
  EXPECT_EQ(parse({"psnrr"}).status().message(),
            "there is no metric 'psnrr' (did you mean 'psnr'?); there are: ssimulacra2, psnr, mse");
  EXPECT_EQ(parse({"vmaf"}).status().message(), "there is no metric 'vmaf'; there are: ssimulacra2, psnr, mse");
}

TEST(Lists, NearestName) {
  EXPECT_EQ(nearest("ssimulacra", kAllowed), "ssimulacra2");
  EXPECT_EQ(nearest("ssim", kAllowed), "ssimulacra2");
  EXPECT_EQ(nearest("msr", kAllowed), "mse");
  EXPECT_EQ(nearest("butteraugli", kAllowed), "");
  EXPECT_EQ(nearest(std::string(100000, 'm'), kAllowed), "");
}

TEST(Lists, Memory) {
  EXPECT_EQ(parse_memory("auto")->kind, MemoryMode::Kind::automatic);
  EXPECT_EQ(parse_memory("full")->kind, MemoryMode::Kind::full);
  EXPECT_EQ(parse_memory("strip:64")->kind, MemoryMode::Kind::strip);
  EXPECT_EQ(parse_memory("strip:64")->rows, 64);
  for (const char* text : {"", "strip", "strip:", "strip:0", "strip:-1", "strip:1x", "strip:99999999999", "Full"}) {
    EXPECT_EQ(parse_memory(text).status().code(), StatusCode::usage) << text;
  }
}

TEST(Lists, WholeNumbers) {
  EXPECT_EQ(*parse_whole("8", "--threads", 1, 10), 8);
  for (const char* text : {"", "0", "11", "-1", "+1", " 1", "1 ", "1.0", "x", "99999999999999999999"}) {
    EXPECT_EQ(parse_whole(text, "--threads", 1, 10).status().code(), StatusCode::usage) << text;
  }
}

TEST(Lists, Numbers) {
  EXPECT_EQ(*parse_number("70", "--fail-under"), 70);
  EXPECT_EQ(*parse_number("-0.5", "--fail-under"), -0.5);
  EXPECT_EQ(*parse_number("1e-3", "--fail-under"), 0.001);
  for (const char* text : {"", "0,5", "nan", "inf", "-inf", "1e999", "70%", " 70"}) {
    EXPECT_EQ(parse_number(text, "--fail-under").status().code(), StatusCode::usage) << text;
  }
}

}  // namespace
}  // namespace acuity::cli
