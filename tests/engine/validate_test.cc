// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/validate.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/layouts.h"

namespace acuity {
namespace {

constexpr int kWidth = 37, kHeight = 150;

Status validate(const ImageView& view) { return validate_finite(view, "reference", Threads(3)); }

TEST(ValidateView, NamesTheFirstSampleThatIsNotFinite) {
  for (const tests::Layout& layout : tests::arrangements(SampleType::f32, 8)) {
    for (const Channels channels : {Channels::grey, Channels::rgb, Channels::rgba}) {
      tests::Sheet sheet(layout, kWidth, kHeight, channels, [](int c, int x, int y) { return c + x - 1e30 * y; });
      ASSERT_TRUE(validate(sheet.view).ok()) << layout.name();
      const int last = sheet.view.channel_count() - 1;
      const auto put = [&](int c, int x, int y, float value) {
        const std::byte* at =
            sheet.view.planes[static_cast<size_t>(c)] + y * sheet.view.row_stride + x * sheet.view.pixel_stride;
        std::memcpy(sheet.memory.data() + (at - sheet.memory.data()), &value, sizeof(value));
      };
      put(0, 0, 149, std::nanf(""));
      put(last, 36, 70, -std::numeric_limits<float>::infinity());
      const Status status = validate(sheet.view);
      EXPECT_EQ(status.code(), StatusCode::input);
      const std::string place = "-inf in channel " + std::to_string(last) + " at x=36, y=70;";
      EXPECT_NE(status.message().find(place), std::string::npos) << layout.name() << ": " << status.message();
    }
  }
}

}  // namespace
}  // namespace acuity
