// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <tiffio.h>

#include "base/try.h"
#include "media/decoder.h"

namespace acuity {
namespace {

constexpr uint64_t kMostTileBytes = uint64_t{1} << 40;

/// The file in memory, and what libtiff had to say about it.
struct Input {
  Bytes file;
  uint64_t at = 0;
  char error[256] = {};    // the first one; what follows is usually its consequence
  char warning[256] = {};  // the latest
};

int keep(char (&place)[256], const char* format, std::va_list arguments) {
  std::vsnprintf(place, sizeof(place), format, arguments);
  return 1;  // handled
}

int on_error(TIFF*, void* data, const char*, const char* format, std::va_list arguments) {
  auto* input = static_cast<Input*>(data);
  return input->error[0] != '\0' ? 1 : keep(input->error, format, arguments);
}

int on_warning(TIFF*, void* data, const char*, const char* format, std::va_list arguments) {
  return keep(static_cast<Input*>(data)->warning, format, arguments);
}

tmsize_t on_read(thandle_t handle, void* to, tmsize_t size) {
  auto* input = static_cast<Input*>(handle);
  const uint64_t left = input->at < input->file.size() ? input->file.size() - input->at : 0;
  const uint64_t count = std::min(left, static_cast<uint64_t>(std::max<tmsize_t>(size, 0)));
  if (count > 0) std::memcpy(to, input->file.data() + input->at, count);
  input->at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t on_write(thandle_t, void*, tmsize_t) { return 0; }
int on_close(thandle_t) { return 0; }
toff_t on_size(thandle_t handle) { return static_cast<Input*>(handle)->file.size(); }
toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  auto* input = static_cast<Input*>(handle);
  input->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? input->at + offset : input->file.size() + offset;
  return input->at;
}

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

Tiff open_tiff_file(const EncodedFile& encoded, Input& input) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, &input);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, &input);
  // The pixels keep to the limit; the rest is for libtiff's own structures.
  TIFFOpenOptionsSetMaxSingleMemAlloc(options,
                                      static_cast<tmsize_t>(encoded.limits.maximum_decoded_bytes + (int64_t{1} << 20)));
  Tiff tiff(TIFFClientOpenExt("libtiff", "rm", &input, on_read, on_write, on_seek, on_close, on_size, nullptr, nullptr,
                              options));
  TIFFOpenOptionsFree(options);
  return tiff;
}

/// What the tags say about the samples, and where each goes.
struct Layout {
  uint32_t width = 0, height = 0;
  uint16_t bits = 1, samples = 1, format = SAMPLEFORMAT_UINT, photometric = 0, planar = PLANARCONFIG_CONTIG;
  uint16_t compression = COMPRESSION_NONE, orientation = ORIENTATION_TOPLEFT;
  int colours = 1;
  int alpha = -1;  // the number of that sample
  bool premultiplied = false;
  int ignored = 0;  // samples that are neither colour nor alpha
  const uint16_t* palette[3] = {};

  bool is_palette() const { return photometric == PHOTOMETRIC_PALETTE; }
  bool is_separate() const { return planar == PLANARCONFIG_SEPARATE && samples > 1; }
  int samples_in_row() const { return is_separate() ? 1 : samples; }
};

Status read_extra_samples(const EncodedFile& encoded, TIFF* tiff, Layout& layout) {
  uint16_t count = 0;
  uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  const int extra = layout.samples - layout.colours;
  if (extra < 0) {
    return damaged(encoded, "TIFF",
                   fmt::format("its pixels have {} samples, fewer than its colours need", layout.samples));
  }
  for (int i = 0; i < std::min<int>(extra, count) && layout.alpha < 0; ++i) {
    if (kinds[i] != EXTRASAMPLE_ASSOCALPHA && kinds[i] != EXTRASAMPLE_UNASSALPHA) continue;
    layout.alpha = layout.colours + i;
    layout.premultiplied = kinds[i] == EXTRASAMPLE_ASSOCALPHA;
  }
  layout.ignored = extra - (layout.alpha >= 0 ? 1 : 0);
  return {};
}

