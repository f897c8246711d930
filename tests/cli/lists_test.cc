// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/lists.h"

#include <gtest/gtest.h>

namespace acuity::cli {
namespace {

using Strings = std::vector<std::string>;

MetricInfo metric(const std::string& name, std::vector<MetricOption> options = {}) {
  MetricInfo info;
  info.name = name;
  info.options = std::move(options);
  return info;
}

const std::vector<MetricInfo> kKnown{
    metric("ssimulacra2"), metric("psnr"),
    metric("mse",
           {{.name = "peak", .help = "", .default_value = "auto", .minimum = 1, .maximum = 100, .words = {"auto"}},
            {.name = "pool", .help = "", .default_value = "mean", .words = {"mean", "worst"}}})};

Result<MetricList> parse(const Strings& lists) { return parse_metrics(lists, kKnown); }

Strings labels(const Strings& lists) {
  Strings found;
  const Result<MetricList> list = parse(lists);
  for (const MetricChoice& choice : list->metrics) found.push_back(choice.label);
  return found;
}

TEST(Lists, MetricsKeepTheirOrder) {
  EXPECT_EQ(labels({"mse,psnr"}), (Strings{"mse", "psnr"}));
  EXPECT_EQ(labels({" mse , psnr\t"}), (Strings{"mse", "psnr"}));
  EXPECT_EQ(labels({"mse", "psnr,ssimulacra2"}), (Strings{"mse", "psnr", "ssimulacra2"}));
}

TEST(Lists, MetricsGivenTwiceCountOnce) {
  EXPECT_EQ(labels({"mse,psnr,mse", "psnr"}), (Strings{"mse", "psnr"}));
  EXPECT_EQ(parse({"mse,psnr,mse", "psnr"})->repeated, (Strings{"mse", "psnr"}));
  EXPECT_EQ(parse({"mse:peak=50,mse:peak=5e1"})->repeated, (Strings{"mse:peak=50"}));
  EXPECT_EQ(parse({"mse,mse:peak=auto"})->repeated, (Strings{"mse"}));
}

TEST(Lists, MetricsTakeOptions) {
  EXPECT_EQ(labels({"mse:peak=50,mse:peak=60,mse"}), (Strings{"mse:peak=50", "mse:peak=60", "mse"}));
  EXPECT_EQ(labels({"mse: pool = worst :peak=0050.0"}), (Strings{"mse:peak=50:pool=worst"}));
  const Result<MetricList> list = parse({"psnr,mse:pool=worst:peak=50"});
  EXPECT_EQ(list->metrics[1].name, "mse");
  ASSERT_EQ(list->metrics[1].options.size(), 2u);
  EXPECT_EQ(list->metrics[1].options[0].name, "pool");
  EXPECT_EQ(list->metrics[1].options[0].value, "worst");
}

TEST(Lists, OptionsThatMakeNoSense) {
  const auto message = [](const std::string& text) { return parse({text}).status().message(); };
  EXPECT_EQ(message("psnr:peak=50"), "psnr has no options, but 'peak' is given");
  EXPECT_EQ(message("mse:top=50"), "mse has no option 'top'; it has: peak, pool");
  EXPECT_EQ(message("mse:peak=200"),
            "invalid value '200' for option peak of mse: expected a number from 1 to 100, or auto");
  EXPECT_EQ(message("mse:pool=1"), "invalid value '1' for option pool of mse: expected mean or worst");
  EXPECT_EQ(message("mse:peak=1:peak=2"), "option peak of mse is given twice");
  EXPECT_EQ(message("mse:v2"),
            "mse has no variant 'v2'; options are written as in mse:OPTION=VALUE, and 'acuity metrics' lists them");
  for (const char* text : {"mse:", "mse::peak=1", "mse:=1", "mse:peak=", "mse:peak=nan", "mse:peak=1x", ":peak=1",
                           "mse:peak=0,5", "mse:peak=inf"}) {
    EXPECT_EQ(parse({text}).status().code(), StatusCode::usage) << text;
  }
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

TEST(Lists, NamesMayBeInAnyCase) {
  EXPECT_EQ(labels({"MSE,Psnr", "mse:POOL=Worst:Peak=AUTO"}), (Strings{"mse", "psnr", "mse:pool=worst"}));
  EXPECT_EQ(parse({"mse:pol=worst"}).status().message(),
            "mse has no option 'pol' (did you mean 'pool'?); it has: peak, pool");
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
