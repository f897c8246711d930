// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <memory>

#include <fmt/format.h>
#include <webp/decode.h>
#include <webp/demux.h>

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
      return "its data make no sense";
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

}  // namespace

Result<Picture> decode_webp(const Source& source) {
  const WebPData data{source.bytes.data(), source.bytes.size()};
  const Demuxer demuxer(WebPDemux(&data));
  if (!demuxer) return damaged(source, "WebP", "its chunks are incomplete or out of order");
  const uint32_t flags = WebPDemuxGetI(demuxer.get(), WEBP_FF_FORMAT_FLAGS);
  if ((flags & ANIMATION_FLAG) != 0) {
    return unsupported(source,
                       fmt::format("is an animation of {} frames", WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT)),
                       "extract the frame to compare");
  }

  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return Status(StatusCode::internal, "libwebp is of another version");
  if (const VP8StatusCode code = WebPGetFeatures(data.bytes, data.size, &config.input); code != VP8_STATUS_OK) {
    return damaged(source, "WebP", meaning(code));
  }
  Shape shape;
  shape.width = config.input.width;
  shape.height = config.input.height;
  shape.channels = config.input.has_alpha != 0 ? Channels::rgba : Channels::rgb;
  if (const Status status = check_size(source, shape.width, shape.height); !status.ok()) return status;
  // The lossless decoder keeps four bytes a pixel of its own.
  Result<Picture> picture = make_picture(source, "WebP", shape, 4 * shape.width * shape.height);
  if (!picture.ok()) return picture;

  config.output.colorspace = config.input.has_alpha != 0 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = reinterpret_cast<uint8_t*>(picture->pixels.get());
  config.output.u.RGBA.stride = static_cast<int>(picture->view.row_stride);
  config.output.u.RGBA.size = static_cast<size_t>(picture->view.row_stride) * static_cast<size_t>(picture->view.height);
  const VP8StatusCode code = WebPDecode(data.bytes, data.size, &config);
  WebPFreeDecBuffer(&config.output);
  if (code != VP8_STATUS_OK) return damaged(source, "WebP", meaning(code));

  const Bytes profile = find_chunk(demuxer, "ICCP");
  if (profile.empty()) {
    assume_srgb(*picture);
  } else if (const Status status = set_icc(source, *picture, profile); !status.ok()) {
    return status;
  }
  const int orientation = exif_orientation(find_chunk(demuxer, "EXIF"));
  if (const Status status = apply_exif(source, *picture, orientation); !status.ok()) return status;
  return picture;
}

}  // namespace acuity
