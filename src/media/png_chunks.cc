// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/png_chunks.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "colour/cicp.h"

namespace acuity {
namespace {

constexpr size_t kSignature = 8, kChunkHead = 8, kChunkTail = 4;
// Real profiles are below 5 MB; a compressed chunk could pretend to a thousand times its size.
constexpr size_t kMaximumProfile = size_t{1} << 24;

Result<std::vector<uint8_t>> inflate_profile(const EncodedFile& encoded, Bytes compressed) {
  const auto refuse = [&encoded](std::string_view what) {
    return Status(
        StatusCode::input,
        fmt::format("'{}' cannot be used: its ICC profile {}; remove the profile or convert the picture to sRGB",
                    encoded.name, what));
  };
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return Status(StatusCode::internal, "zlib could not be set up");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  stream.next_in = const_cast<Bytef*>(compressed.data());
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::vector<uint8_t> profile;
  int state = Z_OK;
  while (state == Z_OK) {
    const size_t have = profile.size();
    if (have >= kMaximumProfile) return refuse(fmt::format("is larger than {} bytes", kMaximumProfile));
    profile.resize(std::max<size_t>(4096, 2 * have));
    stream.next_out = profile.data() + have;
    stream.avail_out = static_cast<uInt>(profile.size() - have);
    state = inflate(&stream, Z_NO_FLUSH);
    profile.resize(profile.size() - stream.avail_out);
  }
  if (state != Z_STREAM_END) return refuse("cannot be decompressed");
  return profile;
}

// A name, a zero byte, the number of the compression method (0: zlib), then the compressed profile.
Status read_iccp(const EncodedFile& encoded, Picture& picture, Bytes chunk) {
  const auto end_of_name = std::find(chunk.begin(), chunk.end(), 0);
  const auto name_length = static_cast<size_t>(end_of_name - chunk.begin());
  if (chunk.size() < name_length + 2) return damaged(encoded, "PNG", "its iCCP chunk is too short");
  const Result<std::vector<uint8_t>> profile = inflate_profile(encoded, chunk.subspan(name_length + 2));
  if (!profile.ok()) return profile.status();
  return set_icc(encoded, picture, *profile);
}

Status read_gama(const EncodedFile& encoded, Picture& picture, Bytes chunk, bool has_primaries) {
  const uint32_t value = chunk.size() == 4 ? big_endian_32(chunk.data()) : 0;
  if (value == 0) return damaged(encoded, "PNG", "its gAMA chunk holds no number above 0");
  const std::string found = fmt::format("gAMA {}", value / 100000.0);
  picture.found.push_back(found + set_gamma(picture, value / 100000.0, has_primaries));
  return {};
}

Status read_chrm(const EncodedFile& encoded, Picture& picture, Bytes chunk) {
  if (chunk.size() != 32) return damaged(encoded, "PNG", "its cHRM chunk does not hold eight numbers");
  const auto xy = [chunk](size_t index) {
    return std::array<double, 2>{big_endian_32(&chunk[8 * index]) / 100000.0,
                                 big_endian_32(&chunk[8 * index + 4]) / 100000.0};
  };
  set_chromaticities(picture.view.colour, {xy(1), xy(2), xy(3), xy(0)});
  picture.found.push_back("cHRM");
  return {};
}

}  // namespace

uint32_t big_endian_32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

std::optional<Bytes> find_png_chunk(Bytes file, std::string_view type) {
  size_t at = std::min(kSignature, file.size());
  while (file.size() - at >= kChunkHead + kChunkTail) {
    const size_t length = big_endian_32(&file[at]);
    if (length > file.size() - at - kChunkHead - kChunkTail) break;
    if (std::memcmp(&file[at + 4], type.data(), 4) == 0) return file.subspan(at + kChunkHead, length);
    at += kChunkHead + length + kChunkTail;
  }
  return std::nullopt;
}

Status read_png_colour(const EncodedFile& encoded, Picture& picture) {
  const Bytes file = encoded.bytes;
  if (const auto cicp = find_png_chunk(file, "cICP")) {
    const Bytes code = *cicp;
    if (code.size() != 4) return damaged(encoded, "PNG", "its cICP chunk does not hold four numbers");
    // PNG samples are RGB whatever the chunk says, but a wrong matrix shows that its writer meant something else.
    const Result<Colour> colour = colour_from_cicp(code[0], code[1], code[2], code[3] != 0, encoded.name);
    return colour.ok() ? set_cicp(encoded, picture, code[0], code[1]) : colour.status();
  }
  if (const auto iccp = find_png_chunk(file, "iCCP")) return read_iccp(encoded, picture, *iccp);
  if (find_png_chunk(file, "sRGB")) {
    picture.found.push_back("sRGB");
    return {};
  }
  const auto gama = find_png_chunk(file, "gAMA"), chrm = find_png_chunk(file, "cHRM");
  if (!gama && !chrm) {
    assume_srgb(picture);
    return {};
  }
  if (chrm) {
    if (const Status status = read_chrm(encoded, picture, *chrm); !status.ok()) return status;
  } else {
    picture.says_primaries = false;
  }
  if (gama) return read_gama(encoded, picture, *gama, chrm.has_value());
  picture.says_transfer = false;
  return {};
}

}  // namespace acuity
