// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/scale.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <gtest/gtest.h>

#include "lang/targets.h"

namespace acuity::test {
namespace {

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

// From the definitions: Mitchell and Netravali's formula, a triangle, a sinc in the middle of a wider one.
double kernel(Scaler scaler, double x) {
  x = std::abs(x);
  if (scaler == Scaler::bilinear) return std::max(0.0, 1 - x);
  if (scaler == Scaler::lanczos) return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  const double b = 0, c = 0.6;
  if (x < 1) return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + 6 - 2 * b) / 6;
  if (x < 2) return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6;
  return 0;
}

// What a line of samples is at place `i` of a line of another length.
template <typename At>
double scaled_at(Scaler scaler, int from, int to, int i, const At& at) {
  const double step = static_cast<double>(from) / to, stretch = std::max(step, 1.0);
  const double centre = (i + 0.5) * step - 0.5;
  const int reach = static_cast<int>(std::ceil(3 * stretch)) + 1;
  double sum = 0, weights = 0;
  for (int k = static_cast<int>(std::floor(centre)) - reach; k <= centre + reach; ++k) {
    const double weight = kernel(scaler, (k - centre) / stretch);
    sum += weight * at(std::clamp(k, 0, from - 1));
    weights += weight;
  }
  return sum / weights;
}

Picture drawn(int width, int height, Channels channels, SampleType type, int depth = 8) {
  const auto count = static_cast<size_t>(width) * static_cast<size_t>(height) * static_cast<size_t>(channels);
  const size_t bytes = type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4;
  Picture picture;
  picture.pixels.reset(new std::byte[count * bytes]);
  picture.view = interleaved_view(picture.pixels.get(), width, height, channels, type);
  picture.view.depth = depth;
  uint32_t state = 99;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const auto code = static_cast<uint16_t>((state >> 12) & static_cast<uint32_t>((1 << depth) - 1));
    const auto light = static_cast<float>(state >> 20) / 1000;
    if (type == SampleType::f32) {
      std::memcpy(picture.pixels.get() + i * bytes, &light, bytes);
    } else {
      std::memcpy(picture.pixels.get() + i * bytes, &code, bytes);
    }
  }
  return picture;
}

double sample(const ImageView& view, int channel, int x, int y) {
  const std::byte* from = view.planes[static_cast<size_t>(channel)] + y * view.row_stride + x * view.pixel_stride;
  uint16_t code = 0;
  float value = 0;
  if (view.type == SampleType::f32) {
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::memcpy(&code, from, view.type == SampleType::u8 ? 1 : 2);
  return code / static_cast<double>((1 << view.depth) - 1);
}

Picture result_of(const Picture& picture, int width, int height, Scaler scaler, int threads = 1) {
  Result<Picture> result = scaled(picture, width, height, scaler, Threads(threads), "test");
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *result;
}

std::string bytes_of(const Picture& picture) {
  const auto size = static_cast<size_t>(picture.view.row_stride) * static_cast<size_t>(picture.view.height);
  return {reinterpret_cast<const char*>(picture.pixels.get()), size};
}

constexpr Scaler kScalers[] = {Scaler::bicubic, Scaler::bilinear, Scaler::lanczos};

void expect_definition(const Picture& picture, int width, int height, Scaler scaler, double tolerance) {
  const ImageView& from = picture.view;
  const Picture result = result_of(picture, width, height, scaler);
  ASSERT_EQ(result.view.width, width);
  ASSERT_EQ(result.view.height, height);
  ASSERT_EQ(result.view.type, from.type == SampleType::f32 ? SampleType::f32 : SampleType::u16);
  const bool codes = from.type != SampleType::f32;
  const int colours = from.is_grey() ? 1 : 3;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto sum = [&](const auto& value) {
        return scaled_at(scaler, from.height, height, y, [&](int row) {
          return scaled_at(scaler, from.width, width, x, [&](int column) { return value(column, row); });
        });
      };
      double alpha = 1;
      if (from.has_alpha()) {
        alpha = sum([&](int column, int row) { return sample(from, colours, column, row); });
        ASSERT_NEAR(sample(result.view, colours, x, y), std::clamp(alpha, 0.0, 1.0), tolerance);
      }
      if (alpha < 0.05) continue;  // dividing by it magnifies what is rounded
      for (int c = 0; c < colours; ++c) {
        double expected = sum([&](int column, int row) {
          return sample(from, c, column, row) * (from.has_alpha() ? sample(from, colours, column, row) : 1);
        });
        expected /= alpha;
        if (codes) expected = std::clamp(expected, 0.0, 1.0);
        ASSERT_NEAR(sample(result.view, c, x, y), expected, tolerance / std::min(alpha, 1.0))
            << name_of(scaler) << " to " << width << "x" << height << ", channel " << c << " at " << x << ", " << y;
      }
    }
  }
}

