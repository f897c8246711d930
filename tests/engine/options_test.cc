// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/options.h"

#include <gtest/gtest.h>

namespace acuity {
namespace {

MetricInfo example() {
  MetricInfo info;
  info.name = "example";
  info.options = {
      {.name = "peak", .help = "the peak", .default_value = "auto", .minimum = 1, .maximum = 100, .words = {"auto"}},
      {.name = "power", .help = "the power", .default_value = "3", .minimum = 0.5, .maximum = 16},
      {.name = "pool", .help = "how to pool", .default_value = "mean", .words = {"mean", "worst"}},
      {.name = "file", .help = "where to write", .default_value = "", .any_text = true}};
  return info;
}

TEST(MetricOptions, DefaultsHoldWhereNothingIsGiven) {
  const Result<OptionValues> values = OptionValues::parse(example(), {});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->all().size(), 4u);
  EXPECT_EQ(values->number("peak"), std::nullopt);
  EXPECT_EQ(values->text("peak"), "auto");
  EXPECT_EQ(values->number("power"), 3);
  EXPECT_EQ(values->label(example()), "example");
}

TEST(MetricOptions, WhatIsGivenHolds) {
  const std::vector<OptionValue> given{{"pool", "worst"}, {"peak", "1e2"}, {"power", "0.5"}, {"file", "a b"}};
  const Result<OptionValues> values = OptionValues::parse(example(), given);
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->number("peak"), 100);
  EXPECT_EQ(values->number("power"), 0.5);
  EXPECT_EQ(values->text("pool"), "worst");
  EXPECT_EQ(values->label(example()), "example:peak=100:power=0.5:pool=worst:file=a b");
}

TEST(MetricOptions, WrongOnesAreRefused) {
  const auto message = [](const std::string& name, const std::string& value) {
    const std::vector<OptionValue> given{{name, value}};
    return OptionValues::parse(example(), given).status().message();
  };
  EXPECT_EQ(message("peek", "1"),
            "example has no option 'peek' (did you mean 'peak'?); it has: peak, power, pool, file");
  EXPECT_EQ(message("power", "17"), "invalid value '17' for option power of example: expected a number from 0.5 to 16");
  EXPECT_EQ(message("power", "0.4"),
            "invalid value '0.4' for option power of example: expected a number from 0.5 to 16");
  EXPECT_EQ(message("pool", "best"), "invalid value 'best' for option pool of example: expected mean or worst");
}

// Tables are written by hand: a default that its own row refuses would make every use of the metric fail.
TEST(MetricOptions, EveryTableAllowsItsDefaults) {
  for (const MetricInfo& info : metrics()) {
    std::vector<OptionValue> given;
    for (const MetricOption& option : info.options) {
      EXPECT_FALSE(option.name.empty() || option.help.empty()) << info.name;
      given.push_back({option.name, option.default_value});
    }
    const Result<OptionValues> values = OptionValues::parse(info, given);
    ASSERT_TRUE(values.ok()) << values.status().message();
    EXPECT_EQ(values->label(info), info.name);
  }
}

TEST(MetricOptions, TheScorerChecksThem) {
  const Result<Scorer> scorer = Scorer::create({.metrics = {{"mse", {{"peak", "1"}}}}}, 16, 16);
  EXPECT_EQ(scorer.status().code(), StatusCode::usage);
  EXPECT_EQ(scorer.status().message(), "mse has no options, but 'peak' is given");
}

}  // namespace
}  // namespace acuity