Result<Layout> read_layout(const EncodedFile& encoded, TIFF* tiff) {
  Layout layout;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
  if (const Status status = check_size(encoded, layout.width, layout.height); !status.ok()) return status;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &layout.orientation);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric) == 0) {
    return damaged(encoded, "TIFF", "the kind of its samples (photometric interpretation) is missing");
  }
  if (TIFFIsCODECConfigured(layout.compression) == 0) {
    return unsupported(encoded,
                       fmt::format("is a TIFF file of compression {}, which libtiff cannot decode", layout.compression),
                       "convert it to TIFF without compression");
  }
  // libtiff has the JPEG decoder turn such pixels into RGB, but not where each plane is a JPEG of its own.
  if (layout.photometric == PHOTOMETRIC_YCBCR && layout.compression == COMPRESSION_JPEG &&
      layout.planar == PLANARCONFIG_CONTIG) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    layout.photometric = PHOTOMETRIC_RGB;
  }
  if (layout.orientation < 1 || layout.orientation > 8) layout.orientation = ORIENTATION_TOPLEFT;

  const bool grey = layout.photometric == PHOTOMETRIC_MINISBLACK || layout.photometric == PHOTOMETRIC_MINISWHITE;
  if (!grey && !layout.is_palette() && layout.photometric != PHOTOMETRIC_RGB) {
    return unsupported(
        encoded,
        fmt::format("is a TIFF file of photometric kind {}, neither grey nor RGB nor palette", layout.photometric),
        "convert it to RGB");
  }
  layout.colours = layout.photometric == PHOTOMETRIC_RGB ? 3 : 1;
  const bool is_float = layout.format == SAMPLEFORMAT_IEEEFP && layout.bits == 32 && !layout.is_palette() &&
                        layout.photometric != PHOTOMETRIC_MINISWHITE;
  const bool is_integer =
      (layout.format == SAMPLEFORMAT_UINT || layout.format == SAMPLEFORMAT_VOID) &&
      (layout.bits == 1 || layout.bits == 2 || layout.bits == 4 || (layout.bits >= 8 && layout.bits <= 16));
  if (!is_float && !is_integer) {
    return unsupported(encoded,
                       fmt::format("is a TIFF file with {}-bit samples of format {}", layout.bits, layout.format),
                       "convert it to 8 or 16-bit integers or 32-bit floats");
  }
  if (layout.is_palette() && (layout.bits > 8 || TIFFGetField(tiff, TIFFTAG_COLORMAP, &layout.palette[0],
                                                              &layout.palette[1], &layout.palette[2]) == 0)) {
    return damaged(encoded, "TIFF", "it lacks a palette of at most 256 colours");
  }
  if (const Status status = read_extra_samples(encoded, tiff, layout); !status.ok()) return status;
  if (layout.is_palette() && layout.alpha >= 0) {
    return unsupported(encoded, "has a palette together with alpha", "convert it to RGB");
  }
  return layout;
}

Shape shape_of(const Layout& layout) {
  const bool grey = layout.colours == 1 && !layout.is_palette(), alpha = layout.alpha >= 0;
  Shape shape;
  shape.width = layout.width;
  shape.height = layout.height;
  shape.channels = grey ? (alpha ? Channels::grey_alpha : Channels::grey) : (alpha ? Channels::rgba : Channels::rgb);
  if (layout.format == SAMPLEFORMAT_IEEEFP) {
    shape.type = SampleType::f32;
  } else if (layout.bits > 8 || layout.is_palette()) {
    shape.type = SampleType::u16;
    shape.depth = layout.is_palette() ? 16 : layout.bits;
  }
  if (layout.is_palette()) {
    shape.stored = fmt::format("{}-bit palette of 16-bit RGB", layout.bits);
  } else if (layout.bits < 8) {
    shape.stored = describe(layout.bits, false, shape.channels);
  }
  return shape;
}

/// Sorts the samples of the file into the picture.
class Sorter {
 public:
  Sorter(const Layout& layout, Picture& picture) : layout_(layout), picture_(picture) {
    const int channels = picture.view.channel_count();
    copies_ = !layout.is_palette() && !layout.is_separate() && layout.photometric != PHOTOMETRIC_MINISWHITE &&
              (layout.bits == 8 || layout.bits == 16 || layout.bits == 32) && layout.samples == channels;
    // Before 16-bit palettes were understood, writers put 8-bit ones into them.
    for (size_t i = 0; layout.is_palette() && i < size_t{1} << layout.bits; ++i) {
      for (const uint16_t* map : layout.palette) small_palette_ = small_palette_ && map[i] < 256;
    }
  }

