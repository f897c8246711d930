// SPDX-License-Identifier: BSD-2-Clause-Patent
// BMP and TGA, which are simple enough to be written by hand.
#include "media/encode.h"

namespace acuity::tests {
namespace {

size_t place_of(const Drawing& drawing, int x, int y) {
  return static_cast<size_t>(y * drawing.width + x) * static_cast<size_t>(drawing.channels);
}

// The pixels of a row as BMP has them, without what fills it up.
File bmp_row(const Drawing& drawing, const BmpOptions& options, int y) {
  File row;
  uint32_t pending = 0;
  int bits = 0;
  for (int x = 0; x < drawing.width; ++x) {
    const uint16_t* pixel = &drawing.samples[place_of(drawing, x, y)];
    if (options.bits <= 8) {
      pending = pending << options.bits | pixel[0];
      for (bits += options.bits; bits >= 8; bits -= 8) row.push_back(static_cast<uint8_t>(pending >> (bits - 8)));
    } else if (options.bits == 16) {
      append_little_endian(row, static_cast<uint64_t>(pixel[0] << 10 | pixel[1] << 5 | pixel[2]), 2);
    } else {
      for (const int c : {2, 1, 0}) row.push_back(static_cast<uint8_t>(pixel[c]));
      if (options.bits == 32) row.push_back(drawing.channels == 4 ? static_cast<uint8_t>(pixel[3]) : uint8_t{0});
    }
  }
  if (bits > 0) row.push_back(static_cast<uint8_t>(pending << (8 - bits)));
  return row;
}

}  // namespace

File encode_bmp(const Drawing& drawing, const BmpOptions& options) {
  File pixels = options.pixels;
  for (int i = 0; options.pixels.empty() && i < drawing.height; ++i) {
    File row = bmp_row(drawing, options, options.top_down ? i : drawing.height - 1 - i);
    row.resize((row.size() + 3) / 4 * 4);
    pixels.insert(pixels.end(), row.begin(), row.end());
  }
  const bool core = options.header == 12;
  File header, palette;
  append_little_endian(header, static_cast<uint64_t>(options.header), 4);
  append_little_endian(header, static_cast<uint64_t>(drawing.width), core ? 2 : 4);
  append_little_endian(header, static_cast<uint64_t>(options.top_down ? -drawing.height : drawing.height),
                       core ? 2 : 4);
  append_little_endian(header, 1, 2);
  append_little_endian(header, static_cast<uint64_t>(options.bits), 2);
  for (size_t i = 0; i + 2 < options.palette.size(); i += 3) {
    for (const size_t c : {2, 1, 0}) palette.push_back(options.palette[i + c]);
    if (!core) palette.push_back(0);
  }
  if (!core) {
    append_little_endian(header, static_cast<uint64_t>(options.compression), 4);
    append_little_endian(header, pixels.size(), 4);
    append_little_endian(header, 0, 8);
    append_little_endian(header, options.palette.size() / 3, 4);
    append_little_endian(header, 0, 4);
    for (const uint32_t mask : options.masks) append_little_endian(header, mask, 4);
    header.resize(std::max(header.size(), static_cast<size_t>(options.header)));
  }
  const size_t begin = 14 + header.size() + palette.size();
  if (!options.icc.empty()) {
    const auto put = [&](size_t at, uint64_t value) {
      File bytes;
      append_little_endian(bytes, value, 4);
      std::copy(bytes.begin(), bytes.end(), header.begin() + static_cast<ptrdiff_t>(at));
    };
    put(56, 0x4d424544);
    put(112, begin - 14 + pixels.size());
    put(116, options.icc.size());
  }
  File file;
  append(file, "BM");
  append_little_endian(file, begin + pixels.size() + options.icc.size(), 4);
  append_little_endian(file, 0, 4);
  append_little_endian(file, begin, 4);
  for (const File* part : std::initializer_list<const File*>{&header, &palette, &pixels, &options.icc}) {
    file.insert(file.end(), part->begin(), part->end());
  }
  return file;
}

File encode_tga(const Drawing& drawing, const TgaOptions& options) {
  const bool mapped = !options.palette.empty(), grey = drawing.channels == 1 && !mapped, alpha = drawing.channels == 4;
  const int bits = options.bits != 0 ? options.bits : mapped || grey ? 8 : 8 * drawing.channels;
  File file = {0, static_cast<uint8_t>(mapped ? 1 : 0),
               static_cast<uint8_t>((mapped ? 1
                                     : grey ? 3
                                            : 2) +
                                    (options.run_length ? 8 : 0))};
  append_little_endian(file, 0, 2);
  append_little_endian(file, options.palette.size() / 3, 2);
  file.push_back(mapped ? 24 : 0);
  append_little_endian(file, 0, 4);
  append_little_endian(file, static_cast<uint64_t>(drawing.width), 2);
  append_little_endian(file, static_cast<uint64_t>(drawing.height), 2);
  file.push_back(static_cast<uint8_t>(bits));
  const int attributes = options.attribute_bits >= 0 ? options.attribute_bits : alpha ? 8 : 0;
  file.push_back(static_cast<uint8_t>(attributes | (options.top ? 0x20 : 0) | (options.right ? 0x10 : 0)));
  for (size_t i = 0; i + 2 < options.palette.size(); i += 3) {
    for (const size_t c : {2, 1, 0}) file.push_back(options.palette[i + c]);
  }
  std::vector<File> pixels;
  for (int y = 0; y < drawing.height; ++y) {
    for (int x = 0; x < drawing.width; ++x) {
      const uint16_t* pixel = &drawing.samples[place_of(drawing, options.right ? drawing.width - 1 - x : x,
                                                        options.top ? y : drawing.height - 1 - y)];
      File& bytes = pixels.emplace_back();
      if (bits == 8) {
        bytes.push_back(static_cast<uint8_t>(pixel[0]));
      } else if (bits == 16) {
        append_little_endian(bytes, static_cast<uint64_t>(pixel[0] << 10 | pixel[1] << 5 | pixel[2]), 2);
      } else {
        for (const int c : {2, 1, 0}) bytes.push_back(static_cast<uint8_t>(pixel[c]));
        if (alpha) bytes.push_back(static_cast<uint8_t>(pixel[3]));
      }
    }
  }
  for (size_t i = 0; i < pixels.size();) {
    size_t count = 1;
    while (options.run_length && count < 128 && i + count < pixels.size() && pixels[i + count] == pixels[i]) ++count;
    if (options.run_length) file.push_back(static_cast<uint8_t>((count > 1 ? 0x80 : 0) | (count - 1)));
    file.insert(file.end(), pixels[i].begin(), pixels[i].end());
    i += count;
  }
  if (options.alpha_kind < 0) return file;
  const size_t extension = file.size();
  file.resize(extension + 495);
  file.back() = static_cast<uint8_t>(options.alpha_kind);
  append_little_endian(file, extension, 4);
  append_little_endian(file, 0, 4);
  append(file, std::string_view("TRUEVISION-XFILE.\0", 18));
  return file;
}

}  // namespace acuity::tests
