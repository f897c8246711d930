// SPDX-License-Identifier: BSD-2-Clause-Patent
// Writes videos for tests with libav's encoders.
#ifndef ACUITY_TESTS_SUPPORT_ENCODE_VIDEO_H
#define ACUITY_TESTS_SUPPORT_ENCODE_VIDEO_H

#include <functional>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
}

namespace acuity::test {

struct Encoding {
  std::string codec = "ffv1";
  std::string container = "matroska";
  AVPixelFormat pixels = AV_PIX_FMT_YUV420P;
  int width = 64;
  int height = 48;
  std::vector<int64_t> times = {0, 40, 80};          // ms, one a frame
  std::function<void(AVCodecContext&)> adjust = {};  // before the encoder is opened
  std::function<void(AVStream&)> describe = {};      // before the header is written
  int second = 0;                                    // a second stream, which has the first of these packets
};

/// Packed samples of each frame as libav lays them out without gaps; "" where something failed.
inline std::string encode_video(const Encoding& encoding, const std::vector<std::string>& frames) {
  AVFormatContext* container = nullptr;
  avformat_alloc_output_context2(&container, nullptr, encoding.container.c_str(), nullptr);
  const AVCodec* codec = avcodec_find_encoder_by_name(encoding.codec.c_str());
  if (container == nullptr || codec == nullptr) return "";
  AVCodecContext* encoder = avcodec_alloc_context3(codec);
  encoder->width = encoding.width;
  encoder->height = encoding.height;
  encoder->pix_fmt = encoding.pixels;
  encoder->time_base = {1, 1000};
  encoder->framerate = {25, 1};
  encoder->flags |= AV_CODEC_FLAG_BITEXACT;
  if (container->oformat->flags & AVFMT_GLOBALHEADER) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  if (encoding.adjust) encoding.adjust(*encoder);
  AVStream* stream = avformat_new_stream(container, codec);
  stream->time_base = encoder->time_base;
  bool good =
      avcodec_open2(encoder, codec, nullptr) >= 0 && avcodec_parameters_from_context(stream->codecpar, encoder) >= 0;
  stream->sample_aspect_ratio = encoder->sample_aspect_ratio;
  if (encoding.describe) encoding.describe(*stream);
  if (encoding.second > 0) {
    AVStream* second = avformat_new_stream(container, codec);
    second->time_base = stream->time_base;
    good = good && avcodec_parameters_copy(second->codecpar, stream->codecpar) >= 0;
  }
  good = good && avio_open_dyn_buf(&container->pb) >= 0 && avformat_write_header(container, nullptr) >= 0;
  int copied = 0;
  AVPacket* packet = av_packet_alloc();
  const auto drain = [&] {
    while (good && avcodec_receive_packet(encoder, packet) >= 0) {
      if (packet->duration == 0) packet->duration = av_rescale_q(40, {1, 1000}, encoder->time_base);
      av_packet_rescale_ts(packet, encoder->time_base, stream->time_base);
      packet->stream_index = 0;
      AVPacket* copy = copied < encoding.second ? av_packet_clone(packet) : nullptr;
      good = av_interleaved_write_frame(container, packet) >= 0;
      if (copy == nullptr) continue;
      ++copied;
      copy->stream_index = 1;
      good = good && av_interleaved_write_frame(container, copy) >= 0;
      av_packet_free(&copy);
    }
  };
  for (size_t i = 0; good && i < frames.size(); ++i) {
    AVFrame* frame = av_frame_alloc();
    frame->format = encoding.pixels;
    frame->width = encoding.width;
    frame->height = encoding.height;
    frame->pts = encoding.times[i];
    frame->color_range = encoder->color_range;
    frame->colorspace = encoder->colorspace;
    av_frame_get_buffer(frame, 0);
    uint8_t* planes[4];
    int strides[4];
    av_image_fill_arrays(planes, strides, reinterpret_cast<const uint8_t*>(frames[i].data()), encoding.pixels,
                         encoding.width, encoding.height, 1);
    av_image_copy(frame->data, frame->linesize, const_cast<const uint8_t**>(planes), strides, encoding.pixels,
                  encoding.width, encoding.height);
    good = avcodec_send_frame(encoder, frame) >= 0;
    av_frame_free(&frame);
    drain();
  }
  if (good) avcodec_send_frame(encoder, nullptr);
  drain();
  good = good && av_write_trailer(container) >= 0;
  uint8_t* bytes = nullptr;
  const int size = container->pb == nullptr ? 0 : avio_close_dyn_buf(container->pb, &bytes);
  std::string file = good ? std::string(reinterpret_cast<char*>(bytes), static_cast<size_t>(size)) : "";
  av_free(bytes);
  av_packet_free(&packet);
  avcodec_free_context(&encoder);
  avformat_free_context(container);
  return file;
}

}  // namespace acuity::test

#endif
