// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "media/little_endian.h"

namespace acuity {
namespace {

constexpr size_t kHeader = 18, kFooter = 26;
constexpr std::string_view kSignature("TRUEVISION-XFILE.\0", 18);
enum Kind : uint8_t { kMapped = 1, kColour = 2, kGrey = 3, kRunLength = 8 };

using Pixel = std::array<uint8_t, 4>;  // red, green, blue, alpha

// What the header says. TGA has no mark at its beginning, so that all of it has to make sense.
struct Header {
  size_t id_length, map_type, type, map_first, map_length, map_bits, width, height, bits, descriptor;

  explicit Header(Bytes file)
      : id_length(little_endian(file, 0, 1)),
        map_type(little_endian(file, 1, 1)),
        type(little_endian(file, 2, 1)),
        map_first(little_endian_16(file, 3)),
        map_length(little_endian_16(file, 5)),
        map_bits(little_endian(file, 7, 1)),
        width(little_endian_16(file, 12)),
        height(little_endian_16(file, 14)),
        bits(little_endian(file, 16, 1)),
        descriptor(little_endian(file, 17, 1)) {}

  size_t kind() const { return type & 7; }
  bool is_run_length() const { return (type & kRunLength) != 0; }
  size_t alpha_bits() const { return descriptor & 15; }
  bool from_the_top() const { return (descriptor & 0x20) != 0; }
  bool from_the_right() const { return (descriptor & 0x10) != 0; }
  size_t pixel_bytes() const { return (bits + 7) / 8; }
  size_t map_bytes() const { return (map_bits + 7) / 8; }
  /// The bits of one colour, which the palette has where there is one.
  size_t colour_bits() const { return kind() == kMapped ? map_bits : bits; }

  bool makes_sense() const {
    const auto holds_colour = [](size_t count) { return count == 15 || count == 16 || count == 24 || count == 32; };
    const bool mapped = kind() == kMapped;
    const bool map_fits = mapped ? map_type == 1 && map_length > 0 && holds_colour(map_bits)
                                 : map_type == 0 && map_first == 0 && map_length == 0 && map_bits == 0;
    const bool bits_fit = kind() == kColour ? holds_colour(bits) : bits == 8;
    const size_t alpha = alpha_bits();
    const bool alpha_fits = alpha == 0 || (alpha == 8 && colour_bits() == 32) || (alpha == 1 && colour_bits() == 16);
    return (type == kind() || type == (kind() | kRunLength)) && kind() >= kMapped && kind() <= kGrey && map_fits &&
           bits_fit && alpha_fits && (descriptor & 0xc0) == 0 && width > 0 && height > 0;
  }
};

Pixel colour_at(Bytes file, size_t at, size_t bits) {
  const uint32_t value = little_endian(file, at, (bits + 7) / 8);
  if (bits > 16) {
    return {static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value),
            static_cast<uint8_t>(value >> 24)};
  }
  return {to_8_bits(value >> 10 & 31, 31), to_8_bits(value >> 5 & 31, 31), to_8_bits(value & 31, 31),
          static_cast<uint8_t>((value >> 15) * 255)};
}

// The raw values of all pixels in the order of the file.
Result<std::vector<uint8_t>> expand(const EncodedFile& encoded, const Header& header, size_t at) {
  const Bytes file = encoded.bytes;
  const size_t bytes = header.pixel_bytes(), total = header.width * header.height * bytes;
  const auto ends_early = [&] { return damaged(encoded, "TGA", "it ends within its pixels"); };
  std::vector<uint8_t> out(total);
  if (!header.is_run_length()) {
    if (file.size() - at < total) return ends_early();
    std::memcpy(out.data(), &file[at], total);
    return out;
  }
  for (size_t done = 0; done < total;) {
    if (file.size() - at < 1 + bytes) return ends_early();
    const bool run = (file[at] & 0x80) != 0;
    const size_t count = (file[at++] & 0x7fu) + size_t{1};
    if (count * bytes > total - done) return damaged(encoded, "TGA", "its runs go beyond the picture");
    if (!run && file.size() - at < count * bytes) return ends_early();
    for (size_t i = 0; i < count; ++i, done += bytes) std::memcpy(&out[done], &file[at + (run ? 0 : i * bytes)], bytes);
    at += run ? bytes : count * bytes;
  }
  return out;
}

// What the newer form of the file says at its end about alpha: 3 straight, 4 premultiplied, otherwise none; -1 where it
// says nothing.
int alpha_kind(Bytes file) {
  if (file.size() < kHeader + kFooter) return -1;
  const size_t footer = file.size() - kFooter;
  if (std::memcmp(&file[footer + 8], kSignature.data(), kSignature.size()) != 0) return -1;
  const size_t extension = little_endian_32(file, footer);
  return extension == 0 || extension + 495 > file.size() ? -1 : file[extension + 494];
}

}  // namespace

