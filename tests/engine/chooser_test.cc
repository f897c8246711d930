// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/chooser.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace acuity {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A machine with two cards, one of which is behind two backends, and a picture of 1000 x 1000 pixels, so that
// nanoseconds per pixel are milliseconds per row.
struct Table {
  Table() {
    rows.metrics = {{.name = "m", .guess_ns = 20, .on_gpu = true, .map_on_gpu = true}};
    rows.width = rows.height = 1000;
    rows.rows_at_once = true;
    measure("cpu", {}, 40);
    measure("cuda:0", {}, 1);
    measure("cuda:1", {}, 2);
    measure("vulkan:0", {}, 3);
    for (const char* id : {"cuda:0", "cuda:1", "vulkan:0"}) measured.note_device(id, {.id = id, .cold_ms = 100});
    devices = {{.id = "cuda:0", .key = "cuda:0"},
               {.id = "cuda:1", .key = "cuda:1"},
               {.id = "vulkan:0", .key = "vulkan:0", .same_card_as = "cuda:0"},
               {.id = "cpu", .key = "cpu", .is_cpu = true, .threads = 4}};
  }

  void measure(const std::string& device, const RowMode& mode, double ns) {
    for (int size = kSmallestClass; size <= kLargestClass; ++size) measured.set({device, "m", mode, size}, {ns, 1});
  }
  DeviceState& device(std::string_view id) {
    return *std::find_if(devices.begin(), devices.end(), [&](const DeviceState& one) { return one.id == id; });
  }
  Placement place() const { return place_rows(rows, devices, measured); }

  RowsToPlace rows;
  std::vector<DeviceState> devices;
  Measurements measured;
};

std::vector<std::string> taken(const Placement& placement) {
  std::vector<std::string> ids;
  for (const PlaceShare& share : placement.shares) ids.push_back(placement.options[share.option].device);
  return ids;
}

std::string why_not(const Placement& placement, const std::string& device) {
  for (const PlaceOption& option : placement.options) {
    if (option.device == device && !option.left_because.empty()) return option.left_because;
  }
  return "";
}

using Ids = std::vector<std::string>;

TEST(Chooser, OneRowGoesWhereItIsDoneSoonest) {
  Table table;
  Placement placement = table.place();
  EXPECT_EQ(taken(placement), Ids{"cpu"});
  EXPECT_DOUBLE_EQ(placement.best()->total_ms, 10) << "40 ms of one thread by four";
  EXPECT_TRUE(placement.best()->measured);
  EXPECT_EQ(why_not(placement, "cuda:0"), "slower: 101 ms instead of 10 ms");
  EXPECT_EQ(why_not(placement, "cuda:1"), "slower: 102 ms instead of 10 ms");
  EXPECT_EQ(why_not(placement, "vulkan:0"),
            "the same card as cuda:0, which is expected to be as fast or faster: 101 ms instead of 103 ms");

  table.device("cuda:1").is_open = true;
  placement = table.place();
  EXPECT_EQ(taken(placement), Ids{"cuda:1"});
  EXPECT_DOUBLE_EQ(placement.best()->total_ms, 2);
  EXPECT_EQ(why_not(placement, "cpu"), "slower: 10 ms instead of 2.0 ms");
}

