// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures with the same pixels are the same picture to every metric, in however many bits and whatever layout they
// come, on the CPU and on a GPU.
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "engine/metric.h"
#include "support/layouts.h"
#include "support/scoring.h"
#include "support/slow_machine.h"
#include "support/vulkan_validation.h"

namespace acuity::tests {
namespace {

constexpr int kWidth = 61, kHeight = 45;

// Multiples of 1/last, so that floats and every depth that has them can hold them.
Content in_steps_of(int last, bool transparent) {
  return [last, transparent](int c, int x, int y) {
    if (c == 3) return transparent ? (x / 7 + y / 5) % 4 / 3.0 : 1.0;
    return std::lround(drawn(false)(c, x, y) * last) / static_cast<double>(last);
  };
}

Content in_grey(const Content& content) {
  return [content](int c, int x, int y) { return content(c == 3 ? 3 : 0, x, y); };
}

struct Form {
  Layout layout;
  Channels channels = Channels::rgb;
};

struct Pair {
  Form first, second;
  Content content;
  Colour colour = {};
};

const Layout kBytes{.type = SampleType::u8, .depth = 8};
const Layout kWords{.type = SampleType::u16, .depth = 16};
const Layout kFloats{.type = SampleType::f32};

std::vector<Pair> pairs() {
  const Content bytes = in_steps_of(255, false), clear = in_steps_of(255, true), grey = in_grey(bytes);
  std::vector<Pair> list;
  for (const Transfer transfer : {Transfer::srgb, Transfer::bt1886, Transfer::pq}) {
    list.push_back({{kBytes}, {kWords}, bytes, {.transfer = transfer}});
    list.push_back({{kBytes}, {kFloats}, bytes, {.transfer = transfer}});
  }
  list.push_back({{kWords}, {{.type = SampleType::u8, .planar = true}}, bytes});
  for (const int depth : {10, 12, 16}) {
    list.push_back({{{.type = SampleType::u16, .depth = depth}}, {kFloats}, in_steps_of((1 << depth) - 1, false)});
  }
  for (const Layout& other : {kWords, kFloats}) {
    list.push_back({{kBytes, Channels::rgba}, {other, Channels::rgba}, clear});
    list.push_back({{kBytes, Channels::rgb}, {other, Channels::rgba}, bytes});
  }
  list.push_back({{kBytes, Channels::grey}, {kBytes, Channels::rgb}, grey});
  list.push_back({{kBytes, Channels::grey}, {kWords, Channels::rgb}, grey});
  return list;
}

// One scorer for all pairs: on a GPU in software, making one takes longer than any score.
void expect_identity(const std::string& device) {
  for (const MetricEntry& entry : registry()) {
    const MetricInfo& metric = entry.info;
    if (device != "cpu" && (!entry.on_gpu || is_left_out_on_gpu(metric.name))) continue;
    Result<Scorer> scorer = Scorer::create({.metrics = {metric.name}, .device = device}, kWidth, kHeight);
    ASSERT_TRUE(scorer.ok()) << scorer.status().message();
    for (const Pair& pair : pairs()) {
      Sheet a(pair.first.layout, kWidth, kHeight, pair.first.channels, pair.content);
      Sheet b(pair.second.layout, kWidth, kHeight, pair.second.channels, pair.content);
      a.view.colour = b.view.colour = pair.colour;
      const std::string what = metric.name + ", " + pair.first.layout.name() + " and " + pair.second.layout.name() +
                               ", transfer " + std::to_string(static_cast<int>(pair.colour.transfer));
      expect_same(checked(only(scorer->score(a.view, a.view))), checked(only(scorer->score(a.view, b.view))), what);
    }
  }
}

TEST(EqualPixels, AreIdenticalOnTheCpu) { expect_identity("cpu"); }
TEST(EqualPixels, AreIdenticalOnAGpu) { expect_identity("vulkan"); }

}  // namespace
}  // namespace acuity::tests
