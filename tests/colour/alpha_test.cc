// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/alpha.h"

#include <array>

#include <gtest/gtest.h>

#include "support/layouts.h"

namespace acuity::tests {
namespace {

TEST(Alpha, IsReadFromEveryLayout) {
  const Content content = [](int c, int x, int y) { return c == 3 ? (x + 10 * y) / 255.0 : 0.5; };
  for (const auto& [type, depth] : std::vector<std::pair<SampleType, int>>{
           {SampleType::u8, 8}, {SampleType::u16, 16}, {SampleType::u16, 10}, {SampleType::f32, 8}}) {
    for (const Layout& layout : arrangements(type, depth)) {
      const Sheet sheet(layout, 20, 6, Channels::rgba, content);
      std::array<float, 4> alpha{};
      read_alpha(sheet.view, 5, 2, 6, alpha.data());
      for (int i = 0; i < 4; ++i) {
        const double code = (52 + i) / 255.0;
        EXPECT_NEAR(alpha[static_cast<size_t>(i)], code, depth == 10 ? 5e-4 : 1e-7) << layout.name();
      }
    }
  }
}

TEST(Alpha, StaysBetween0And1) {
  const std::array<uint16_t, 2> codes{0, 1024};
  ImageView view = interleaved_view(codes.data(), 1, 1, Channels::grey_alpha, SampleType::u16);
  view.depth = 10;
  float alpha = 0;
  read_alpha(view, 0, 0, 1, &alpha);
  EXPECT_EQ(alpha, 1.0f);
  const std::array<float, 2> floats{0, -0.5f};
  read_alpha(interleaved_view(floats.data(), 1, 1, Channels::grey_alpha, SampleType::f32), 0, 0, 1, &alpha);
  EXPECT_EQ(alpha, 0.0f);
}

TEST(Alpha, WithoutItTheColourStays) {
  const Sheet sheet({}, 4, 3, Channels::rgba, [](int c, int, int) { return c / 4.0; });
  const ImageView opaque = without_alpha(sheet.view);
  EXPECT_EQ(opaque.channels, Channels::rgb);
  EXPECT_EQ(opaque.planes[2], sheet.view.planes[2]);
  EXPECT_EQ(opaque.pixel_stride, 4);
  EXPECT_EQ(without_alpha(opaque).channels, Channels::rgb);
}

}  // namespace
}  // namespace acuity::tests
