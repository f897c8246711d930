// SPDX-License-Identifier: BSD-2-Clause-Patent
// What 'acuity metrics' says of identical pictures is what the command gives for them.
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "acuity/scorer.h"
#include "cli/command.h"
#include "cli/pictures.h"
#include "cli/text.h"
#include "support/y4m.h"

namespace acuity::test {
namespace {

using nlohmann::json;
using Values = std::map<std::string, std::set<double>>;  // by metric

// Large enough for every metric, and different in depth and content.
std::vector<std::string> videos() {
  std::vector<std::string> paths;
  for (const Drawing& drawing : {Drawing{.width = 240, .height = 192, .frames = 3},
                                 Drawing{.width = 240, .height = 192, .frames = 3, .damage = 60},
                                 Drawing{.width = 256, .height = 200, .frames = 2, .tag = "420p10"}}) {
    paths.push_back(scratch(fmt::format("{}.y4m", paths.size())));
    write_file(paths.back(), draw_y4m(drawing));
  }
  // A dark ramp in few steps: it has banding, and rounding shows in it.
  std::string ramp;
  for (int i = 0; i < 240 * 192; ++i) ramp += static_cast<char>(76 + i % 240 / 18);
  ramp += std::string(240 * 192 / 2, '\x80');
  paths.push_back(scratch("ramp.y4m"));
  write_file(paths.back(), "YUV4MPEG2 W240 H192 F25:1 Ip A1:1 C420jpeg\nFRAME\n" + ramp + "FRAME\n" + ramp);
  return paths;
}

void add_values(const std::string& path, bool video, Values& values) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics()) {
    const bool suits = video ? metric.name != "cvvdp" : !metric.is_frame_metric;  // of videos it is cvvdp_video
    if (suits) names.push_back(metric.name);
  }
  const Outcome outcome = acuity({"score", "--json", "-m", fmt::format("{}", fmt::join(names, ",")), path, path});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  for (const auto& [name, metric] : document["results"][0]["metrics"].items()) {
    if (!video) values[name].insert(metric["value"].get<double>());
    for (const json& frame : video ? metric["frames"] : json::array())
      values[name].insert(frame["values"][name].get<double>());
  }
}

TEST(Identical, EveryMetricGivesWhatItSays) {
  Values values;
  for (const std::string& path : videos()) add_values(path, true, values);
  for (const std::string& path : {scene(), noisy(), flat(40, 30)}) add_values(path, false, values);
  for (const MetricInfo& metric : metrics()) {
    const std::set<double>& found = values[metric.name];
    ASSERT_FALSE(found.empty()) << metric.name;
    const std::string text = acuity({"metrics", metric.name}).out;
    if (metric.identical) {
      EXPECT_EQ(found, std::set<double>{*metric.identical}) << metric.name;
      EXPECT_TRUE(metric.identical_says.empty()) << metric.name;
      EXPECT_NE(text.find("identical pictures give " + cli::short_number(*metric.identical) + "\n"), std::string::npos)
          << text;
    } else {
      // One that gives the same here too could just as well say so.
      EXPECT_GT(found.size(), 1u) << metric.name;
      EXPECT_FALSE(metric.identical_says.empty()) << metric.name;
      EXPECT_NE(text.find("identical pictures give " + metric.identical_says + "\n"), std::string::npos) << text;
    }
  }
}

TEST(Identical, WhatIsSaidInWordsHolds) {
  Values values;
  for (const std::string& path : videos()) add_values(path, true, values);
  const auto expect_between = [&](const std::string& metric, double least, double most) {
    EXPECT_GE(*values[metric].begin(), least) << metric;
    EXPECT_LE(*values[metric].rbegin(), most) << metric;
  };
  expect_between("vmaf", 97, 100);
  expect_between("adm", 0.999, 1.001);
  expect_between("vif", 0.9999, 1);
  expect_between("float_vif", 0.9999, 1);
  expect_between("float_ssim", 1 - 1e-6, 1);
  expect_between("float_ms_ssim", 1 - 1e-6, 1);
  EXPECT_EQ(values["psnr_yuv"], (std::set<double>{60, 72}));
  EXPECT_EQ(values["float_psnr"], (std::set<double>{60, 72}));
}

}  // namespace
}  // namespace acuity::test
