// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <libheif/heif.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

heif_error on_write(heif_context*, const void* data, size_t size, void* file) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  static_cast<File*>(file)->assign(bytes, bytes + size);
  return {heif_error_Ok, heif_suberror_Unspecified, "written"};
}

}  // namespace

File encode_heic(const Drawing& drawing, const HeicOptions& options) {
  const bool alpha = drawing.channels == 4;
  heif_image* image = nullptr;
  heif_image_create(drawing.width, drawing.height, heif_colorspace_RGB,
                    alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, &image);
  heif_image_add_plane(image, heif_channel_interleaved, drawing.width, drawing.height, 8);
  int stride = 0;
  uint8_t* plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
  size_t i = 0;
  for (int y = 0; y < drawing.height; ++y) {
    for (int x = 0; x < drawing.width * drawing.channels; ++x)
      plane[y * stride + x] = static_cast<uint8_t>(drawing.samples[i++]);
  }
  if (!options.icc.empty()) heif_image_set_raw_color_profile(image, "prof", options.icc.data(), options.icc.size());

  heif_context* context = heif_context_alloc();
  heif_encoder* encoder = nullptr;
  heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder);
  heif_encoder_set_lossless(encoder, 1);
  heif_encoder_set_parameter_string(encoder, "chroma", "444");
  heif_encoder_set_parameter_string(encoder, "preset", "ultrafast");
  heif_encoder_set_parameter_string(encoder, "x265:info", "0");  // half a page about the encoder
  heif_encoding_options* encoding = heif_encoding_options_alloc();
  encoding->image_orientation = static_cast<heif_orientation>(options.turned);
  heif_image_handle* handle = nullptr;
  heif_context_encode_image(context, image, encoder, encoding, &handle);
  File file;
  heif_writer writer{1, on_write};
  heif_context_write(context, &writer, &file);
  heif_encoding_options_free(encoding);
  heif_image_handle_release(handle);
  heif_encoder_release(encoder);
  heif_context_free(context);
  heif_image_release(image);
  return file;
}

}  // namespace acuity::tests