  /// `count` pixels from (x, y) on; for separate planes, of one sample alone.
  void store(uint32_t x, uint32_t y, uint32_t count, int plane, const uint8_t* row) {
    const ImageView& view = picture_.view;
    std::byte* to = row_of(picture_, y) + ptrdiff_t{x} * view.pixel_stride;
    if (copies_) {
      std::memcpy(to, row, static_cast<size_t>(view.pixel_stride) * count);
      return;
    }
    const int last = layout_.is_separate() ? plane : layout_.samples - 1;
    for (int sample = layout_.is_separate() ? plane : 0; sample <= last; ++sample) {
      const bool is_alpha = sample == layout_.alpha;
      if (sample >= layout_.colours && !is_alpha) continue;
      const int channel = is_alpha ? view.channel_count() - 1 : sample;
      const auto first = static_cast<size_t>(layout_.is_separate() ? 0 : sample);
      for (uint32_t i = 0; i < count; ++i) {
        put(row, first + i * static_cast<size_t>(layout_.samples_in_row()), is_alpha, channel,
            to + i * view.pixel_stride);
      }
    }
  }

 private:
  uint32_t integer(const uint8_t* row, size_t index) const {
    const size_t bits = layout_.bits;
    if (bits == 16) {
      uint16_t value;
      std::memcpy(&value, row + 2 * index, sizeof(value));
      return value;
    }
    // Other depths are packed, the highest bit first.
    uint32_t value = 0;
    for (size_t bit = index * bits; bit < (index + 1) * bits; ++bit)
      value = value << 1 | (row[bit / 8] >> (7 - bit % 8) & 1);
    return value;
  }

  void put(const uint8_t* row, size_t index, bool is_alpha, int channel, std::byte* pixel) const {
    if (layout_.format == SAMPLEFORMAT_IEEEFP) {
      std::memcpy(pixel + ptrdiff_t{4} * channel, row + 4 * index, 4);
      return;
    }
    uint32_t value = integer(row, index);
    if (layout_.is_palette()) {
      for (size_t c = 0; c < 3; ++c) {
        const auto entry = static_cast<uint16_t>(layout_.palette[c][value] * (small_palette_ ? 257 : 1));
        std::memcpy(pixel + 2 * c, &entry, sizeof(entry));
      }
      return;
    }
    const uint32_t maximum = (1u << layout_.bits) - 1;
    if (layout_.photometric == PHOTOMETRIC_MINISWHITE && !is_alpha) value = maximum - value;
    if (layout_.bits > 8) {
      const auto sample = static_cast<uint16_t>(value);
      std::memcpy(pixel + ptrdiff_t{2} * channel, &sample, sizeof(sample));
    } else {
      pixel[channel] = static_cast<std::byte>(value * (255 / maximum));
    }
  }

  const Layout& layout_;
  Picture& picture_;
  bool copies_ = false;
  bool small_palette_ = true;
};

/// False when libtiff could not deliver a part of the picture.
bool read_pixels(TIFF* tiff, const Layout& layout, Picture& picture, std::vector<uint8_t>& buffer) {
  Sorter sorter(layout, picture);
  const int planes = layout.is_separate() ? layout.samples : 1;
  uint32_t tile_width = 0, tile_height = 0;
  if (TIFFIsTiled(tiff) != 0) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height);
    if (tile_width == 0 || tile_height == 0) return false;
  }
  for (int plane = 0; plane < planes; ++plane) {
    const auto number = static_cast<uint16_t>(plane);
    for (uint32_t y = 0; tile_height == 0 && y < layout.height; ++y) {
      if (TIFFReadScanline(tiff, buffer.data(), y, number) < 0) return false;
      sorter.store(0, y, layout.width, plane, buffer.data());
    }
    const auto row_size = static_cast<size_t>(tile_height == 0 ? 0 : TIFFTileRowSize(tiff));
    for (uint64_t y = 0; tile_height != 0 && y < layout.height; y += tile_height) {
      for (uint64_t x = 0; x < layout.width; x += tile_width) {
        const auto left = static_cast<uint32_t>(x), top = static_cast<uint32_t>(y);
        if (TIFFReadTile(tiff, buffer.data(), left, top, 0, number) < 0) return false;
        const uint32_t columns = std::min(tile_width, layout.width - left);
        const uint32_t rows = std::min(tile_height, layout.height - top);
        for (uint32_t row = 0; row < rows; ++row) {
          sorter.store(left, top + row, columns, plane, buffer.data() + row * row_size);
        }
      }
    }
  }
  return true;
}

