// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/image_copy.h"

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace acuity {
namespace {

constexpr int kWidth = 5, kHeight = 3;

// Samples 0, 1, 2, ... of a view that `arrange` changes, and those of its copy.
void expect_same_samples(Channels channels, const std::function<void(ImageView&)>& arrange) {
  std::vector<uint16_t> memory(1000);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint16_t>(i);
  ImageView view = interleaved_view(memory.data() + 500, kWidth, kHeight, channels, SampleType::u16);
  arrange(view);
  const Result<ImageCopy> copy = copy_image(view);
  ASSERT_TRUE(copy.ok());
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (size_t c = 0; c < static_cast<size_t>(view.channel_count()); ++c) {
        const auto at = [&](const ImageView& v) {
          uint16_t sample = 0;
          std::memcpy(&sample, v.planes[c] + y * v.row_stride + x * v.pixel_stride, sizeof(sample));
          return sample;
        };
        ASSERT_EQ(at(copy->view), at(view)) << "column " << x << ", row " << y << ", channel " << c;
      }
    }
  }
}

TEST(ImageCopy, HoldsTheSamplesOfEveryLayout) {
  const auto as_it_is = [](ImageView&) {};
  const auto padded = [](ImageView& view) { view.row_stride += 14; };
  const auto bottom_up = [](ImageView& view) { view.row_stride = -view.row_stride; };
  const auto blue_first = [](ImageView& view) { std::swap(view.planes[0], view.planes[2]); };
  const auto spread = [](ImageView& view) { view.pixel_stride += 2, view.row_stride = view.pixel_stride * kWidth; };
  const auto planar = [](ImageView& view) {
    view.pixel_stride = 2, view.row_stride = 2 * kWidth;
    for (size_t c = 1; c < 3; ++c) view.planes[c] = view.planes[0] + c * 2 * kWidth * kHeight;
  };
  const auto planes_overlap = [](ImageView& view) { view.planes[1] = view.planes[2] = view.planes[0]; };
  for (const Channels channels : {Channels::rgb, Channels::rgba}) {
    for (const auto& arrange : std::vector<std::function<void(ImageView&)>>{as_it_is, padded, bottom_up, blue_first,
                                                                            spread, planes_overlap}) {
      expect_same_samples(channels, arrange);
    }
  }
  expect_same_samples(Channels::rgb, planar);
  expect_same_samples(Channels::grey, spread);
  expect_same_samples(Channels::grey, padded);
}

}  // namespace
}  // namespace acuity
