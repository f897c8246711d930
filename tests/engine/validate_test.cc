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

Status layout_of(const ImageView& view) { return validate_layout(view, "reference"); }

// A view of 5 x 4 pixels that nobody reads.
ImageView sound_view(SampleType type = SampleType::u8, Channels channels = Channels::rgb) {
  alignas(16) static constexpr std::byte memory[5 * 4 * 4 * 4]{};
  return interleaved_view(memory, 5, 4, channels, type);
}

TEST(ValidateView, AcceptsEveryLayout) {
  for (const SampleType type : {SampleType::u8, SampleType::u16, SampleType::f32}) {
    for (const Channels channels : {Channels::grey, Channels::grey_alpha, Channels::rgb, Channels::rgba}) {
      ImageView view = sound_view(type, channels);
      EXPECT_TRUE(layout_of(view).ok()) << layout_of(view).message();
      view.row_stride = -view.row_stride;
      EXPECT_TRUE(layout_of(view).ok()) << "bottom up";
      view.row_stride = view.pixel_stride;
      view.pixel_stride = 4 * view.row_stride;
      EXPECT_TRUE(layout_of(view).ok()) << "column by column";
      view = sound_view(type, channels);
      view.height = 1;
      view.row_stride = 0;
      EXPECT_TRUE(layout_of(view).ok()) << "one row needs no stride";
    }
  }
}

TEST(ValidateView, RefusesWhatCannotBeRead) {
  const auto refused = [](SampleType type, const auto& spoil) {
    ImageView view = sound_view(type);
    spoil(view);
    const Status status = layout_of(view);
    EXPECT_EQ(status.code(), StatusCode::usage);
    return status.message();
  };
  EXPECT_EQ(refused(SampleType::u8, [](ImageView& view) { view.planes[2] = nullptr; }),
            "plane 2 of the reference view is null");
  EXPECT_EQ(refused(SampleType::u16, [](ImageView& view) { view.planes[1] += 1; }),
            "plane 1 of the reference view is not aligned to its 2-byte samples");
  for (const int channels : {0, 5, 255}) {
    EXPECT_EQ(refused(SampleType::u8, [&](ImageView& view) { view.channels = static_cast<Channels>(channels); }),
              "the reference view has " + std::to_string(channels) + " channels: expected 1 to 4");
  }
  const ptrdiff_t lowest = std::numeric_limits<ptrdiff_t>::min(), highest = std::numeric_limits<ptrdiff_t>::max();
  for (const ptrdiff_t stride : {ptrdiff_t{0}, ptrdiff_t{2}, ptrdiff_t{-3}, lowest, highest}) {
    EXPECT_NE(refused(SampleType::f32, [&](ImageView& view) { view.pixel_stride = stride; }), "");
    EXPECT_NE(refused(SampleType::f32, [&](ImageView& view) { view.row_stride = stride; }), "");
  }
  for (const ptrdiff_t stride : {0, 12, -12, 1}) {
    EXPECT_EQ(refused(SampleType::u8, [&](ImageView& view) { view.row_stride = stride; }),
              "the rows of the reference view overlap: its row_stride is " + std::to_string(stride) +
                  " bytes, for 5 pixels of 3 bytes");
  }
  for (const auto& [type, depth] : {std::pair(SampleType::u8, 7),
                                    {SampleType::u8, 9},
                                    {SampleType::u16, 8},
                                    {SampleType::u16, 17},
                                    {SampleType::u16, 0},
                                    {SampleType::u16, -1}}) {
    EXPECT_NE(refused(type, [&](ImageView& view) { view.depth = depth; }).find("bits, which its "), std::string::npos);
  }
}

TEST(ValidateFrame, RefusesWhatCannotBeRead) {
  static constexpr std::byte memory[8 * 6 * 2 * 3]{};
  for (const int depth : {8, 10}) {
    FrameView frame{{.width = 8, .height = 6, .depth = depth}};
    const ptrdiff_t bytes = frame.sample_bytes();
    frame.planes = {memory, memory + 96, memory + 192};
    frame.row_strides = {8 * bytes, 4 * bytes, -4 * bytes};
    EXPECT_TRUE(validate_planes(frame, {}, "reference frame 5").ok());
    for (size_t plane = 0; plane < 3; ++plane) {
      const std::string which = "plane " + std::to_string(plane) + " of the reference frame 5 ";
      FrameView wrong = frame;
      wrong.planes[plane] = nullptr;
      EXPECT_EQ(validate_planes(wrong, {}, "reference frame 5").message(),
                which + "is null or not aligned to its samples");
      for (const ptrdiff_t stride :
           {ptrdiff_t{0}, 2 * bytes, -2 * bytes, ptrdiff_t{1} << 41, std::numeric_limits<ptrdiff_t>::min(),
            std::numeric_limits<ptrdiff_t>::max() - 1}) {
        wrong = frame;
        wrong.row_strides[plane] = stride;
        const Status status = validate_planes(wrong, {}, "reference frame 5");
        EXPECT_EQ(status.code(), StatusCode::usage);
        EXPECT_EQ(status.message(), which + "has a row stride of " + std::to_string(stride) + " bytes, and a row has " +
                                        std::to_string((plane == 0 ? 8 : 4) * bytes));
      }
    }
    FrameView surface = frame;
    surface.planes[2] = nullptr;
    const SurfaceLayout pairs{.chroma_pairs = true};
    EXPECT_EQ(validate_planes(surface, pairs, "frame").message(),
              "plane 1 of the frame has a row stride of " + std::to_string(4 * bytes) + " bytes, and a row has " +
                  std::to_string(8 * bytes));
    surface.row_strides[1] = 8 * bytes;
    EXPECT_TRUE(validate_planes(surface, pairs, "frame").ok()) << "there is no third plane";
    FrameView grey = frame;
    grey.subsampling = Subsampling::grey;
    grey.planes = {memory};
    EXPECT_TRUE(validate_planes(grey, {}, "").ok()) << "planes that it does not have are not looked at";
  }
}

}  // namespace
}  // namespace acuity
