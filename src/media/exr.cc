// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>
#include <exception>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputFile.h>
#include <ImfTileDescription.h>
#include <ImfStandardAttributes.h>
#include <fmt/format.h>

#include "colour/cicp.h"
#include "media/decoder.h"
#include "media/exr_header.h"

namespace acuity {
namespace {

class MemoryStream : public Imf::IStream {
 public:
  /// `headers` are read instead of the first bytes of the file.
  MemoryStream(Bytes headers, Bytes file, const char* name) : Imf::IStream(name), headers_(headers), file_(file) {}
  bool read(char* to, int count) override {
    const auto size = static_cast<size_t>(count);
    if (count < 0 || at_ > file_.size() || size > file_.size() - at_) throw std::runtime_error("it ends too early");
    const size_t of_headers = at_ < headers_.size() ? std::min(size, headers_.size() - at_) : 0;
    if (of_headers > 0) std::memcpy(to, headers_.data() + at_, of_headers);
    std::memcpy(to + of_headers, file_.data() + at_ + of_headers, size - of_headers);
    at_ += size;
    return at_ < file_.size();
  }
  uint64_t tellg() override { return at_; }
  void seekg(uint64_t position) override { at_ = position; }

 private:
  Bytes headers_;
  Bytes file_;
  uint64_t at_ = 0;
};

struct Samples {
  std::vector<const char*> names;  // R G B (A) or Y (A)
  Channels channels = Channels::rgb;
  bool half = true;
};

Result<Samples> choose_samples(const EncodedFile& encoded, const Imf::ChannelList& list) {
  const auto has = [&list](const char* name) { return list.findChannel(name) != nullptr; };
  Samples samples;
  const bool alpha = has("A");
  if (has("R") && has("G") && has("B")) {
    samples.names = {"R", "G", "B"};
    samples.channels = alpha ? Channels::rgba : Channels::rgb;
  } else if (has("Y") && !has("RY") && !has("BY")) {
    samples.names = {"Y"};
    samples.channels = alpha ? Channels::grey_alpha : Channels::grey;
  } else {
    std::string names;
    for (auto channel = list.begin(); channel != list.end(); ++channel) {
      names += (names.empty() ? "" : ", ") + std::string(channel.name());
    }
    return unsupported(encoded, fmt::format("has the channels {}, not R, G and B, or only Y", names),
                       "write the layer to compare as RGB");
  }
  if (alpha) samples.names.push_back("A");
  for (const char* name : samples.names) {
    const Imf::Channel& channel = list[name];
    if (channel.type == Imf::UINT) {
      return unsupported(encoded, fmt::format("has integers in channel {}", name), "convert it to half or float");
    }
    if (channel.xSampling != 1 || channel.ySampling != 1) {
      return unsupported(encoded, fmt::format("has fewer samples than pixels in channel {}", name),
                         "write it at full resolution");
    }
    samples.half = samples.half && channel.type == Imf::HALF;
  }
  return samples;
}

// The header alone. Opening the file right away would allocate by what an unchecked header claims.
Result<Imf::Header> read_header(const EncodedFile& encoded, MemoryStream& stream) {
  constexpr size_t kStart = 8;
  constexpr uint8_t kDeep = 0x08, kSeveralParts = 0x10;  // in the second byte of the version
  int version = encoded.bytes[4];
  const uint8_t flags = encoded.bytes[5];
  if ((flags & kDeep) != 0) return unsupported(encoded, "holds deep data", "flatten it");
  stream.seekg(kStart);
  Imf::Header header;
  header.readFrom(stream, version);
  if ((flags & kSeveralParts) == 0) return header;
  int parts = 1;
  // An empty header ends the list of parts.
  for (; stream.tellg() < encoded.bytes.size() && encoded.bytes[stream.tellg()] != 0; ++parts) {
    Imf::Header other;
    other.readFrom(stream, version);
  }
  if (parts != 1) return unsupported(encoded, fmt::format("holds {} parts", parts), "extract the part to compare");
  return header;
}

// OpenEXR keeps a row of tiles, and one tile with all its channels. Neither depends on the picture's size alone.
Result<int64_t> bytes_of_tiles(const EncodedFile& encoded, const Imf::Header& header, int64_t width) {
  if (!header.hasTileDescription()) return 0;
  const Imf::TileDescription& tile = header.tileDescription();
  if (tile.xSize > encoded.limits.maximum_side || tile.ySize > encoded.limits.maximum_side) {
    return damaged(encoded, "OpenEXR", fmt::format("its tiles are of {}x{} pixels", tile.xSize, tile.ySize));
  }
  int64_t channels = 0;
  for (auto it = header.channels().begin(); it != header.channels().end(); ++it) ++channels;
  return (width + 2 * int64_t{tile.xSize}) * tile.ySize * channels * int64_t{sizeof(float)};
}

Result<Picture> decode(const EncodedFile& encoded) {
  const std::string name(encoded.name);
  const Result<std::vector<uint8_t>> headers = checked_exr_headers(encoded);
  if (!headers.ok()) return headers.status();
  MemoryStream stream(*headers, encoded.bytes, name.c_str());
  const Result<Imf::Header> header = read_header(encoded, stream);
  if (!header.ok()) return header.status();
  const Imath::Box2i window = header->dataWindow(), display = header->displayWindow();
  const int64_t width = int64_t{window.max.x} - window.min.x + 1, height = int64_t{window.max.y} - window.min.y + 1;
  if (const Status status = check_size(encoded, width, height); !status.ok()) return status;
  if (window != display) {
    return unsupported(
        encoded,
        fmt::format("has a data window ({}, {})-({}, {}) other than its display window ({}, {})-({}, {})", window.min.x,
                    window.min.y, window.max.x, window.max.y, display.min.x, display.min.y, display.max.x,
                    display.max.y),
        "crop or fill it to the display window");
  }
  const Result<Samples> samples = choose_samples(encoded, header->channels());
  if (!samples.ok()) return samples.status();

  Shape shape{width, height, samples->channels, SampleType::f32};
  shape.stored = describe(samples->half ? 16 : 32, true, shape.channels);
  const Result<int64_t> working_bytes = bytes_of_tiles(encoded, *header, width);
  if (!working_bytes.ok()) return working_bytes.status();
  Result<Picture> picture = make_picture(encoded, "OpenEXR", shape, *working_bytes);
  if (!picture.ok()) return picture;
  const ImageView& view = picture->view;

  stream.seekg(0);
  Imf::InputFile file(stream);
  Imf::FrameBuffer frame;
  for (size_t c = 0; c < samples->names.size(); ++c) {
    frame.insert(samples->names[c],
                 Imf::Slice::Make(Imf::FLOAT, view.planes[c], window, static_cast<size_t>(view.pixel_stride),
                                  static_cast<size_t>(view.row_stride)));
  }
  file.setFrameBuffer(frame);
  file.readPixels(window.min.y, window.max.y);

  Colour& colour = picture->view.colour;
  colour.transfer = Transfer::linear;
  picture->found.push_back("linear light");
  if (Imf::hasChromaticities(file.header())) {
    const Imf::Chromaticities& chromaticities = Imf::chromaticities(file.header());
    const auto xy = [](const Imath::V2f& v) { return std::array<double, 2>{double{v.x}, double{v.y}}; };
    set_chromaticities(
        colour, {xy(chromaticities.red), xy(chromaticities.green), xy(chromaticities.blue), xy(chromaticities.white)});
    picture->found.push_back("chromaticities");
  } else {
    picture->says_primaries = false;
  }
  if (const Status status = check_finite(encoded, *picture); !status.ok()) return status;
  if (view.has_alpha()) {
    if (const Status status = divide_by_alpha(encoded, *picture); !status.ok()) return status;
  }
  return picture;
}

}  // namespace

Result<Picture> decode_exr(const EncodedFile& encoded) {
  try {
    return decode(encoded);
  } catch (const std::bad_alloc&) {
    throw;  // decode_picture says what happened
  } catch (const std::exception& error) {
    return damaged(encoded, "OpenEXR", error.what());
  }
}

}  // namespace acuity