Status name_colour(const EncodedFile& encoded, TIFF* tiff, Picture& picture) {
  uint32_t size = 0;
  const void* profile = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &size, &profile) != 0 && size > 0) {
    return set_icc(encoded, picture, {static_cast<const uint8_t*>(profile), size});
  }
  if (picture.view.type != SampleType::f32) {
    assume_srgb(picture);
    return {};
  }
  picture.view.colour.transfer = Transfer::linear;
  picture.says_transfer = picture.says_primaries = false;
  return {};
}

class TiffFrames : public PictureFrames {
 public:
  explicit TiffFrames(const EncodedFile& encoded) : encoded_(encoded) {}

  Status open() {
    input_.file = encoded_.bytes;
    tiff_ = open_tiff_file(encoded_, input_);
    if (!tiff_) return broken("its header cannot be read");
    count_ = std::max<int64_t>(TIFFNumberOfDirectories(tiff_.get()), 1);
    return {};
  }

  Result<Picture> read(int64_t index) override {
    TIFF* tiff = tiff_.get();
    if (count_ > 1 && TIFFSetDirectory(tiff, static_cast<tdir_t>(index)) == 0) {
      return broken(fmt::format("page {} cannot be read", index));
    }
    Layout layout;
    ACUITY_TRY_ASSIGN(layout, read_layout(encoded_, tiff));
    const Shape shape = shape_of(layout);
    const bool tiled = TIFFIsTiled(tiff) != 0;
    const uint64_t row_bits = (tiled ? 0 : shape.width) * uint64_t{layout.bits} * layout.samples_in_row();
    const uint64_t buffer_size = tiled ? TIFFTileSize64(tiff) : TIFFScanlineSize64(tiff);
    if (buffer_size == 0 || buffer_size < (row_bits + 7) / 8) return broken("its rows have an invalid size");
    // Whatever the limits: make_picture() holds the rest against them.
    if (buffer_size > kMostTileBytes) {
      return damaged(encoded_, "TIFF", fmt::format("its tiles are of {} bytes", buffer_size));
    }
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, make_picture(encoded_, "TIFF", shape, static_cast<int64_t>(buffer_size)));
    std::vector<uint8_t> buffer(buffer_size);
    input_.warning[0] = '\0';
    if (!read_pixels(tiff, layout, picture, buffer)) return broken("its pixels cannot be read");
    // What libtiff warns of while decoding pixels is that it had to make some up.
    if (input_.warning[0] != '\0') return damaged(encoded_, "TIFF", input_.warning);

    if (layout.ignored > 0) picture.found.push_back(fmt::format("{} more samples per pixel, ignored", layout.ignored));
    ACUITY_TRY(name_colour(encoded_, tiff, picture));
    ACUITY_TRY(check_finite(encoded_, picture));
    if (layout.premultiplied) ACUITY_TRY(divide_by_alpha(encoded_, picture));
    if (layout.orientation != ORIENTATION_TOPLEFT) {
      picture.found.push_back(fmt::format("TIFF orientation {} applied", layout.orientation));
      ACUITY_TRY(turn_upright(encoded_, picture, layout.orientation));
    }
    return picture;
  }

 private:
  Status broken(std::string_view otherwise) const {
    return damaged(encoded_, "TIFF", input_.error[0] != '\0' ? std::string_view(input_.error) : otherwise);
  }

  EncodedFile encoded_;
  Input input_;
  Tiff tiff_;
};

}  // namespace

OpenedFrames open_tiff(const EncodedFile& encoded) {
  auto frames = std::make_unique<TiffFrames>(encoded);
  ACUITY_TRY(frames->open());
  return std::unique_ptr<PictureFrames>(std::move(frames));
}

}  // namespace acuity
