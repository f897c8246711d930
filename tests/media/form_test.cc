// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames in another form, held to the plainest arithmetic in double.
#include "media/form.h"

#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "colour/transfer.h"
#include "colour/yuv.h"

namespace acuity {
namespace {

constexpr int kWidth = 13, kHeight = 9;

VideoFormat format_of(const FrameForm& form) {
  VideoFormat format;
  format.width = kWidth;
  format.height = kHeight;
  format.subsampling = form.subsampling;
  format.depth = form.depth;
  format.full_range = form.full_range;
  format.matrix = form.matrix;
  format.siting = form.siting;
  return format;
}

// Y', Cb and Cr of a place, in fractions: light 0 .. 1, colour -0.5 .. 0.5.
using Scene = std::function<double(int plane, double x, double y)>;

struct Levels {
  double black, width, zero, chroma_width, most;
  explicit Levels(const FrameForm& form) {
    const double step = 1 << (form.depth - 8);
    most = (1 << form.depth) - 1;
    black = form.full_range ? 0 : 16 * step;
    width = form.full_range ? most : 219 * step;
    zero = 128 * step;
    chroma_width = form.full_range ? most : 224 * step;
  }
};

// Where a sample of a plane lies among the pixels.
std::pair<double, double> place(const FrameForm& form, int plane, int x, int y) {
  if (plane == 0 || form.subsampling == Subsampling::yuv444) return {x, y};
  const double across = 2 * x + (form.siting == Siting::centre ? 0.5 : 0);
  if (form.subsampling == Subsampling::yuv422) return {across, y};
  return {across, 2 * y + (form.siting == Siting::top_left ? 0 : 0.5)};
}

std::shared_ptr<VideoFrame> draw(const FrameForm& form, const Scene& scene) {
  auto frame = std::make_shared<VideoFrame>();
  const FrameShape shape = frame_format(format_of(form), form, {});
  const Levels levels(form);
  for (int plane = 0; plane < shape.planes_count(); ++plane) {
    for (int y = 0; y < shape.plane_height(plane); ++y) {
      for (int x = 0; x < shape.plane_width(plane); ++x) {
        const auto [across, down] = place(form, plane, x, y);
        const double value = scene(plane, across, down);
        const double code =
            plane == 0 ? levels.black + levels.width * value : levels.zero + levels.chroma_width * value;
        const auto sample = static_cast<uint16_t>(std::clamp(std::floor(code + 0.5), 0.0, levels.most));
        frame->samples.push_back(static_cast<uint8_t>(sample & 255));
        if (form.depth > 8) frame->samples.push_back(static_cast<uint8_t>(sample >> 8));
      }
    }
  }
  return frame;
}

int sample(const FrameView& view, int plane, int x, int y) {
  const std::byte* row = view.planes[static_cast<size_t>(plane)] + y * view.row_strides[static_cast<size_t>(plane)];
  if (view.depth == 8) return static_cast<int>(row[x]);
  uint16_t value;
  std::memcpy(&value, row + 2 * x, sizeof value);
  return value;
}

// The largest difference from the same scene drawn in the new form, in steps of it.
double error(const FrameForm& from, const FrameForm& to, const Scene& scene, int plane) {
  static const Threads threads(2);
  const Result<FrameView> view = FormConverter(format_of(from), to, {})(draw(from, scene), threads);
  EXPECT_TRUE(view.ok()) << view.status().message();
  const std::shared_ptr<VideoFrame> expected = draw(to, scene);
  FrameView drawn = *view;
  const std::byte* data = reinterpret_cast<const std::byte*>(expected->samples.data());
  for (int p = 0; p < drawn.planes_count(); ++p) {
    drawn.planes[static_cast<size_t>(p)] = data;
    data += drawn.row_strides[static_cast<size_t>(p)] * drawn.plane_height(p);
  }
  double worst = 0;
  // At the edges colour samples have no neighbours, and a slope is not continued.
  const int margin = plane == 0 ? 0 : 2;
  for (int y = margin; y < drawn.plane_height(plane) - margin; ++y) {
    for (int x = margin; x < drawn.plane_width(plane) - margin; ++x) {
      worst = std::max<double>(worst, std::abs(sample(*view, plane, x, y) - sample(drawn, plane, x, y)));
    }
  }
  return worst;
}

// Straight slopes, which linear filters keep.
double slopes(int plane, double x, double y) {
  if (plane == 0) return 0.1 + 0.05 * x + 0.02 * y;
  return plane == 1 ? -0.3 + 0.04 * x - 0.02 * y : 0.2 - 0.03 * x + 0.02 * y;
}

TEST(Form, EveryFormOfASceneIsTheSameScene) {
  std::vector<FrameForm> forms;
  for (const Subsampling subsampling : {Subsampling::yuv420, Subsampling::yuv422, Subsampling::yuv444}) {
    for (const int depth : {8, 10, 16}) {
      for (const bool full : {false, true}) {
        for (const Siting siting : {Siting::left, Siting::centre, Siting::top_left}) {
          forms.push_back({subsampling, depth, full, Matrix::bt709, siting});
        }
      }
    }
  }
  for (const FrameForm& from : forms) {
    for (const FrameForm& to : forms) {
      // The samples were rounded to steps of the old form, and are to steps of the new one: half a step of each.
      for (int plane = 0; plane < 3; ++plane) {
        const Levels before(from), after(to);
        const double old_step = plane == 0 ? after.width / before.width : after.chroma_width / before.chroma_width;
        EXPECT_LE(error(from, to, slopes, plane), std::ceil(0.5 * old_step + 0.5))
            << "plane " << plane << ": " << from.depth << name_of(from.subsampling) << name_of(from.siting)
            << from.full_range << " to " << to.depth << name_of(to.subsampling) << name_of(to.siting) << to.full_range;
      }
    }
  }
}

TEST(Form, RangeAndDepthHaveOneRounding) {
  const auto converted = [](const FrameForm& from, const FrameForm& to, int code) {
    auto frame = std::make_shared<VideoFrame>();
    frame->samples.assign(kWidth * kHeight * (from.depth > 8 ? 2 : 1), 0);
    for (size_t i = 0; i < kWidth * kHeight; ++i) {
      frame->samples[i * (from.depth > 8 ? 2 : 1)] = static_cast<uint8_t>(code & 255);
      if (from.depth > 8) frame->samples[2 * i + 1] = static_cast<uint8_t>(code >> 8);
    }
    return sample(*FormConverter(format_of(from), to, {})(frame, Threads(1)), 0, 3, 3);
  };
  const FrameForm limited{.subsampling = Subsampling::grey}, full{.subsampling = Subsampling::grey, .full_range = true};
  const FrameForm ten{.subsampling = Subsampling::grey, .depth = 10};
  for (int code = 0; code < 256; ++code) {
    const double light = std::clamp((code - 16) / 219.0, 0.0, 1.0);
    EXPECT_EQ(converted(limited, full, code), static_cast<int>(std::floor(255 * light + 0.5))) << code;
    EXPECT_EQ(converted(full, limited, code), static_cast<int>(std::floor(16 + 219 * code / 255.0 + 0.5))) << code;
    EXPECT_EQ(converted(limited, ten, code), 4 * code);
  }
  for (int code = 0; code < 1024; ++code) EXPECT_EQ(converted(ten, limited, code), std::min((code + 2) / 4, 255));
}

TEST(Form, AnotherMatrixKeepsTheColours) {
  // A scene of RGB slopes, seen through either matrix.
  const auto seen = [](Matrix matrix) -> Scene {
    return [matrix](int plane, double x, double y) {
      const double red = 0.2 + 0.04 * x, green = 0.7 - 0.03 * x + 0.02 * y, blue = 0.3 + 0.05 * y;
      const MatrixWeights weights = weights_of(matrix);
      const double luma = weights.red * red + (1 - weights.red - weights.blue) * green + weights.blue * blue;
      return plane == 0   ? luma
             : plane == 1 ? (blue - luma) / (2 * (1 - weights.blue))
                          : (red - luma) / (2 * (1 - weights.red));
    };
  };
  for (const Subsampling subsampling : {Subsampling::yuv420, Subsampling::yuv444}) {
    for (const auto& [before, after] :
         {std::pair(Matrix::bt601, Matrix::bt709), std::pair(Matrix::bt709, Matrix::bt2020)}) {
      const FrameForm from{subsampling, 10, false, before, Siting::left};
      const FrameForm to{Subsampling::yuv420, 8, true, after, Siting::left};
      const Result<FrameView> view = FormConverter(format_of(from), to, {})(draw(from, seen(before)), Threads(2));
      ASSERT_TRUE(view.ok());
      const Levels levels(to);
      for (int plane = 0; plane < 3; ++plane) {
        for (int y = 1; y < view->plane_height(plane) - 1; ++y) {
          for (int x = 1; x < view->plane_width(plane) - 1; ++x) {
            const auto [across, down] = place(to, plane, x, y);
            const double value = seen(after)(plane, across, down);
            const double code =
                plane == 0 ? levels.black + levels.width * value : levels.zero + levels.chroma_width * value;
            // Half a step, and what is left of half a step of 10 bits in each of three planes.
            EXPECT_NEAR(sample(*view, plane, x, y), code, 0.5 + 0.4) << plane << " " << x << " " << y;
          }
        }
      }
    }
  }
}

VideoFormat picture_format(const Picture& picture) {
  VideoFormat format;
  format.width = picture.view.width;
  format.height = picture.view.height;
  format.rgb = true;
  format.colour = picture.view.colour;
  return format;
}

Picture flat_picture(double red, double green, double blue, SampleType type) {
  Picture picture;
  const size_t count = kWidth * kHeight;
  const size_t bytes = type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4;
  picture.pixels = std::shared_ptr<std::byte[]>(new std::byte[3 * count * bytes]);
  for (size_t i = 0; i < 3 * count; ++i) {
    const double value = i % 3 == 0 ? red : i % 3 == 1 ? green : blue;
    std::byte* to = picture.pixels.get() + i * bytes;
    const auto code = static_cast<uint16_t>(std::lround(value * (type == SampleType::u8 ? 255 : 65535)));
    const auto real = static_cast<float>(value);
    std::memcpy(to, type == SampleType::f32 ? static_cast<const void*>(&real) : &code, bytes);
  }
  picture.view = interleaved_view(picture.pixels.get(), kWidth, kHeight, Channels::rgb, type);
  return picture;
}

std::array<int, 3> pixel(const Picture& picture, const FrameForm& form, const Colour& colour) {
  auto frame = std::make_shared<VideoFrame>();
  frame->picture = std::make_shared<Picture>(picture);
  const Result<FrameView> view = FormConverter(picture_format(picture), form, colour)(frame, Threads(1));
  EXPECT_TRUE(view.ok()) << view.status().message();
  return {sample(*view, 0, 5, 5), sample(*view, 1, 2, 2), sample(*view, 2, 2, 2)};
}

TEST(Form, PicturesOfAllTypesBecomeTheSameYcbcr) {
  for (const int code : {0, 17, 128, 201, 255}) {
    const double value = code / 255.0;
    for (const FrameForm& form : {FrameForm{Subsampling::yuv444, 8, false, Matrix::bt709, Siting::left},
                                  FrameForm{Subsampling::yuv420, 10, true, Matrix::bt601, Siting::centre}}) {
      const std::array<int, 3> bytes = pixel(flat_picture(value, 0.2, 0.6, SampleType::u8), form, {});
      EXPECT_EQ(bytes, pixel(flat_picture(value, 0.2, 0.6, SampleType::u16), form, {}));
      EXPECT_EQ(bytes, pixel(flat_picture(value, 0.2, 0.6, SampleType::f32), form, {}));
      const MatrixWeights weights = weights_of(form.matrix);
      const double luma = weights.red * value + (1 - weights.red - weights.blue) * 0.2 + weights.blue * 0.6;
      const Levels levels(form);
      EXPECT_EQ(bytes[0], static_cast<int>(std::floor(levels.black + levels.width * luma + 0.5)));
      EXPECT_EQ(bytes[2], static_cast<int>(std::floor(
                              levels.zero + levels.chroma_width * (value - luma) / (2 * (1 - weights.red)) + 0.5)));
    }
  }
}

TEST(Form, RgbStaysAsItIs) {
  for (int code = 0; code < 256; ++code) {
    const Picture picture = flat_picture(code / 255.0, 17 / 255.0, (255 - code) / 255.0, SampleType::u8);
    for (const auto& [depth, step] : {std::pair(8, 1), std::pair(16, 257)}) {
      const FrameForm form{Subsampling::yuv444, depth, true, Matrix::rgb, Siting::left};
      EXPECT_EQ(pixel(picture, form, {}), (std::array<int, 3>{17 * step, (255 - code) * step, code * step}));
    }
  }
}

TEST(Form, PicturesGoThroughTheirColours) {
  const FrameForm form{.subsampling = Subsampling::yuv444, .depth = 16, .full_range = true};
  Picture linear = flat_picture(0.2, 0.2, 0.2, SampleType::f32);
  linear.view.colour.transfer = Transfer::linear;
  EXPECT_NEAR(pixel(linear, form, {})[0], 65535 * linear_to_srgb(0.2), 1);
  EXPECT_NEAR(pixel(linear, form, {.transfer = Transfer::bt1886})[0], 65535 * std::pow(0.2, 1 / 2.4), 1);
  EXPECT_NEAR(pixel(linear, form, linear.view.colour)[0], 65535 * 0.2, 1);
  // The red of BT.709 in BT.2020, as BT.2087 has it.
  Picture red = flat_picture(1, 0, 0, SampleType::u8);
  const FrameForm wide{.subsampling = Subsampling::yuv444, .depth = 16, .full_range = true, .matrix = Matrix::bt2020};
  const Colour bt2020{.transfer = Transfer::linear, .primaries = Primaries::bt2020};
  EXPECT_NEAR(pixel(red, wide, bt2020)[0], 65535 * (0.2627 * 0.6274 + 0.6780 * 0.0691 + 0.0593 * 0.0164), 10);
}

TEST(Form, TransparencyIsRefused) {
  Picture picture = flat_picture(0.5, 0.5, 0.5, SampleType::u8);
  const std::vector<std::byte> half(4 * kWidth * kHeight, std::byte{128});
  picture.view = interleaved_view(half.data(), kWidth, kHeight, Channels::rgba, SampleType::u8);
  auto frame = std::make_shared<VideoFrame>();
  frame->picture = std::make_shared<Picture>(picture);
  const Result<FrameView> view = FormConverter(picture_format(picture), {}, {})(frame, Threads(1));
  EXPECT_NE(view.status().message().find("transparency"), std::string::npos);
}

TEST(Form, WhatHasTheFormAlreadyIsNotCopied) {
  const FrameForm form;
  const std::shared_ptr<VideoFrame> frame = draw(form, slopes);
  const Result<FrameView> view = FormConverter(format_of(form), form, {})(frame, Threads(1));
  EXPECT_EQ(view->planes[0], reinterpret_cast<const std::byte*>(frame->samples.data()));
}

}  // namespace
}  // namespace acuity
