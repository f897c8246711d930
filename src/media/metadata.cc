// SPDX-License-Identifier: BSD-2-Clause-Patent
// Colour and orientation as files state them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "colour/cicp.h"
#include "colour/icc.h"
#include "media/decoder.h"

namespace acuity {
namespace {

constexpr std::string_view kExifPrefix("Exif\0\0", 6);

// EXIF is a TIFF file of its own, in either byte order.
class ExifReader {
 public:
  explicit ExifReader(Bytes exif) : exif_(exif) {}

  bool begins_well() {
    if (exif_.size() < 8) return false;
    little_endian_ = exif_[0] == 'I' && exif_[1] == 'I';
    return (little_endian_ || (exif_[0] == 'M' && exif_[1] == 'M')) && number(2, 2) == 42;
  }
  bool holds(size_t offset, size_t size) const { return offset <= exif_.size() && size <= exif_.size() - offset; }
  uint32_t number(size_t offset, size_t size) const {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | exif_[offset + (little_endian_ ? size - 1 - i : i)];
    return value;
  }

 private:
  Bytes exif_;
  bool little_endian_ = false;
};

}  // namespace

Status set_icc(const EncodedFile& encoded, Picture& picture, Bytes profile) {
  const Result<IccConversion> conversion = read_icc(profile, picture.view.is_grey());
  if (!conversion.ok()) {
    return Status(conversion.status().code(),
                  fmt::format("'{}' cannot be used: {}", encoded.name, conversion.status().message()));
  }
  picture.view.colour = Colour{};
  picture.view.colour.icc = std::make_shared<const std::vector<uint8_t>>(profile.begin(), profile.end());
  picture.found.push_back(fmt::format("ICC profile '{}'", conversion->name));
  return {};
}

Status set_cicp(const EncodedFile& encoded, Picture& picture, int primaries, int transfer) {
  Result<Colour> colour = colour_from_cicp(primaries, transfer, 0, true, encoded.name);
  if (!colour.ok()) return colour.status();
  picture.view.colour = *colour;
  if (primaries == kCicpUnspecified && transfer == kCicpUnspecified) {
    assume_srgb(picture);
    return {};
  }
  picture.found.push_back(fmt::format("CICP primaries {}, transfer {}", primaries, transfer));
  picture.says_primaries = primaries != kCicpUnspecified;
  picture.says_transfer = transfer != kCicpUnspecified;
  return {};
}

std::string set_gamma(Picture& picture, double gamma, bool has_primaries) {
  // ImageMagick and many others write 1 / 2.2 with the primaries of sRGB for sRGB itself, which libpng and browsers
  // read so, and cjxl takes it over; FFmpeg writes 1 / 1.961 for the camera curve of BT.709, which is shown on BT.1886
  // displays.
  constexpr double kSrgb = 0.45455, kBt709 = 0.50994, kTolerance = 5e-5;
  Colour& colour = picture.view.colour;
  const bool bt709 = has_primaries && (picture.view.is_grey() || colour.primaries == Primaries::bt709);
  if (bt709 && std::abs(gamma - kSrgb) <= kTolerance) {
    colour.transfer = Transfer::srgb;
    return " with the primaries of sRGB, which means sRGB";
  }
  if (has_primaries && std::abs(gamma - kBt709) <= kTolerance) {
    colour.transfer = Transfer::bt1886;
    return ", which means the BT.709 curve, shown on a BT.1886 display";
  }
  colour.transfer = gamma == 1 ? Transfer::linear : Transfer::gamma;
  colour.gamma = 1 / gamma;
  return "";
}

void assume_srgb(Picture& picture) {
  picture.view.colour = Colour{};
  picture.says_transfer = picture.says_primaries = false;
}

bool is_exif(Bytes bytes) {
  return bytes.size() >= kExifPrefix.size() && std::equal(kExifPrefix.begin(), kExifPrefix.end(), bytes.begin());
}

int exif_orientation(Bytes exif) {
  constexpr uint32_t kOrientation = 0x0112, kShort = 3;
  ExifReader reader(is_exif(exif) ? exif.subspan(kExifPrefix.size()) : exif);
  if (!reader.begins_well()) return 1;
  const size_t directory = reader.number(4, 4);
  if (!reader.holds(directory, 2)) return 1;
  const uint32_t entries = reader.number(directory, 2);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + size_t{12} * i;
    if (!reader.holds(entry, 12)) return 1;
    if (reader.number(entry, 2) != kOrientation || reader.number(entry + 2, 2) != kShort) continue;
    const uint32_t orientation = reader.number(entry + 8, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

Status apply_exif(const EncodedFile& encoded, Picture& picture, int orientation) {
  if (orientation == 1) return {};
  picture.found.push_back(fmt::format("EXIF orientation {} applied", orientation));
  return turn_upright(encoded, picture, orientation);
}

}  // namespace acuity
