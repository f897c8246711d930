// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/crop.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/try.h"
#include "media/decoder.h"

namespace acuity {
namespace {

std::string text(const Crop& crop) { return fmt::format("{}x{}+{}+{}", crop.width, crop.height, crop.x, crop.y); }

Status check(const Crop& crop, int width, int height, std::string_view name) {
  if (int64_t{crop.x} + crop.width <= width && int64_t{crop.y} + crop.height <= height) return {};
  return Status(StatusCode::input,
                fmt::format("--crop {} is not inside '{}', which is {}x{} pixels", text(crop), name, width, height));
}

std::string describe(const Crop& crop, int width, int height) {
  return fmt::format("cropped to {} of {}x{}", text(crop), width, height);
}

// The smallest part around it that begins and ends where samples of colour do.
Crop aligned(const Crop& crop, const VideoFormat& format) {
  const bool narrow = format.subsampling == Subsampling::yuv420 || format.subsampling == Subsampling::yuv422;
  const bool low = format.subsampling == Subsampling::yuv420;
  const auto begin = [](int place, bool halved) { return halved ? place / 2 * 2 : place; };
  const auto end = [](int place, bool halved, int most) {
    return std::min(halved ? (place + 1) / 2 * 2 : place, most);
  };
  Crop result;
  result.x = begin(crop.x, narrow);
  result.y = begin(crop.y, low);
  result.width = end(crop.x + crop.width, narrow, format.width) - result.x;
  result.height = end(crop.y + crop.height, low, format.height) - result.y;
  return result;
}

class CroppedStream : public FrameStream {
 public:
  CroppedStream(std::unique_ptr<FrameStream> stream, const Crop& crop, std::string_view name)
      : stream_(std::move(stream)), crop_(crop), name_(name) {
    format_ = stream_->format();
    format_.width = crop.width;
    format_.height = crop.height;
    format_.found.push_back(describe(crop, stream_->format().width, stream_->format().height));
  }

  Result<bool> next(VideoFrame& frame) override {
    const Result<bool> more = stream_->next(frame);
    if (!more.ok() || !*more) return more;
    if (frame.picture) {
      auto part = std::make_shared<Picture>(*frame.picture);
      ACUITY_TRY(crop_picture(*part, crop_, name_));
      frame.picture = std::move(part);
      return true;
    }
    std::swap(frame.samples, before_);
    frame.samples.resize(format_.frame_bytes());
    const VideoFormat& whole = stream_->format();
    const size_t bytes = format_.depth > 8 ? 2 : 1;
    const uint8_t* from = before_.data();
    uint8_t* to = frame.samples.data();
    const auto copy = [&](int stride, int rows, Crop part) {
      const auto row_bytes = static_cast<size_t>(part.width) * bytes;
      for (int y = 0; y < part.height; ++y, to += row_bytes) {
        const auto place = static_cast<size_t>(part.y + y) * static_cast<size_t>(stride) + static_cast<size_t>(part.x);
        std::copy_n(from + place * bytes, row_bytes, to);
      }
      from += static_cast<size_t>(stride) * static_cast<size_t>(rows) * bytes;
    };
    copy(whole.width, whole.height, crop_);
    if (format_.subsampling == Subsampling::grey) return true;
    const bool narrow = format_.subsampling != Subsampling::yuv444, low = format_.subsampling == Subsampling::yuv420;
    const Crop colour{format_.chroma_width(), format_.chroma_height(), narrow ? crop_.x / 2 : crop_.x,
                      low ? crop_.y / 2 : crop_.y};
    for (int plane = 0; plane < 2; ++plane) copy(whole.chroma_width(), whole.chroma_height(), colour);
    return true;
  }

 private:
  std::unique_ptr<FrameStream> stream_;
  Crop crop_;
  std::string name_;
  SampleBytes before_;
};

}  // namespace

Status crop_picture(Picture& picture, const Crop& crop, std::string_view name) {
  const int width = picture.view.width, height = picture.view.height;
  ACUITY_TRY(check(crop, width, height, name));
  acuity::crop(picture, crop.x, crop.y, crop.width, crop.height);
  drop_full_alpha(picture);  // what is transparent may lie outside
  picture.found.push_back(describe(crop, width, height));
  return {};
}

Result<std::unique_ptr<FrameStream>> with_crop(std::unique_ptr<FrameStream> stream, const Crop& crop,
                                               std::string_view name) {
  const VideoFormat& format = stream->format();
  ACUITY_TRY(check(crop, format.width, format.height, name));
  ACUITY_TRY(check_is_here(format, name, "--crop"));
  if (!format.rgb) {
    const Crop whole = aligned(crop, format);
    if (text(whole) != text(crop)) {
      return Status(StatusCode::input,
                    fmt::format("--crop {} cuts through the colour samples of '{}' ({}), each of which stands for {} "
                                "pixels: use --crop {}",
                                text(crop), name, name_of(format.subsampling),
                                format.subsampling == Subsampling::yuv420 ? "2x2" : "2x1", text(whole)));
    }
  }
  return std::unique_ptr<FrameStream>(std::make_unique<CroppedStream>(std::move(stream), crop, name));
}

}  // namespace acuity
