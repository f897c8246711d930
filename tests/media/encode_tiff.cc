// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstdio>
#include <cstring>

#include <tiffio.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

struct Output {
  File file;
  size_t at = 0;
};

tmsize_t on_read(thandle_t handle, void* to, tmsize_t size) {
  auto* output = static_cast<Output*>(handle);
  const size_t count =
      std::min(static_cast<size_t>(size), output->file.size() - std::min(output->at, output->file.size()));
  std::memcpy(to, output->file.data() + output->at, count);
  output->at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t on_write(thandle_t handle, void* from, tmsize_t size) {
  auto* output = static_cast<Output*>(handle);
  const auto count = static_cast<size_t>(size);
  output->file.resize(std::max(output->file.size(), output->at + count));
  std::memcpy(output->file.data() + output->at, from, count);
  output->at += count;
  return size;
}

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  auto* output = static_cast<Output*>(handle);
  output->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? output->at + offset : output->file.size() + offset;
  return output->at;
}

// Samples `first`, `first` + step ... of a row, packed as TIFF has them.
File pack(const Drawing& drawing, const std::vector<float>& floats, size_t begin, size_t count, size_t step) {
  File row;
  uint32_t pending = 0;
  int bits = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!floats.empty()) {
      row.resize(row.size() + 4);
      std::memcpy(row.data() + row.size() - 4, &floats[begin + i * step], 4);
    } else if (drawing.bits == 16) {
      append_little_endian(row, drawing.samples[begin + i * step], 2);
    } else {
      pending = pending << drawing.bits | drawing.samples[begin + i * step];
      for (bits += drawing.bits; bits >= 8; bits -= 8) row.push_back(static_cast<uint8_t>(pending >> (bits - 8)));
    }
  }
  if (bits > 0) row.push_back(static_cast<uint8_t>(pending << (8 - bits)));
  return row;
}

void write_page(TIFF* tiff, const Drawing& drawing, const TiffOptions& options, const std::vector<float>& floats) {
  const int channels = drawing.channels;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, drawing.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, drawing.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, floats.empty() ? drawing.bits : 32);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, floats.empty() ? options.sample_format : SAMPLEFORMAT_IEEEFP);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               options.photometric >= 0 ? options.photometric
               : channels < 3           ? PHOTOMETRIC_MINISBLACK
                                        : PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, options.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, options.planar);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, options.orientation);
  if (channels % 2 == 0) {
    const auto kind = static_cast<uint16_t>(options.alpha);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  if (!options.palette.empty()) {
    const uint16_t* map = options.palette.data();
    const size_t colours = options.palette.size() / 3;
    TIFFSetField(tiff, TIFFTAG_COLORMAP, map, map + colours, map + 2 * colours);
  }
  if (options.compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 100);
  }
  if (!options.icc.empty()) TIFFSetField(tiff, TIFFTAG_ICCPROFILE, options.icc.size(), options.icc.data());
  const bool separate = options.planar == PLANARCONFIG_SEPARATE;
  const size_t width = static_cast<size_t>(drawing.width), height = static_cast<size_t>(drawing.height);
  const size_t step = static_cast<size_t>(channels), planes = separate ? step : 1, part = separate ? 1 : step;

  if (options.tile == 0) {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, options.rows_per_strip > 0 ? options.rows_per_strip : drawing.height);
    for (size_t plane = 0; plane < planes; ++plane) {
      for (size_t y = 0; y < height; ++y) {
        File row = pack(drawing, floats, y * width * step + plane, width * part, separate ? step : 1);
        TIFFWriteScanline(tiff, row.data(), static_cast<uint32_t>(y), static_cast<uint16_t>(plane));
      }
    }
    return;
  }
  const auto tile = static_cast<size_t>(options.tile);
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, options.tile);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, options.tile);
  const auto row_size = static_cast<size_t>(TIFFTileRowSize(tiff));
  for (size_t plane = 0; plane < planes; ++plane) {
    for (size_t top = 0; top < height; top += tile) {
      for (size_t left = 0; left < width; left += tile) {
        File bytes(static_cast<size_t>(TIFFTileSize(tiff)));
        for (size_t y = top; y < std::min(top + tile, height); ++y) {
          const size_t columns = std::min(tile, width - left);
          const File row =
              pack(drawing, floats, (y * width + left) * step + plane, columns * part, separate ? step : 1);
          std::copy(row.begin(), row.end(), bytes.begin() + static_cast<ptrdiff_t>((y - top) * row_size));
        }
        TIFFWriteTile(tiff, bytes.data(), static_cast<uint32_t>(left), static_cast<uint32_t>(top), 0,
                      static_cast<uint16_t>(plane));
      }
    }
  }
}

}  // namespace

File encode_tiff(const Drawing& drawing, const TiffOptions& options, const std::vector<float>& floats) {
  Output output;
  const std::string mode = std::string("w") + (options.big_endian ? "b" : "l") + (options.big_tiff ? "8" : "");
  TIFF* tiff = TIFFClientOpen(
      "test", mode.c_str(), &output, on_read, on_write, on_seek, [](thandle_t) { return 0; },
      [](thandle_t handle) { return static_cast<toff_t>(static_cast<Output*>(handle)->file.size()); }, nullptr,
      nullptr);
  for (int page = 0; page < options.pages; ++page) {
    write_page(tiff, frame_of(drawing, page), options, floats);
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
  return output.file;
}

}  // namespace acuity::tests
