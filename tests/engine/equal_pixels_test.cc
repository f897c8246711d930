// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures with the same pixels are the same picture to every metric, in however many bits and whatever layout they
// come, on the CPU and on a GPU.
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "support/layouts.h"
#include "support/scoring.h"
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

void expect_identity(const Form& first, const Form& second, const Content& content, const Colour& colour) {
  Sheet a(first.layout, kWidth, kHeight, first.channels, content);
  Sheet b(second.layout, kWidth, kHeight, second.channels, content);
  a.view.colour = b.view.colour = colour;
  for (const MetricInfo& metric : metrics()) {
    if (metric.frames) continue;
    for (const char* device : {"cpu", "vulkan"}) {
      const ScorerOptions options{.metric = metric.name, .device = device};
      const std::string what = metric.name + " on " + device + ", " + first.layout.name() + " and " +
                               second.layout.name() + ", transfer " + std::to_string(static_cast<int>(colour.transfer));
      expect_same(score_pair(a.view, a.view, options), score_pair(a.view, b.view, options), what);
    }
  }
}

const Layout kBytes{.type = SampleType::u8, .depth = 8};
const Layout kWords{.type = SampleType::u16, .depth = 16};
const Layout kFloats{.type = SampleType::f32};

TEST(EqualPixels, AreIdenticalInEightAndSixteenBitsAndFloat) {
  for (const Transfer transfer : {Transfer::srgb, Transfer::bt1886, Transfer::pq}) {
    const Colour colour{.transfer = transfer};
    expect_identity({kBytes}, {kWords}, in_steps_of(255, false), colour);
    expect_identity({kBytes}, {kFloats}, in_steps_of(255, false), colour);
  }
  expect_identity({kWords}, {.layout = {.type = SampleType::u8, .planar = true}}, in_steps_of(255, false), {});
}

TEST(EqualPixels, AreIdenticalInFloatAtEveryDepth) {
  for (const int depth : {10, 12, 16}) {
    const Content content = in_steps_of((1 << depth) - 1, false);
    expect_identity({{.type = SampleType::u16, .depth = depth}}, {kFloats}, content, {});
  }
}

TEST(EqualPixels, AreIdenticalWithTransparency) {
  for (const Layout& other : {kWords, kFloats}) {
    expect_identity({kBytes, Channels::rgba}, {other, Channels::rgba}, in_steps_of(255, true), {});
    expect_identity({kBytes, Channels::rgb}, {other, Channels::rgba}, in_steps_of(255, false), {});
  }
}

TEST(EqualPixels, AreIdenticalInGreyAndColour) {
  expect_identity({kBytes, Channels::grey}, {kBytes, Channels::rgb}, in_grey(in_steps_of(255, false)), {});
  expect_identity({kBytes, Channels::grey}, {kWords, Channels::rgb}, in_grey(in_steps_of(255, false)), {});
}

}  // namespace
}  // namespace acuity::tests