TEST(Scale, IsWhatTheFiltersSay) {
  constexpr double kHalfStep = 0.51 / 65535;
  for (const Scaler scaler : kScalers) {
    for (const auto& [width, height] : {std::pair(40, 30), {7, 50}, {13, 11}, {1, 1}, {20, 16}, {41, 3}}) {
      expect_definition(drawn(20, 15, Channels::rgb, SampleType::u8), width, height, scaler, kHalfStep);
      expect_definition(drawn(20, 15, Channels::rgba, SampleType::u8), width, height, scaler, kHalfStep);
    }
    expect_definition(drawn(1, 1, Channels::rgb, SampleType::u8), 5, 4, scaler, kHalfStep);
    expect_definition(drawn(2, 90, Channels::grey, SampleType::u16, 10), 3, 40, scaler, kHalfStep);
    expect_definition(drawn(17, 9, Channels::grey_alpha, SampleType::u16, 16), 30, 40, scaler, kHalfStep);
    expect_definition(drawn(17, 9, Channels::rgb, SampleType::f32), 30, 5, scaler, 2e-6);
  }
}

TEST(Scale, FlatPicturesStayTheSame) {
  for (const Scaler scaler : kScalers) {
    for (const int code : {0, 1, 77, 254, 255}) {
      Picture picture = drawn(33, 21, Channels::rgb, SampleType::u8);
      std::memset(picture.pixels.get(), code, 33 * 21 * 3);
      const Picture result = result_of(picture, 50, 13, scaler);
      for (int y = 0; y < 13; ++y) {
        for (int x = 0; x < 50; ++x) ASSERT_EQ(sample(result.view, 1, x, y), code / 255.0);
      }
    }
  }
}

TEST(Scale, WhatCannotBeSeenDoesNotBleed) {
  // Blue on the left, transparent red on the right.
  Picture picture = drawn(16, 8, Channels::rgba, SampleType::u8);
  for (int i = 0; i < 16 * 8; ++i) {
    const bool left = i % 16 < 8;
    const uint8_t pixel[4] = {static_cast<uint8_t>(left ? 0 : 255), 0, static_cast<uint8_t>(left ? 200 : 0),
                              static_cast<uint8_t>(left ? 255 : 0)};
    std::memcpy(picture.pixels.get() + 4 * i, pixel, 4);
  }
  for (const Scaler scaler : kScalers) {
    const Picture result = result_of(picture, 37, 19, scaler);
    for (int y = 0; y < 19; ++y) {
      for (int x = 0; x < 37; ++x) {
        ASSERT_EQ(sample(result.view, 0, x, y), 0);
        const bool visible = sample(result.view, 3, x, y) > 0;
        ASSERT_NEAR(sample(result.view, 2, x, y), visible ? 200 / 255.0 : 0, 1e-5);
      }
    }
  }
}

TEST(Scale, GivesTheSameBitsOnEveryTargetAndWithEveryNumberOfThreads) {
  const Picture picture = drawn(101, 77, Channels::rgba, SampleType::u8);
  for (const Scaler scaler : kScalers) {
    for (const auto& [width, height] : {std::pair(203, 190), {50, 300}, {33, 12}}) {
      const std::string first = bytes_of(result_of(picture, width, height, scaler));
      for (const std::string& target : cpu_targets()) {
        ASSERT_TRUE(limit_cpu(target).ok());
        EXPECT_TRUE(bytes_of(result_of(picture, width, height, scaler, 1)) == first) << target;
        EXPECT_TRUE(bytes_of(result_of(picture, width, height, scaler, 3)) == first) << target;
      }
      ASSERT_TRUE(limit_cpu("").ok());
    }
  }
}

// The weights rest on doubles that a library or a compiler could round otherwise: these are the sums of their bits.
TEST(Scale, WeightsHaveTheSameBitsOnEveryMachine) {
  const auto sum_of = [](Scaler scaler) {
    uint64_t sum = 0;
    for (const auto& [from, to] : {std::pair(384, 500), {500, 384}, {1920, 1280}, {7, 3}, {3, 7}}) {
      const ScaleWeights weights = scale_weights(scaler, from, to);
      for (const float weight : weights.weights) {
        uint32_t bits;
        std::memcpy(&bits, &weight, sizeof bits);
        sum = sum * 31 + bits;
      }
    }
    return sum;
  };
  EXPECT_EQ(sum_of(Scaler::bicubic), 13889028777697818912u);
  EXPECT_EQ(sum_of(Scaler::bilinear), 13397212265741202685u);
  EXPECT_EQ(sum_of(Scaler::lanczos), 543642772968927383u);
}

TEST(Scale, IsStated) {
  EXPECT_EQ(result_of(drawn(20, 15, Channels::rgb, SampleType::u8), 40, 30, Scaler::lanczos).found.back(),
            "scaled from 20x15 to 40x30 (lanczos)");
}

}  // namespace
}  // namespace acuity::test
