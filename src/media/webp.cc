// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "base/try.h"
#include "media/decoder.h"

namespace acuity {
namespace {

struct DeleteDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DeleteDemuxer>;

const char* meaning(VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its data is invalid";
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "it ends too early";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "libwebp ran out of memory";
    default:
      return "libwebp refuses it";
  }
}

// Empty when there is no such chunk.
Bytes find_chunk(const Demuxer& demuxer, const char* type) {
  WebPChunkIterator iterator;
  if (WebPDemuxGetChunk(demuxer.get(), type, 1, &iterator) == 0) return {};
  const Bytes chunk(iterator.chunk.bytes, iterator.chunk.size);  // a part of the file, so it outlives the iterator
  WebPDemuxReleaseChunkIterator(&iterator);
  return chunk;
}

struct DeleteAnimation {
  void operator()(WebPAnimDecoder* animation) const { WebPAnimDecoderDelete(animation); }
};

class WebpFrames : public PictureFrames {
 public:
  explicit WebpFrames(const EncodedFile& encoded)
      : encoded_(encoded), data_{encoded.bytes.data(), encoded.bytes.size()} {}

  Status open() {
    demuxer_.reset(WebPDemux(&data_));
    if (!demuxer_) return damaged(encoded_, "WebP", "its chunks are incomplete or out of order");
    animated_ = (WebPDemuxGetI(demuxer_.get(), WEBP_FF_FORMAT_FLAGS) & ANIMATION_FLAG) != 0;
    if (!animated_) return {};
    WebPIterator frame;
    for (int more = WebPDemuxGetFrame(demuxer_.get(), 1, &frame); more != 0; more = WebPDemuxNextFrame(&frame)) {
      durations_.push_back(frame.duration / 1000.0);
    }
    WebPDemuxReleaseIterator(&frame);
    if (durations_.empty()) return damaged(encoded_, "WebP", "its animation has no frames");
    count_ = static_cast<int64_t>(durations_.size());
    return {};
  }

  Result<Picture> read(int64_t index) override {
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, animated_ ? read_frame_of_animation(index) : read_still());
    const Bytes profile = find_chunk(demuxer_, "ICCP");
    if (profile.empty()) {
      assume_srgb(picture);
    } else {
      ACUITY_TRY(set_icc(encoded_, picture, profile));
    }
    ACUITY_TRY(apply_exif(encoded_, picture, exif_orientation(find_chunk(demuxer_, "EXIF"))));
    return picture;
  }

 private:
  Result<Picture> read_still() {
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0)
      return Status(StatusCode::internal, "libwebp has another version than the one this build uses");
    if (const VP8StatusCode code = WebPGetFeatures(data_.bytes, data_.size, &config.input); code != VP8_STATUS_OK) {
      return damaged(encoded_, "WebP", meaning(code));
    }
    Shape shape;
    shape.width = config.input.width;
    shape.height = config.input.height;
    shape.channels = config.input.has_alpha != 0 ? Channels::rgba : Channels::rgb;
    ACUITY_TRY(check_size(encoded_, shape.width, shape.height));
    // The lossless decoder keeps four bytes a pixel of its own.
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, make_picture(encoded_, "WebP", shape, 4 * shape.width * shape.height));

    config.output.colorspace = config.input.has_alpha != 0 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = reinterpret_cast<uint8_t*>(picture.pixels.get());
    config.output.u.RGBA.stride = static_cast<int>(picture.view.row_stride);
    config.output.u.RGBA.size = static_cast<size_t>(picture.view.row_stride) * static_cast<size_t>(picture.view.height);
    const VP8StatusCode code = WebPDecode(data_.bytes, data_.size, &config);
    WebPFreeDecBuffer(&config.output);
    if (code != VP8_STATUS_OK) return damaged(encoded_, "WebP", meaning(code));
    return picture;
  }

  // libwebp puts the frames on the canvas.
  Result<Picture> read_frame_of_animation(int64_t index) {
    Shape shape;
    shape.width = WebPDemuxGetI(demuxer_.get(), WEBP_FF_CANVAS_WIDTH);
    shape.height = WebPDemuxGetI(demuxer_.get(), WEBP_FF_CANVAS_HEIGHT);
    shape.channels = Channels::rgba;
    ACUITY_TRY(check_size(encoded_, shape.width, shape.height));
    // Beside the picture there are two canvases and a decoder's own memory.
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, make_picture(encoded_, "WebP", shape, 12 * shape.width * shape.height));
    if (!animation_) {
      WebPAnimDecoderOptions options;
      if (WebPAnimDecoderOptionsInit(&options) == 0)
        return Status(StatusCode::internal, "libwebp has another version than the one this build uses");
      options.color_mode = MODE_RGBA;
      animation_.reset(WebPAnimDecoderNew(&data_, &options));
    }
    uint8_t* pixels = nullptr;
    for (int time = 0; next_ <= index; ++next_) {
      if (!animation_ || WebPAnimDecoderGetNext(animation_.get(), &pixels, &time) == 0) {
        return damaged(encoded_, "WebP", fmt::format("frame {} cannot be decoded", next_));
      }
    }
    std::memcpy(picture.pixels.get(), pixels, static_cast<size_t>(picture.view.row_stride * shape.height));
    return picture;
  }

  EncodedFile encoded_;
  WebPData data_;
  Demuxer demuxer_;
  bool animated_ = false;
  std::unique_ptr<WebPAnimDecoder, DeleteAnimation> animation_;
  int64_t next_ = 0;
};

}  // namespace

OpenedFrames open_webp(const EncodedFile& encoded) {
  auto frames = std::make_unique<WebpFrames>(encoded);
  ACUITY_TRY(frames->open());
  return std::unique_ptr<PictureFrames>(std::move(frames));
}

}  // namespace acuity