TEST(Chooser, ManyRowsGoToAllThatHelp) {
  Table table;
  table.rows.rows = 10000;
  const Placement placement = table.place();
  EXPECT_EQ(taken(placement), (Ids{"cuda:0", "cuda:1", "cpu"}));
  double sum = 0;
  for (const PlaceShare& share : placement.shares) {
    sum += share.share;
    EXPECT_NEAR(share.ready_ms + share.share * 10000 * share.row_ms, placement.total_ms, 1e-6) << "all finish together";
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_LT(placement.total_ms, placement.best()->total_ms);
  EXPECT_EQ(placement.option_of("cuda:1")->device, "cuda:1");
  EXPECT_EQ(placement.option_of("vulkan:0"), nullptr);

  table.rows.one_device = true;
  EXPECT_EQ(taken(table.place()), Ids{"cuda:0"});
}

TEST(Chooser, WhoWouldStartTooLateIsLeftOut) {
  Table table;
  table.rows.rows = 9;
  const Placement placement = table.place();
  EXPECT_EQ(taken(placement), Ids{"cpu"});
  EXPECT_EQ(why_not(placement, "cuda:1"),
            "its first row would be done after 102 ms, and without it all rows are done after 90 ms");
  EXPECT_EQ(why_not(placement, "cuda:0"),
            "its first row would be done after 101 ms, and without it all rows are done after 90 ms");
}

TEST(Chooser, OfOneCardTheFasterBackendIsUsed) {
  Table table;
  table.rows.rows = 10000;
  table.measure("vulkan:0", {}, 0.5);
  EXPECT_EQ(taken(table.place()), (Ids{"vulkan:0", "cuda:1", "cpu"}));
  table.measure("vulkan:0", {}, 1);
  EXPECT_EQ(taken(table.place()).front(), "cuda:0") << "the first of the list if they are alike";
  table.device("cuda:0").unusable = "it was lost";
  const Placement placement = table.place();
  EXPECT_EQ(taken(placement).front(), "vulkan:0");
  EXPECT_EQ(why_not(placement, "cuda:0"), "it was lost");
}

TEST(Chooser, SoftwareIsUsedOnlyByName) {
  Table table;
  table.rows.rows = 10000;
  table.device("cuda:0").is_software = true;
  Placement placement = table.place();
  EXPECT_EQ(placement.option_of("cuda:0"), nullptr);
  EXPECT_EQ(why_not(placement, "cuda:0"), "it is software, not a GPU; it is used only if it is named");
  table.device("cuda:0").is_named = true;
  EXPECT_EQ(taken(table.place()).front(), "cuda:0");
}

TEST(Chooser, WhatAGpuCannotDoStaysOnTheCpu) {
  Table table;
  table.rows.rows = 10000;
  table.rows.want_map = true;
  table.rows.metrics[0].map_on_gpu = false;
  EXPECT_EQ(taken(table.place()), Ids{"cpu"});
  EXPECT_EQ(why_not(table.place(), "cuda:1"), "m makes difference maps on the CPU only");
  table.rows.metrics[0].on_gpu = false;
  EXPECT_EQ(why_not(table.place(), "cuda:1"), "m has no GPU version");
  table.devices.pop_back();
  EXPECT_EQ(table.place().best(), nullptr);
  EXPECT_TRUE(table.place().shares.empty());
}

TEST(Chooser, PreparingPaysIfItIsFaster) {
  Table table;
  table.devices = {table.device("cuda:0")};
  table.rows.rows = 100;
  table.rows.rows_per_reference = 10;
  table.measure("cuda:0", {.kind = RowMode::Kind::prepared}, 0.4);
  table.measure("cuda:0", {.kind = RowMode::Kind::prepare}, 5);
  Placement placement = table.place();
  ASSERT_EQ(placement.options.size(), 2u);
  EXPECT_TRUE(placement.best()->prepared);
  EXPECT_DOUBLE_EQ(placement.best()->total_ms, 100 + 100 * 0.4 + 10 * 5);
  EXPECT_EQ(placement.options[0].left_because, "slower on this device: 200 ms instead of 190 ms");
  table.rows.rows_per_reference = 5;
  EXPECT_FALSE(table.place().best()->prepared);
  table.rows.rows_per_reference = 1;
  EXPECT_EQ(table.place().options.size(), 1u) << "not even considered";
}

TEST(Chooser, ManyInFlightHaveTheirOwnFigures) {
  Table table;
  table.devices = {table.device("cuda:0")};
  table.measure("cuda:0", {.many = true}, 0.1);
  table.rows.rows = 100;
  EXPECT_DOUBLE_EQ(table.place().best()->total_ms, 110);
  EXPECT_DOUBLE_EQ(table.place().best()->row_ms, 1);
  table.rows.rows_at_once = false;
  EXPECT_DOUBLE_EQ(table.place().best()->total_ms, 200);
}

TEST(Chooser, GuessesAreStated) {
  Table table;
  table.measured = {};
  const Placement placement = table.place();
  EXPECT_EQ(taken(placement), Ids{"cpu"});
  EXPECT_DOUBLE_EQ(placement.best()->total_ms, 5) << "20 ns by four threads";
  EXPECT_FALSE(placement.best()->measured);
  EXPECT_EQ(time_text(*placement.best()), "5.0 ms (guessed)");
  EXPECT_EQ(why_not(placement, "cuda:0"), "slower: 401 ms instead of 5.0 ms");
  table.rows.rows = 10000;
  EXPECT_EQ(taken(table.place()).front(), "cuda:0");
  EXPECT_EQ(table.place().option_of("cpu")->device, "cpu");
}

TEST(Chooser, StripsAreUsedIfMemoryIsShort) {
  Table table;
  table.devices = {table.device("cuda:0")};
  table.rows.rows = 100;
  // 1 MiB per row of a strip, and 10 for each pair's samples.
  table.rows.plan = [](std::optional<Backend> gpu, int strip_rows) -> Result<MemoryPlan> {
    const int64_t rows = strip_rows == 0 ? 1000 : strip_rows;
    EXPECT_EQ(gpu, Backend::cuda);
    MemoryPlan plan;
    plan.pair.device = (rows + 10) * kMiB;
    plan.further_pair.device = rows * kMiB;
    return plan;
  };
  table.device("cuda:0").free_bytes = 5000 * kMiB;
  Placement placement = table.place();
  ASSERT_EQ(placement.options.size(), 1u);
  EXPECT_EQ(placement.best()->strip_rows, 0);
  EXPECT_EQ(placement.best()->rows_that_fit, 4);
  EXPECT_EQ(placement.best()->memory.device, 1010 * kMiB);

  table.device("cuda:0").free_bytes = 200 * kMiB;
  placement = table.place();
  ASSERT_EQ(placement.options.size(), 4u);
  EXPECT_EQ(placement.options[0].left_because, "needs 1010 MiB of memory, but 200 MiB are free");
  EXPECT_EQ(placement.options[1].strip_rows, 512);
  EXPECT_EQ(placement.options[2].left_because, "needs 266 MiB of memory, but 200 MiB are free");
  EXPECT_EQ(placement.best()->strip_rows, 128);
  EXPECT_DOUBLE_EQ(placement.best()->total_ms, 100 + 125) << "as guessed from what was measured in full";
  EXPECT_FALSE(placement.best()->measured);

  table.rows.strip_rows = 100;
  EXPECT_EQ(table.place().best()->strip_rows, 100) << "the caller's";
  table.rows.strip_rows = 0;
  table.rows.strips_allowed = false;
  EXPECT_EQ(table.place().best(), nullptr);
  table.rows.strips_allowed = true;
  table.device("cuda:0").free_bytes = 20 * kMiB;
  EXPECT_EQ(table.place().best(), nullptr);
  EXPECT_EQ(table.place().options.back().strip_rows, 16);
}

TEST(Chooser, MemoryOfAReferenceIsCounted) {
  Table table;
  table.devices = {table.device("cpu")};
  table.measure("cpu", {.kind = RowMode::Kind::prepared}, 20);
  table.rows.rows = 100;
  table.rows.rows_per_reference = 100;
  table.rows.plan = [](std::optional<Backend>, int) -> Result<MemoryPlan> {
    MemoryPlan plan;
    plan.pair.host = 10;
    plan.reference.host = 7;
    plan.against_reference.host = 5;
    return plan;
  };
  table.device("cpu").free_bytes = 11;
  Placement placement = table.place();
  EXPECT_FALSE(placement.best()->prepared);
  EXPECT_TRUE(placement.options[1].left_because.starts_with("needs ")) << placement.options[1].left_because;
  table.device("cpu").free_bytes = 22;
  placement = table.place();
  ASSERT_TRUE(placement.best()->prepared);
  EXPECT_EQ(placement.best()->memory.host, 12);
  EXPECT_EQ(placement.best()->rows_that_fit, 3);
  table.rows.plan = [](std::optional<Backend>, int) -> Result<MemoryPlan> {
    return Status(StatusCode::too_big, "no plan");
  };
  placement = table.place();
  EXPECT_EQ(placement.best(), nullptr);
  EXPECT_EQ(placement.options.front().left_because, "no plan");
}

TEST(Chooser, DecodingKeepsTheThreadsOfTheCpuBusy) {
  Table table;
  table.rows.decode_ns = 20e6;
  table.rows.decode_threads = 4;
  Placement placement = table.place();
  EXPECT_EQ(taken(placement), Ids{"cpu"});
  EXPECT_DOUBLE_EQ(placement.decode_ms, 5);
  EXPECT_DOUBLE_EQ(placement.total_ms, 15) << "one after the other";
  EXPECT_DOUBLE_EQ(placement.best()->total_ms, 10) << "scoring only";

  // The two GPUs need 1000 * 2 / 3 ms and their cold start; decoding leaves the CPU time for some rows.
  table.rows.rows = 1000;
  table.rows.decode_ns = 1e6;
  placement = table.place();
  EXPECT_EQ(taken(placement), (Ids{"cuda:0", "cuda:1", "cpu"}));
  EXPECT_DOUBLE_EQ(placement.decode_ms, 250);
  double sum = 0;
  for (const PlaceShare& share : placement.shares) sum += share.share;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(placement.total_ms, 250 + placement.shares[2].share * 1000 * 10, 1e-9);
  EXPECT_LT(placement.total_ms, 100 + 1000 * 2.0 / 3);

  // And none if it takes longer than scoring.
  table.rows.decode_ns = 40e6;
  placement = table.place();
  EXPECT_EQ(taken(placement), (Ids{"cuda:0", "cuda:1"}));
  EXPECT_DOUBLE_EQ(placement.total_ms, 10'000) << "GPUs wait for what is decoded";
  EXPECT_EQ(
      why_not(placement, "cpu"),
      "its first row would be done after 10.0 s, when all are decoded, and without it all rows are done after 767 ms");
  table.devices = {table.device("cuda:0")};
  table.rows.rows = 1;
  EXPECT_DOUBLE_EQ(table.place().total_ms, 101) << "decoded while the device is opened";
  table.device("cuda:0").is_open = true;
  EXPECT_DOUBLE_EQ(table.place().total_ms, 11);
}

TEST(Chooser, MetricsAddUp) {
  Table table;
  table.devices = {table.device("cpu")};
  table.rows.metrics.push_back({.name = "n", .guess_ns = 8});
  EXPECT_DOUBLE_EQ(table.place().best()->total_ms, 12);
  EXPECT_FALSE(table.place().best()->measured);
  table.device("cpu").threads = 1;
  EXPECT_DOUBLE_EQ(table.place().best()->total_ms, 48);
}

TEST(Chooser, TimesHaveTexts) {
  EXPECT_EQ(time_text(0.25), "0.25 ms");
  EXPECT_EQ(time_text(9.5), "9.5 ms");
  EXPECT_EQ(time_text(99), "99 ms");
  EXPECT_EQ(time_text(1500), "1.5 s");
  EXPECT_EQ(time_text(600e3), "10 min");
  EXPECT_EQ(time_text(36e6), "10.0 h");
}

}  // namespace
}  // namespace acuity
