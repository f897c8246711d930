// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <bit>

#include <png.h>
#include <zlib.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

void write(png_structp png, png_bytep data, size_t size) {
  auto* file = static_cast<File*>(png_get_io_ptr(png));
  file->insert(file->end(), data, data + size);
}

int colour_type(const Drawing& drawing, const PngOptions& options) {
  if (!options.palette.empty()) return PNG_COLOR_TYPE_PALETTE;
  constexpr int kTypes[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  return kTypes[drawing.channels];
}

constexpr size_t kAfterHeader = 8 + 12 + 13;

File chunk_of(std::string_view type, const File& data) {
  File chunk;
  append_big_endian(chunk, data.size(), 4);
  append(chunk, type);
  chunk.insert(chunk.end(), data.begin(), data.end());
  const uLong sum = crc32(crc32(0, nullptr, 0), chunk.data() + 4, static_cast<uInt>(chunk.size() - 4));
  append_big_endian(chunk, sum, 4);
  return chunk;
}

}  // namespace

File encode_png(const Drawing& drawing, const PngOptions& options) {
  File file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, write, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(drawing.width), static_cast<png_uint_32>(drawing.height),
               drawing.bits, colour_type(drawing, options),
               options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!options.palette.empty()) {
    std::vector<png_color> colours;
    for (size_t i = 0; i + 2 < options.palette.size(); i += 3) {
      colours.push_back({options.palette[i], options.palette[i + 1], options.palette[i + 2]});
    }
    png_set_PLTE(png, info, colours.data(), static_cast<int>(colours.size()));
    if (!options.palette_alpha.empty()) {
      png_set_tRNS(png, info, options.palette_alpha.data(), static_cast<int>(options.palette_alpha.size()), nullptr);
    }
  }
  if (options.transparent) {
    const std::vector<uint16_t>& colour = *options.transparent;
    png_color_16 value{};
    value.gray = colour[0];
    if (colour.size() == 3) value = {0, colour[0], colour[1], colour[2], 0};
    png_set_tRNS(png, info, nullptr, 0, &value);
  }
  png_write_info(png, info);
  const size_t row = static_cast<size_t>(drawing.width * drawing.channels);
  std::vector<File> rows(static_cast<size_t>(drawing.height));
  std::vector<png_bytep> pointers;
  if (drawing.bits < 8) png_set_packing(png);
  for (size_t y = 0; y < rows.size(); ++y) {
    for (size_t i = 0; i < row; ++i) {
      append_big_endian(rows[y], drawing.samples[y * row + i], drawing.bits == 16 ? 2 : 1);
    }
    pointers.push_back(rows[y].data());
  }
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

File with_chunk(const File& png, std::string_view type, const File& data) {
  const File chunk = chunk_of(type, data);
  File file = png;
  file.insert(file.begin() + kAfterHeader, chunk.begin(), chunk.end());
  return file;
}

File encode_png_animation(const std::vector<PngFrameOptions>& frames, bool hidden, const PngOptions& options) {
  const File first = encode_png(frames.front().drawing, options);
  File file(first.begin(), first.begin() + kAfterHeader);
  const auto add = [&](std::string_view type, const File& data) {
    const File chunk = chunk_of(type, data);
    file.insert(file.end(), chunk.begin(), chunk.end());
  };
  File control;
  append_big_endian(control, frames.size(), 4);
  append_big_endian(control, 0, 4);
  add("acTL", control);
  uint32_t sequence = 0;
  for (size_t i = 0; i < frames.size() + (hidden ? 1 : 0); ++i) {
    const bool shown = !hidden || i > 0;
    const PngFrameOptions& frame = frames[hidden && i > 0 ? i - 1 : i];
    const File png = encode_png(frame.drawing, options);
    File place;
    append_big_endian(place, sequence, 4);
    for (const uint32_t value :
         {static_cast<uint32_t>(frame.drawing.width), static_cast<uint32_t>(frame.drawing.height), frame.x, frame.y}) {
      append_big_endian(place, value, 4);
    }
    append_big_endian(place, 1, 2);
    append_big_endian(place, 4, 2);
    place.push_back(frame.disposal);
    place.push_back(frame.blend);
    bool placed = !shown;
    for (size_t at = kAfterHeader; at + 12 <= png.size();) {
      const size_t length = size_t{png[at]} << 24 | size_t{png[at + 1]} << 16 | size_t{png[at + 2]} << 8 | png[at + 3];
      const std::string_view type(reinterpret_cast<const char*>(&png[at + 4]), 4);
      const File data(png.begin() + static_cast<ptrdiff_t>(at + 8),
                      png.begin() + static_cast<ptrdiff_t>(at + 8 + length));
      if (type == "IDAT" && !placed) {
        add("fcTL", place);
        ++sequence;
        placed = true;
      }
      if (type == "IDAT" && i > 0) {
        File numbered;
        append_big_endian(numbered, sequence++, 4);
        numbered.insert(numbered.end(), data.begin(), data.end());
        add("fdAT", numbered);
      } else if (type == "IDAT" || (i == 0 && type != "IEND")) {
        add(type, data);
      }
      at += 12 + length;
    }
  }
  add("IEND", {});
  return file;
}

File iccp(const File& profile) {
  File chunk;
  append(chunk, std::string_view("name\0\0", 6));
  uLongf size = compressBound(profile.size());
  File compressed(size);
  compress(compressed.data(), &size, profile.data(), profile.size());
  chunk.insert(chunk.end(), compressed.begin(), compressed.begin() + static_cast<ptrdiff_t>(size));
  return chunk;
}

}  // namespace acuity::tests
