// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/sample_files.h"

#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

namespace acuity::cli {
namespace {

std::vector<uint8_t> pnm_file(const std::vector<uint8_t>& samples, int side) {
  const std::string header = fmt::format("P6\n{} {}\n255\n", side, side);
  std::vector<uint8_t> file(header.begin(), header.end());
  file.insert(file.end(), samples.begin(), samples.end());
  return file;
}

std::vector<uint8_t> png_file(const std::vector<uint8_t>& samples, int side) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = static_cast<png_uint_32>(side);
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> file(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = file.size();
  if (png_image_write_to_memory(&image, file.data(), &size, 0, samples.data(), 0, nullptr) == 0) return {};
  file.resize(size);
  return file;
}

// libjpeg reports errors by a long jump, over nothing that has to be destroyed.
struct JpegWriter {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf jump;
  unsigned char* bytes;
  unsigned long size;  // the type of jpeg_mem_dest
};

bool write_jpeg(JpegWriter& writer, const uint8_t* samples, int side) {
  jpeg_compress_struct& info = writer.info;
  info.err = jpeg_std_error(&writer.errors);
  info.client_data = &writer;
  writer.errors.error_exit = [](j_common_ptr common) {
    std::longjmp(static_cast<JpegWriter*>(common->client_data)->jump, 1);
  };
  writer.errors.output_message = [](j_common_ptr) {};
  if (setjmp(writer.jump) != 0) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &writer.bytes, &writer.size);
  info.image_width = info.image_height = static_cast<JDIMENSION>(side);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 85, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(samples + size_t{info.next_scanline} * static_cast<size_t>(side) * 3);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

std::vector<uint8_t> jpeg_file(const std::vector<uint8_t>& samples, int side) {
  JpegWriter writer{};
  const bool is_written = write_jpeg(writer, samples.data(), side);
  std::vector<uint8_t> file;
  if (is_written) file.assign(writer.bytes, writer.bytes + writer.size);
  jpeg_destroy_compress(&writer.info);
  std::free(writer.bytes);
  return file;
}

std::vector<uint8_t> webp_file(const std::vector<uint8_t>& samples, int side) {
  WebPConfig config;
  WebPPicture picture;
  if (WebPConfigPreset(&config, WEBP_PRESET_PHOTO, 80) == 0 || WebPPictureInit(&picture) == 0) return {};
  config.method = 0;  // the fastest
  picture.width = picture.height = side;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  const bool is_written =
      WebPPictureImportRGB(&picture, samples.data(), side * 3) != 0 && WebPEncode(&config, &picture) != 0;
  std::vector<uint8_t> file;
  if (is_written) file.assign(writer.mem, writer.mem + writer.size);
  WebPPictureFree(&picture);
  WebPMemoryWriterClear(&writer);
  return file;
}

constexpr std::array kFormats{SampleFormat{"JPEG", jpeg_file}, SampleFormat{"PNG", png_file},
                              SampleFormat{"WebP", webp_file}, SampleFormat{"PNM", pnm_file}};

}  // namespace

// Waves of several lengths and grain: at a quality of 85 a JPEG file of it has some 1.5 bits per pixel.
std::vector<uint8_t> sample_picture(int side) {
  std::vector<double> slow, fast;
  for (int i = 0; i < side; ++i) {
    slow.push_back(std::cos(i * 0.017));
    fast.push_back(std::sin(i * 0.31));
  }
  std::vector<uint8_t> samples;
  samples.reserve(static_cast<size_t>(side) * static_cast<size_t>(side) * 3);
  uint32_t state = 1;
  for (int y = 0; y < side; ++y) {
    const double slow_height = 40 * std::sin(y * 0.011), fast_height = 30 * std::cos(y * 0.23);
    for (size_t x = 0; x < slow.size(); ++x) {
      state = state * 1664525 + 1013904223;
      const double wave = slow_height * slow[x] + fast_height * fast[x];
      const double grain = static_cast<double>(state >> 28);
      for (const double share : {1.0, 0.8, 0.5}) {
        samples.push_back(static_cast<uint8_t>(100 + share * wave + grain));
      }
    }
  }
  return samples;
}

std::span<const SampleFormat> sample_formats() { return kFormats; }

}  // namespace acuity::cli
