// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/png_animation.h"

#include <cstring>

#include <fmt/format.h>
#include <zlib.h>

#include "base/try.h"
#include "media/png_chunks.h"

namespace acuity {
namespace {

constexpr uint8_t kSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

uint32_t checksum(Bytes type_and_data) {
  return static_cast<uint32_t>(crc32(0, type_and_data.data(), static_cast<uInt>(type_and_data.size())));
}

uint32_t big_endian_16(const uint8_t* bytes) { return uint32_t{bytes[0]} << 8 | bytes[1]; }

void append_32(std::vector<uint8_t>& file, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.push_back(static_cast<uint8_t>(value >> shift));
}

void append_chunk(std::vector<uint8_t>& file, std::string_view type, Bytes data) {
  append_32(file, static_cast<uint32_t>(data.size()));
  const size_t begin = file.size();
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), data.begin(), data.end());
  append_32(file, checksum(Bytes(file).subspan(begin)));
}

// Goes through the chunks of an animation in their order.
class Collector {
 public:
  explicit Collector(const EncodedFile& encoded) : encoded_(encoded) {}

  Result<std::optional<PngAnimation>> collect() {
    bool ended = false;
    for (size_t at = sizeof kSignature; !ended;) {
      const Bytes rest = encoded_.bytes.subspan(std::min(at, encoded_.bytes.size()));
      const size_t length = rest.size() < 12 ? 0 : big_endian_32(rest.data());
      if (rest.size() < 12 || length > rest.size() - 12) return bad("it ends too early");
      const Bytes type_and_data = rest.subspan(4, 4 + length);
      if (checksum(type_and_data) != big_endian_32(&rest[8 + length])) return bad("a checksum is wrong");
      const std::string_view type(reinterpret_cast<const char*>(type_and_data.data()), 4);
      ACUITY_TRY(take(type, type_and_data.subspan(4)));
      ended = type == "IEND";
      at += 12 + length;
    }
    if (animation_.frames.size() != declared_) {
      return bad(fmt::format("it declares {} frames and has {}", declared_, animation_.frames.size()));
    }
    for (const PngFrame& frame : animation_.frames) {
      if (frame.data.empty()) return bad("a frame has no data");
    }
    return std::optional(std::move(animation_));
  }

 private:
  Status bad(std::string_view what) const { return damaged(encoded_, "PNG", what); }

  Status take(std::string_view type, Bytes data) {
    if (type == "IHDR") return take_header(data);
    if (type == "acTL" && data.size() == 8) declared_ = big_endian_32(data.data());
    if (type == "PLTE" && !animation_.palette) animation_.palette = data;
    if (type == "tRNS" && !animation_.transparent) animation_.transparent = data;
    if (type == "fcTL") return take_control(data);
    // Without a fcTL before it, IDAT is for programs that do not know animations.
    if (type == "IDAT" && !animation_.frames.empty()) animation_.frames.back().data.push_back(data);
    if (type != "fdAT") return {};
    if (data.size() < 4 || animation_.frames.empty()) return bad("an fdAT chunk is out of place");
    ACUITY_TRY(count(data));
    animation_.frames.back().data.push_back(data.subspan(4));
    return {};
  }

  Status take_header(Bytes data) {
    if (data.size() != 13) return bad("it has no header");
    animation_.header = data;
    animation_.width = big_endian_32(data.data());
    animation_.height = big_endian_32(data.data() + 4);
    return check_size(encoded_, animation_.width, animation_.height);
  }

  Status take_control(Bytes data) {
    if (data.size() != 26) return bad("an fcTL chunk is not 26 bytes long");
    ACUITY_TRY(count(data));
    PngFrame frame;
    frame.place.width = big_endian_32(&data[4]);
    frame.place.height = big_endian_32(&data[8]);
    frame.place.x = big_endian_32(&data[12]);
    frame.place.y = big_endian_32(&data[16]);
    const uint32_t parts = big_endian_16(&data[22]);  // 0 stands for 100
    frame.seconds = static_cast<double>(big_endian_16(&data[20])) / (parts == 0 ? 100 : parts);
    if (data[24] > 2 || data[25] > 1) return bad("an fcTL chunk has an unknown value");
    frame.place.disposal = static_cast<Disposal>(data[24]);
    frame.place.blend = data[25] == 1;
    animation_.frames.push_back(std::move(frame));
    return {};
  }

  // The chunks of an animation are numbered.
  Status count(Bytes data) {
    return big_endian_32(data.data()) == sequence_++ ? Status() : bad("its frames are out of order");
  }

  const EncodedFile& encoded_;
  PngAnimation animation_;
  uint64_t declared_ = 0;
  uint32_t sequence_ = 0;
};

}  // namespace

Result<std::optional<PngAnimation>> read_png_animation(const EncodedFile& encoded) {
  if (!find_png_chunk(encoded.bytes, "acTL")) return std::optional<PngAnimation>();
  return Collector(encoded).collect();
}

std::vector<uint8_t> png_of_frame(const PngAnimation& animation, const PngFrame& frame) {
  std::vector<uint8_t> header(animation.header.begin(), animation.header.end());
  const auto put = [&](size_t at, int64_t value) {
    for (size_t i = 0; i < 4; ++i) header[at + i] = static_cast<uint8_t>(value >> (24 - 8 * i));
  };
  put(0, frame.place.width);
  put(4, frame.place.height);
  std::vector<uint8_t> file(std::begin(kSignature), std::end(kSignature));
  append_chunk(file, "IHDR", header);
  if (animation.palette) append_chunk(file, "PLTE", *animation.palette);
  if (animation.transparent) append_chunk(file, "tRNS", *animation.transparent);
  for (const Bytes data : frame.data) append_chunk(file, "IDAT", data);
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace acuity
