// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/measurements.h"

#include <cmath>

#include <gtest/gtest.h>

namespace acuity {
namespace {

const std::string kGpu = "cuda 1 a", kCpu = "cpu AVX2", kMetric = "ssimulacra2";

TEST(Measurements, ModesHaveTexts) {
  for (const RowMode::Kind kind : {RowMode::Kind::pair, RowMode::Kind::prepared, RowMode::Kind::prepare}) {
    for (const int bits : {0, 1, 2, 3}) {
      const RowMode mode{kind, (bits & 1) != 0, (bits & 2) != 0};
      const std::optional<RowMode> read = parse_mode(mode_text(mode));
      ASSERT_TRUE(read) << mode_text(mode);
      EXPECT_EQ(*read, mode);
    }
  }
  EXPECT_EQ(mode_text({RowMode::Kind::prepared, true, true}), "prepared strip many");
  for (const char* wrong : {"", "Pair", "pair many strip", "many", "pair  strip", " pair"}) {
    EXPECT_FALSE(parse_mode(wrong)) << wrong;
  }
}

TEST(Measurements, SizesFallIntoClasses) {
  EXPECT_EQ(size_class(512 * 512), 9);
  EXPECT_EQ(class_pixels(9), 512 * 512);
  EXPECT_EQ(size_class(640 * 480), 9);
  EXPECT_EQ(size_class(1920 * 1080), 10);
  EXPECT_EQ(size_class(3840 * 2160), 11);
  EXPECT_EQ(size_class(0), kSmallestClass);
  EXPECT_EQ(size_class(1), kSmallestClass);
  EXPECT_EQ(size_class(1e300), kLargestClass);
}

TEST(Measurements, RowsAreAveragedAndBusyMomentsBounded) {
  Measurements measured;
  const auto ns = [&] { return *measured.row_ns(kCpu, kMetric, {}, 512 * 512) / (512 * 512); };
  measured.note(kCpu, kMetric, {}, 512 * 512, 10);
  EXPECT_DOUBLE_EQ(ns(), 10);
  measured.note(kCpu, kMetric, {}, 512 * 512, 12);
  EXPECT_DOUBLE_EQ(ns(), 11);
  measured.note(kCpu, kMetric, {}, 512 * 512, 1e6);
  EXPECT_DOUBLE_EQ(ns(), 11 + 11.0 / 3) << "counts as twice the figure so far";
  for (int i = 0; i < 100; ++i) measured.note(kCpu, kMetric, {}, 512 * 512, 5);
  EXPECT_NEAR(ns(), 5, 0.01) << "what is true now replaces what was";
  for (const double wrong : {0.0, -1.0, HUGE_VAL, std::nan("")}) measured.note(kCpu, kMetric, {}, 512 * 512, wrong);
  EXPECT_NEAR(ns(), 5, 0.01);
}

TEST(Measurements, SizesBetweenAreInterpolated) {
  Measurements measured;
  for (const std::string& device : {kGpu, kCpu}) {
    measured.set({device, kMetric, {}, 9}, {10, 1});
    measured.set({device, kMetric, {}, 11}, {2.5, 1});
  }
  const auto ns = [&](const std::string& device, double pixels) {
    return *measured.row_ns(device, kMetric, {}, pixels) / pixels;
  };
  EXPECT_DOUBLE_EQ(ns(kGpu, class_pixels(9)), 10);
  EXPECT_DOUBLE_EQ(ns(kGpu, class_pixels(10)), 5);
  EXPECT_DOUBLE_EQ(ns(kGpu, class_pixels(11)), 2.5);
  EXPECT_DOUBLE_EQ(ns(kGpu, class_pixels(13)), 2.5);
  EXPECT_DOUBLE_EQ(ns(kGpu, class_pixels(7)), 160) << "launches take as long for less";
  EXPECT_DOUBLE_EQ(ns(kCpu, class_pixels(7)), 10);
  EXPECT_FALSE(measured.row_ns("cuda 2 a", kMetric, {}, 1e6));
  EXPECT_FALSE(measured.row_ns(kGpu, "mse", {}, 1e6));
  EXPECT_FALSE(measured.row_ns(kGpu, kMetric, {.strip = true}, 1e6));
}

TEST(Measurements, ANewDriverReplacesTheOld) {
  Measurements measured;
  measured.note_device("cuda 1 a", {.id = "cuda:0", .driver = "a", .uuid = "1"});
  measured.note_device("cuda 2 a", {.id = "cuda:1", .driver = "a", .uuid = "2"});
  measured.note_device("vulkan 1 v", {.id = "vulkan:0", .driver = "v", .uuid = "1"});
  for (const char* key : {"cuda 1 a", "cuda 2 a", "vulkan 1 v"}) measured.note(key, kMetric, {}, 1e6, 1);
  measured.note_device("cuda 1 b", {.id = "cuda:0", .driver = "b", .uuid = "1"});
  EXPECT_EQ(measured.device("cuda 1 a"), nullptr);
  EXPECT_FALSE(measured.row_ns("cuda 1 a", kMetric, {}, 1e6));
  EXPECT_TRUE(measured.row_ns("cuda 2 a", kMetric, {}, 1e6));
  EXPECT_TRUE(measured.row_ns("vulkan 1 v", kMetric, {}, 1e6));
}

TEST(Measurements, OnlyWhatMattersHasChanged) {
  Measurements before;
  before.note_device(kGpu, {.id = "cuda:0", .uuid = "1", .cold_ms = 100});
  before.set({kGpu, kMetric, {}, 9}, {10, 1});
  Measurements now = before;
  EXPECT_TRUE(now.changed_since(before).empty());
  now.set({kGpu, kMetric, {}, 9}, {11, 2});
  now.note_device(kGpu, {.id = "cuda:0", .uuid = "1", .cold_ms = 110});
  EXPECT_TRUE(now.changed_since(before).empty());
  now.set({kGpu, kMetric, {}, 9}, {7, 3});
  now.set({kGpu, kMetric, {}, 10}, {6, 1});
  EXPECT_EQ(now.changed_since(before).figures().size(), 2u);
  EXPECT_TRUE(now.changed_since(before).devices().empty());
  now.note_device(kGpu, {.id = "cuda:0", .uuid = "1", .cold_ms = 900});
  EXPECT_EQ(now.changed_since(before).devices().size(), 1u);
  before.put(now);
  EXPECT_TRUE(now.changed_since(before).empty());
}

}  // namespace
}  // namespace acuity
