// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "media/encode.h"

namespace acuity::tests {

File encode_jpeg(const Drawing& drawing, const JpegOptions& options) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(drawing.width);
  info.image_height = static_cast<JDIMENSION>(drawing.height);
  info.input_components = drawing.channels;
  info.in_color_space = options.cmyk ? JCS_CMYK : drawing.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (options.keep_rgb) jpeg_set_colorspace(&info, JCS_RGB);
  if (options.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  if (!options.adobe) info.write_Adobe_marker = FALSE;
  jpeg_set_quality(&info, options.quality, TRUE);
  if (!options.subsample) {
    for (int i = 0; i < info.num_components; ++i) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  }
  info.arith_code = options.arithmetic ? TRUE : FALSE;
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (options.orientation != 0) {
    File marker;
    append(marker, std::string_view("Exif\0\0", 6));
    const File data = exif(options.orientation);
    marker.insert(marker.end(), data.begin(), data.end());
    jpeg_write_marker(&info, JPEG_APP0 + 1, marker.data(), static_cast<unsigned>(marker.size()));
  }
  if (!options.icc.empty())
    jpeg_write_icc_profile(&info, options.icc.data(), static_cast<unsigned>(options.icc.size()));
  const size_t row = static_cast<size_t>(drawing.width * drawing.channels);
  for (size_t y = 0; y < static_cast<size_t>(drawing.height); ++y) {
    File samples;
    for (size_t i = 0; i < row; ++i) {
      const auto sample = static_cast<uint8_t>(drawing.samples[y * row + i]);
      samples.push_back(options.cmyk && options.adobe ? static_cast<uint8_t>(255 - sample) : sample);
    }
    JSAMPROW pointer = samples.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  File file(memory, memory + size);
  std::free(memory);
  return file;
}

}  // namespace acuity::tests
