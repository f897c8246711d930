// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pictures.h"

#include <cstdio>
#include <limits>
#include <vector>

#include <ImfArray.h>
#include <ImfRgbaFile.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <zlib.h>

#include "cli/command.h"
#include "cli/selftest_pictures.h"

namespace acuity::test {
namespace {

std::string big_endian(unsigned long value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>((value >> shift) & 255);
  return text;
}

std::string chunk(const std::string& type_and_data) {
  const auto* bytes = reinterpret_cast<const Bytef*>(type_and_data.data());
  return big_endian(type_and_data.size() - 4) + type_and_data +
         big_endian(crc32(0, bytes, static_cast<uInt>(type_and_data.size())));
}

const std::string kSignature = "\x89PNG\r\n\x1a\n";

std::string header(int width, int height) {
  return chunk("IHDR" + big_endian(static_cast<unsigned>(width)) + big_endian(static_cast<unsigned>(height)) +
               std::string("\x08\x02\x00\x00\x00", 5));
}

// An sRGB picture.
std::string saved(const std::string& name, const cli::DrawnPicture& picture) {
  const size_t row = 3 * static_cast<size_t>(picture.width);
  std::string rows;
  for (size_t at = 0; at < picture.rgb.size(); at += row) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(picture.rgb.data()) + at, row);
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                     rows.size()),
            Z_OK);
  const std::string path = scratch(name);
  write_file(path, kSignature + header(picture.width, picture.height) + chunk(std::string("sRGB\0", 5)) +
                       chunk("IDAT" + packed.substr(0, size)) + chunk("IEND"));
  return path;
}

}  // namespace

std::string scene() { return saved("scene.png", cli::selftest_pairs()[0].reference); }
std::string noisy() { return saved("noisy.png", cli::selftest_pairs()[0].distorted); }
std::string blurred() { return saved("blurred.png", cli::selftest_pairs()[1].distorted); }

std::string flat(int width, int height) {
  const size_t samples = static_cast<size_t>(width) * static_cast<size_t>(height) * 3;
  return saved(fmt::format("flat_{}x{}.png", width, height), {width, height, std::vector<uint8_t>(samples, 128)});
}

std::string png_declaring(unsigned width, unsigned height) {
  const std::string path = scratch(fmt::format("declares_{}x{}.png", width, height));
  write_file(path,
             kSignature + header(static_cast<int>(width), static_cast<int>(height)) + chunk("IDATx") + chunk("IEND"));
  return path;
}

std::string png_in_linear_light(int width, int height) {
  std::string file = read_file(flat(width, height));
  // In place of the sRGB chunk, which stands behind the header: length, type, one byte and a check sum.
  const size_t at = file.find("sRGB") - 4;
  std::string chromaticities = "cHRM";
  for (const unsigned value : {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000})
    chromaticities += big_endian(value);
  file.replace(at, 13, chunk("gAMA" + big_endian(100000)) + chunk(chromaticities));
  const std::string path = scratch("linear.png");
  write_file(path, file);
  return path;
}

std::string exr_with_nan(int width, int height) {
  const std::string path = scratch("nan.exr");
  Imf::Array2D<Imf::Rgba> pixels(height, width);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) pixels[y][x] = Imf::Rgba(0.5f, 0.5f, 0.5f, 1);
  }
  pixels[height / 2][width / 2].g = std::numeric_limits<float>::quiet_NaN();
  Imf::RgbaOutputFile file(path.c_str(), width, height, Imf::WRITE_RGB);
  file.setFrameBuffer(&pixels[0][0], 1, static_cast<size_t>(width));
  file.writePixels(height);
  return path;
}

std::string jpeg_with_corrupt_icc(int width, int height) {
  const std::string path = scratch("corrupt_icc.jpg");
  std::FILE* file = std::fopen(path.c_str(), "wb");
  jpeg_error_mgr errors;
  jpeg_compress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  const std::vector<JOCTET> profile(600, 0x5a);
  jpeg_write_icc_profile(&jpeg, profile.data(), static_cast<unsigned>(profile.size()));
  std::vector<JSAMPLE> row(static_cast<size_t>(width) * 3, 128);
  JSAMPROW rows[] = {row.data()};
  while (jpeg.next_scanline < jpeg.image_height) jpeg_write_scanlines(&jpeg, rows, 1);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(file);
  return path;
}

}  // namespace acuity::test
