// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <openjpeg.h>

#include <cstring>

#include "media/encode.h"

namespace acuity::tests {
namespace {

struct Output {
  File file;
  size_t at = 0;
};

OPJ_SIZE_T on_write(void* from, OPJ_SIZE_T size, void* data) {
  auto* output = static_cast<Output*>(data);
  output->file.resize(std::max(output->file.size(), output->at + size));
  std::memcpy(output->file.data() + output->at, from, size);
  output->at += size;
  return size;
}

OPJ_BOOL on_seek(OPJ_OFF_T place, void* data) {
  static_cast<Output*>(data)->at = static_cast<size_t>(place);
  return OPJ_TRUE;
}

OPJ_OFF_T on_skip(OPJ_OFF_T size, void* data) {
  static_cast<Output*>(data)->at += static_cast<size_t>(size);
  return size;
}

}  // namespace

File encode_jpeg2000(const Drawing& drawing, const Jpeg2000Options& options) {
  const auto channels = static_cast<uint32_t>(drawing.channels);
  const auto width = static_cast<uint32_t>(drawing.width), height = static_cast<uint32_t>(drawing.height);
  std::vector<opj_image_cmptparm_t> parts(channels);
  for (uint32_t c = 0; c < channels; ++c) {
    const bool halved = c == 1 || c == 2;
    parts[c].dx = halved && options.halved > 0 ? 2 : 1;
    parts[c].dy = halved && options.halved > 1 ? 2 : 1;
    parts[c].w = (width + parts[c].dx - 1) / parts[c].dx;
    parts[c].h = (height + parts[c].dy - 1) / parts[c].dy;
    parts[c].prec = static_cast<uint32_t>(drawing.bits);
    parts[c].sgnd = static_cast<uint32_t>(options.signed_samples);
  }
  opj_image_t* image = opj_image_create(channels, parts.data(),
                                        options.sycc   ? OPJ_CLRSPC_SYCC
                                        : channels < 3 ? OPJ_CLRSPC_GRAY
                                                       : OPJ_CLRSPC_SRGB);
  image->x1 = width;
  image->y1 = height;
  for (uint32_t c = 0; c < channels; ++c) {
    opj_image_comp_t& part = image->comps[c];
    for (uint32_t y = 0; y < part.h; ++y) {
      for (uint32_t x = 0; x < part.w; ++x) {
        part.data[y * part.w + x] = drawing.samples[(y * part.dy * width + x * part.dx) * channels + c];
      }
    }
  }
  if (channels % 2 == 0 && options.alpha) image->comps[channels - 1].alpha = 1;

  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.numresolution = 2;
  parameters.tcp_mct = channels >= 3 && options.halved == 0 && !options.sycc ? 1 : 0;
  parameters.irreversible = options.lossy ? 1 : 0;
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  Output output;
  opj_codec_t* codec = opj_create_compress(options.container ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_stream_t* stream = opj_stream_create(size_t{1} << 16, OPJ_FALSE);
  opj_stream_set_user_data(stream, &output, nullptr);
  opj_stream_set_write_function(stream, on_write);
  opj_stream_set_seek_function(stream, on_seek);
  opj_stream_set_skip_function(stream, on_skip);
  const bool good = opj_setup_encoder(codec, &parameters, image) && opj_start_compress(codec, image, stream) &&
                    opj_encode(codec, stream) && opj_end_compress(codec, stream);
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return good ? output.file : File();
}

}  // namespace acuity::tests
