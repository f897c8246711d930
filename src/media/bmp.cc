// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "media/little_endian.h"

namespace acuity {
namespace {

constexpr size_t kFileHeader = 14, kCoreHeader = 12, kOs2Header = 64;
enum Compression : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksWithAlpha = 6 };
// What the newer headers call a colour space.
constexpr uint32_t kEmbedded = 0x4d424544, kSrgb = 0x73524742, kWindows = 0x57696e20;

struct Mask {
  uint32_t bits = 0;
  uint32_t most() const { return bits == 0 ? 0 : bits >> std::countr_zero(bits); }
  uint8_t operator()(uint32_t pixel) const {
    return bits == 0 ? 0 : to_8_bits((pixel & bits) >> std::countr_zero(bits), most());
  }
  /// Up to eight bits in a row.
  bool sound() const { return most() <= 255 && (most() & (most() + 1)) == 0; }
};

struct Layout {
  size_t header = 0;  // bytes
  int64_t width = 0, height = 0;
  bool top_down = false;
  uint32_t bits = 0, compression = kPlain;
  std::array<Mask, 4> masks;                         // red, green, blue, alpha
  std::vector<std::array<uint8_t, 3>> palette = {};  // red, green, blue
  Bytes pixels;

  bool is_run_length() const { return compression == kRle8 || compression == kRle4; }
  bool has_alpha() const { return masks[3].bits != 0; }
  size_t row_bytes() const { return (static_cast<size_t>(width) * bits + 31) / 32 * 4; }
};

void read_masks(Bytes file, Layout& layout) {
  layout.masks = {Mask{layout.bits == 16 ? 0x7c00u : 0xff0000u}, Mask{layout.bits == 16 ? 0x03e0u : 0xff00u},
                  Mask{layout.bits == 16 ? 0x001fu : 0xffu}, Mask{0}};
  if (layout.compression != kMasks && layout.compression != kMasksWithAlpha) return;
  const bool alpha = layout.header >= 56 || layout.compression == kMasksWithAlpha;
  for (size_t i = 0; i < (alpha ? 4 : 3); ++i) layout.masks[i].bits = little_endian_32(file, kFileHeader + 40 + 4 * i);
}

Status read_palette(const EncodedFile& encoded, Layout& layout) {
  const size_t entry = layout.header == kCoreHeader ? 3 : 4;
  const uint32_t used = layout.header == kCoreHeader ? 0 : little_endian_32(encoded.bytes, kFileHeader + 32);
  const uint32_t most = 1u << layout.bits;
  const uint32_t count = used == 0 ? most : used;
  const size_t begin = kFileHeader + layout.header;
  if (count > most || begin + count * entry > encoded.bytes.size()) {
    return damaged(encoded, "BMP", fmt::format("its palette of {} colours is too large", count));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t* colour = &encoded.bytes[begin + i * entry];
    layout.palette.push_back({colour[2], colour[1], colour[0]});
  }
  return {};
}

Result<Layout> read_layout(const EncodedFile& encoded) {
  const Bytes file = encoded.bytes;
  Layout layout;
  layout.header = little_endian_32(file, kFileHeader);
  if (file.size() < kFileHeader + layout.header) return damaged(encoded, "BMP", "it ends within its header");
  const bool core = layout.header == kCoreHeader;
  const auto signed_at = [&](size_t at) {
    return static_cast<int64_t>(static_cast<int32_t>(little_endian_32(file, at)));
  };
  layout.width = core ? little_endian_16(file, 18) : signed_at(18);
  layout.height = core ? little_endian_16(file, 20) : signed_at(22);
  layout.bits = little_endian_16(file, core ? 24 : 28);
  layout.compression = core ? kPlain : little_endian_32(file, 30);
  layout.top_down = layout.height < 0;
  layout.height = std::abs(layout.height);
  ACUITY_TRY(check_size(encoded, layout.width, layout.height));
  const uint32_t bits = layout.bits, compression = layout.compression;
  const bool masked = (compression == kMasks || compression == kMasksWithAlpha) && layout.header != kOs2Header;
  const bool known = compression == kPlain
                         ? bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32
                     : compression == kRle8 ? bits == 8 && !layout.top_down
                     : compression == kRle4 ? bits == 4 && !layout.top_down
                                            : masked && (bits == 16 || bits == 32);
  if (!known) {
    return unsupported(encoded,
                       fmt::format("is a BMP file of {} bits per pixel with compression {}", bits, compression),
                       "convert it to 24 or 32 bits without compression");
  }
  if (bits <= 8) {
    ACUITY_TRY(read_palette(encoded, layout));
  } else {
    read_masks(file, layout);
  }
  for (const Mask& mask : layout.masks) {
    if (!mask.sound()) {
      return unsupported(encoded, fmt::format("is a BMP file whose samples lie in the bits {:08x}", mask.bits),
                         "convert it to 8 bits per sample");
    }
  }
  const size_t begin = little_endian_32(file, 10);
  if (begin < kFileHeader + layout.header || begin >= file.size()) {
    return damaged(encoded, "BMP", "its pixels begin outside the file");
  }
  layout.pixels = file.subspan(begin);
  const uint64_t needed = static_cast<uint64_t>(layout.height) * layout.row_bytes();
  if (!layout.is_run_length() && layout.pixels.size() < needed) {
    return damaged(encoded, "BMP", fmt::format("it has {} of {} bytes of pixels", layout.pixels.size(), needed));
  }
  return layout;
}

// Indices of run-length coded pixels, the lowest row first; `left_out` tells whether some were skipped.
Result<std::vector<uint8_t>> expand_runs(const EncodedFile& encoded, const Layout& layout, bool& left_out) {
  const auto width = static_cast<size_t>(layout.width), height = static_cast<size_t>(layout.height);
  const bool nibbles = layout.compression == kRle4;
  const Bytes in = layout.pixels;
  std::vector<uint8_t> indices(width * height);
  size_t at = 0, x = 0, y = 0, written = 0;
  const auto beyond = [&] { return damaged(encoded, "BMP", "its runs go beyond the picture"); };
  const auto put = [&](uint8_t index) {
    if (x >= width || y >= height) return false;
    indices[y * width + x++] = index;
    ++written;
    return true;
  };
  for (;;) {
    if (in.size() - at < 2) return damaged(encoded, "BMP", "it ends within its pixels");
    const uint8_t count = in[at], value = in[at + 1];
    at += 2;
    if (count > 0) {
      for (size_t i = 0; i < count; ++i) {
        if (!put(!nibbles ? value : static_cast<uint8_t>(i % 2 == 0 ? value >> 4 : value & 15))) return beyond();
      }
    } else if (value == 0) {
      x = 0;
      ++y;
    } else if (value == 1) {
      left_out = written < indices.size();
      return indices;
    } else if (value == 2) {
      if (in.size() - at < 2) return damaged(encoded, "BMP", "it ends within its pixels");
      x += in[at];
      y += in[at + 1];
      at += 2;
    } else {
      const size_t bytes = nibbles ? (value + size_t{1}) / 2 : value;
      if (in.size() - at < bytes + bytes % 2) return damaged(encoded, "BMP", "it ends within its pixels");
      for (size_t i = 0; i < value; ++i) {
        const uint8_t byte = in[at + (nibbles ? i / 2 : i)];
        if (!put(!nibbles ? byte : static_cast<uint8_t>(i % 2 == 0 ? byte >> 4 : byte & 15))) return beyond();
      }
      at += bytes + bytes % 2;
    }
  }
}

// One row of pixels as the file has it.
void write_row(const Layout& layout, const uint8_t* row, uint8_t* to) {
  const uint32_t bytes = layout.bits / 8;
  for (size_t x = 0; x < static_cast<size_t>(layout.width); ++x) {
    const uint32_t pixel = little_endian({row + x * bytes, bytes}, 0, bytes);
    for (size_t c = 0; c < (layout.has_alpha() ? 4 : 3); ++c) *to++ = layout.masks[c](pixel);
  }
}

// The same of indices, whose number in a byte is 8 / bits, the first in the highest bits.
Status write_indices(const EncodedFile& encoded, const Layout& layout, const uint8_t* row, uint32_t bits, uint8_t* to) {
  for (size_t x = 0; x < static_cast<size_t>(layout.width); ++x) {
    const size_t place = x * bits;
    const uint32_t index = (row[place / 8] >> (8 - bits - place % 8)) & ((1u << bits) - 1);
    if (index >= layout.palette.size()) {
      return damaged(encoded, "BMP", fmt::format("a pixel has colour {} of {}", index, layout.palette.size()));
    }
    for (const uint8_t sample : layout.palette[index]) *to++ = sample;
  }
  return {};
}

Status name_colour(const EncodedFile& encoded, const Layout& layout, Picture& picture) {
  const uint32_t space = layout.header >= 108 ? little_endian_32(encoded.bytes, kFileHeader + 56) : 1;
  if (space == kEmbedded && layout.header >= 124) {
    const uint64_t begin = kFileHeader + little_endian_32(encoded.bytes, kFileHeader + 112);
    const uint64_t size = little_endian_32(encoded.bytes, kFileHeader + 116);
    if (begin + size > encoded.bytes.size()) return damaged(encoded, "BMP", "its ICC profile lies outside the file");
    return set_icc(encoded, picture, encoded.bytes.subspan(begin, size));
  }
  if (space == kSrgb || space == kWindows) {
    picture.found.push_back("sRGB");
    return {};
  }
  // Most writers of such headers leave these numbers at 0.
  const bool calibrated = space == 0 && little_endian_32(encoded.bytes, kFileHeader + 60) != 0;
  if (!calibrated) {
    assume_srgb(picture);
    return {};
  }
  picture.assumed.push_back("sRGB (the primaries and gammas of BMP are not read)");
  return {};
}

}  // namespace