Result<Picture> decode_tga(const EncodedFile& encoded) {
  const Bytes file = encoded.bytes;
  const Header header(file);
  ACUITY_TRY(check_size(encoded, static_cast<int64_t>(header.width), static_cast<int64_t>(header.height)));
  const int kind = alpha_kind(file);
  const bool alpha = header.alpha_bits() > 0 && (kind < 0 || kind == 3 || kind == 4);
  const bool grey = header.kind() == kGrey;
  Shape shape;
  shape.width = static_cast<int64_t>(header.width);
  shape.height = static_cast<int64_t>(header.height);
  shape.channels = grey ? Channels::grey : alpha ? Channels::rgba : Channels::rgb;
  if (header.kind() == kMapped) shape.stored = fmt::format("8-bit palette of {} bits per colour", header.map_bits);
  if (header.kind() == kColour && header.bits <= 16) shape.stored = "5 bits per sample, brought to 8-bit RGB";
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, make_picture(encoded, "TGA", shape,
                                          shape.width * shape.height * static_cast<int64_t>(header.pixel_bytes())));
  const size_t map = kHeader + header.id_length, pixels = map + header.map_length * header.map_bytes();
  if (pixels >= file.size()) return damaged(encoded, "TGA", "it ends before its pixels");
  std::vector<uint8_t> values;
  ACUITY_TRY_ASSIGN(values, expand(encoded, header, pixels));
  const auto channels = static_cast<size_t>(picture.view.channel_count());
  for (size_t y = 0; y < header.height; ++y) {
    auto* row = reinterpret_cast<uint8_t*>(
        row_of(picture, static_cast<int64_t>(header.from_the_top() ? y : header.height - 1 - y)));
    for (size_t x = 0; x < header.width; ++x) {
      uint8_t* to = row + channels * (header.from_the_right() ? header.width - 1 - x : x);
      const size_t at = (y * header.width + x) * header.pixel_bytes();
      if (grey) {
        *to = values[at];
        continue;
      }
      Pixel colour = colour_at(values, at, header.bits);
      if (header.kind() == kMapped) {
        const size_t index = values[at];
        if (index < header.map_first || index - header.map_first >= header.map_length) {
          return damaged(encoded, "TGA", fmt::format("a pixel has colour {}, which the palette lacks", index));
        }
        colour = colour_at(file, map + (index - header.map_first) * header.map_bytes(), header.map_bits);
      }
      std::memcpy(to, colour.data(), channels);
    }
  }
  assume_srgb(picture);
  if (!alpha && header.colour_bits() == 32)
    picture.assumed.push_back("opaque (the file states that its fourth byte is not alpha)");
  if (alpha && kind == 4) ACUITY_TRY(divide_by_alpha(encoded, picture));
  return picture;
}

bool is_tga(Bytes beginning) { return beginning.size() >= kHeader && Header(beginning).makes_sense(); }

}  // namespace acuity
