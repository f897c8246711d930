// SPDX-License-Identifier: BSD-2-Clause-Patent
// libavformat and libavcodec, loaded when a file needs them: with the two hundred libraries they bring along they would
// more than double what it takes to score a small picture.
#ifndef ACUITY_MEDIA_LIBAV_LIBRARY_H
#define ACUITY_MEDIA_LIBAV_LIBRARY_H

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include "acuity/status.h"

namespace acuity {

// LIBRARY, FUNCTION
#define ACUITY_LIBAV_FUNCTIONS(USE)           \
  USE(avformat, avformat_alloc_context)       \
  USE(avformat, avformat_open_input)          \
  USE(avformat, avformat_close_input)         \
  USE(avformat, avformat_find_stream_info)    \
  USE(avformat, avformat_get_class)           \
  USE(avformat, av_find_best_stream)          \
  USE(avformat, av_guess_sample_aspect_ratio) \
  USE(avformat, av_stream_get_side_data)      \
  USE(avformat, av_guess_frame_rate)          \
  USE(avformat, av_probe_input_format3)       \
  USE(avformat, av_read_frame)                \
  USE(avformat, avio_alloc_context)           \
  USE(avformat, avio_context_free)            \
  USE(avcodec, avcodec_alloc_context3)        \
  USE(avcodec, avcodec_find_decoder)          \
  USE(avcodec, avcodec_free_context)          \
  USE(avcodec, avcodec_get_class)             \
  USE(avcodec, avcodec_get_hw_config)         \
  USE(avcodec, avcodec_get_name)              \
  USE(avcodec, avcodec_open2)                 \
  USE(avcodec, avcodec_parameters_to_context) \
  USE(avcodec, avcodec_receive_frame)         \
  USE(avcodec, avcodec_send_packet)           \
  USE(avcodec, av_codec_is_decoder)           \
  USE(avcodec, av_codec_iterate)              \
  USE(avcodec, av_new_packet)                 \
  USE(avcodec, av_packet_alloc)               \
  USE(avcodec, av_packet_free)                \
  USE(avcodec, av_packet_unref)               \
  USE(avutil, av_buffer_ref)                  \
  USE(avutil, av_buffer_unref)                \
  USE(avutil, av_frame_alloc)                 \
  USE(avutil, av_frame_free)                  \
  USE(avutil, av_frame_get_side_data)         \
  USE(avutil, av_frame_unref)                 \
  USE(avutil, av_get_pix_fmt_name)            \
  USE(avutil, av_hwdevice_ctx_alloc)          \
  USE(avutil, av_hwdevice_ctx_init)           \
  USE(avutil, av_log_set_callback)            \
  USE(avutil, av_malloc)                      \
  USE(avutil, av_mallocz)                     \
  USE(avutil, av_freep)                       \
  USE(avutil, av_pix_fmt_desc_get)            \
  USE(avutil, av_strerror)                    \
  USE(swscale, sws_alloc_context)             \
  USE(swscale, sws_init_context)              \
  USE(swscale, sws_freeContext)               \
  USE(swscale, sws_scale)                     \
  USE(avutil, av_opt_set_int)

struct Libav {
#define ACUITY_DECLARE(library, function) decltype(&::function) function = nullptr;
  ACUITY_LIBAV_FUNCTIONS(ACUITY_DECLARE)
#undef ACUITY_DECLARE
};

/// The functions, or why there are none.
Result<const Libav*> libav();

}  // namespace acuity

#endif