Result<Picture> decode_bmp(const EncodedFile& encoded) {
  Layout layout;
  ACUITY_TRY_ASSIGN(layout, read_layout(encoded));
  Shape shape;
  shape.width = layout.width;
  shape.height = layout.height;
  shape.channels = layout.has_alpha() ? Channels::rgba : Channels::rgb;
  if (layout.bits <= 8) shape.stored = fmt::format("{}-bit palette of 8-bit RGB", layout.bits);
  if (layout.bits == 16) shape.stored = "16 bits per pixel, brought to 8-bit RGB";
  Picture picture;
  ACUITY_TRY_ASSIGN(picture,
                    make_picture(encoded, "BMP", shape, layout.is_run_length() ? layout.width * layout.height : 0));
  std::vector<uint8_t> indices;
  bool left_out = false;
  if (layout.is_run_length()) ACUITY_TRY_ASSIGN(indices, expand_runs(encoded, layout, left_out));
  for (int64_t y = 0; y < layout.height; ++y) {
    const auto stored = static_cast<size_t>(layout.top_down ? y : layout.height - 1 - y);
    auto* to = reinterpret_cast<uint8_t*>(row_of(picture, y));
    if (layout.is_run_length()) {
      ACUITY_TRY(write_indices(encoded, layout, indices.data() + stored * static_cast<size_t>(layout.width), 8, to));
    } else if (layout.bits <= 8) {
      ACUITY_TRY(write_indices(encoded, layout, layout.pixels.data() + stored * layout.row_bytes(), layout.bits, to));
    } else {
      write_row(layout, layout.pixels.data() + stored * layout.row_bytes(), to);
    }
  }
  ACUITY_TRY(name_colour(encoded, layout, picture));
  if (left_out) picture.assumed.push_back("the first colour where the file leaves pixels out");
  if (layout.bits == 32 && !layout.has_alpha())
    picture.assumed.push_back("opaque (the file has a fourth byte but no mask for alpha)");
  return picture;
}

bool is_bmp(Bytes beginning) {
  const uint32_t header = little_endian_32(beginning, kFileHeader);
  return beginning.size() >= kFileHeader + 4 && beginning[0] == 'B' && beginning[1] == 'M' &&
         (header == kCoreHeader || header == 40 || header == 52 || header == 56 || header == kOs2Header ||
          header == 108 || header == 124);
}

}  // namespace acuity
