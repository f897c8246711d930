// SPDX-License-Identifier: BSD-2-Clause-Patent
// The netpbm formats: PBM, PGM and PPM as text (P1 .. P3) and binary (P4 .. P6), PAM (P7), and PFM (Pf, PF).
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "media/decoder.h"
#include "media/file.h"

namespace acuity {
namespace {

bool is_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// Words and numbers of a header, or of samples written as text.
class Scanner {
 public:
  explicit Scanner(Bytes file, size_t start) : file_(file), at_(start) {}

  /// The next word; empty at the end. Comments run from # to the end of the line.
  std::string_view word() {
    skip_space();
    const size_t begin = at_;
    while (at_ < file_.size() && !is_space(file_[at_]) && file_[at_] != '#') ++at_;
    return {reinterpret_cast<const char*>(file_.data()) + begin, at_ - begin};
  }
  /// -1 when the next word is no whole number that fits.
  int64_t number() {
    const std::string_view text = word();
    int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
  }
  /// The digits of P1 may stand without space between them. -1 when there is none.
  int64_t bit() {
    skip_space();
    if (at_ >= file_.size() || (file_[at_] != '0' && file_[at_] != '1')) return -1;
    return file_[at_++] - '0';
  }
  /// What follows the one byte of space after a header.
  Bytes rest() const { return at_ < file_.size() ? file_.subspan(at_ + 1) : Bytes(); }
  bool only_space_left() {
    skip_space();
    return at_ == file_.size();
  }

 private:
  void skip_space() {
    for (; at_ < file_.size(); ++at_) {
      if (file_[at_] == '#') {
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
        if (at_ == file_.size()) return;
      } else if (!is_space(file_[at_])) {
        return;
      }
    }
  }

  Bytes file_;
  size_t at_;
};

struct Header {
  int64_t width = -1, height = -1, samples = -1, maximum = -1;
  bool text = false, bitmap = false;
};

Status read_pam_header(const EncodedFile& encoded, Scanner& scanner, Header& header) {
  std::string type;
  for (;;) {
    const std::string_view key = scanner.word();
    if (key == "ENDHDR") break;
    if (key == "WIDTH") {
      header.width = scanner.number();
    } else if (key == "HEIGHT") {
      header.height = scanner.number();
    } else if (key == "DEPTH") {
      header.samples = scanner.number();
    } else if (key == "MAXVAL") {
      header.maximum = scanner.number();
    } else if (key == "TUPLTYPE") {
      type = scanner.word();
    } else {
      return damaged(encoded, "PNM", fmt::format("its header has '{}' where a field name should be", key));
    }
  }
  const int64_t expected = type == "BLACKANDWHITE" || type == "GRAYSCALE"               ? 1
                           : type == "BLACKANDWHITE_ALPHA" || type == "GRAYSCALE_ALPHA" ? 2
                           : type == "RGB"                                              ? 3
                           : type == "RGB_ALPHA"                                        ? 4
                                                                                        : 0;
  if (expected == 0) {
    return unsupported(encoded, fmt::format("has the PAM tuple type '{}'", type),
                       "convert it to GRAYSCALE or RGB, with or without _ALPHA");
  }
  if (header.samples != expected) {
    return damaged(encoded, "PNM",
                   fmt::format("a tuple of type {} has {} samples, not {}", type, expected, header.samples));
  }
  return {};
}

Result<Header> read_header(const EncodedFile& encoded, Scanner& scanner) {
  const char kind = static_cast<char>(encoded.bytes[1]);
  Header header;
  header.text = kind <= '3';
  header.bitmap = kind == '1' || kind == '4';
  if (kind == '7') {
    if (const Status status = read_pam_header(encoded, scanner, header); !status.ok()) return status;
  } else {
    header.samples = kind == '3' || kind == '6' ? 3 : 1;
    header.width = scanner.number();
    header.height = scanner.number();
    header.maximum = header.bitmap ? 1 : scanner.number();
  }
  if (header.width < 0 || header.height < 0)
    return damaged(encoded, "PNM", "its width or height is missing or too large");
  if (header.maximum < 1 || header.maximum > 65535) {
    return damaged(encoded, "PNM", "its largest sample value is missing or not in 1 .. 65535");
  }
  return header;
}

/// One row of samples at a time, whichever way they are written.
class RowReader {
 public:
  RowReader(const Header& header, Scanner& scanner) : header_(header), scanner_(scanner), rest_(scanner.rest()) {
    const int64_t samples = header.width * header.samples;
    if (!header.text) row_bytes_ = header.bitmap ? (samples + 7) / 8 : header.maximum < 256 ? samples : 2 * samples;
  }

  /// Whether the file has as many bytes as its header asks for; text is measured while it is read.
  bool is_long_enough() const {
    const int64_t least = header_.text ? header_.width * header_.samples : row_bytes_;
    return static_cast<int64_t>(rest_.size()) / least >= header_.height;
  }
  bool has_more() { return header_.text ? !scanner_.only_space_left() : !Scanner(rest_, 0).only_space_left(); }
  /// Whether samples are bytes that use the full range.
  bool has_bytes() const { return !header_.text && !header_.bitmap && header_.maximum == 255; }
  /// Those of all rows.
  Bytes take_bytes() {
    const Bytes all = rest_.first(static_cast<size_t>(row_bytes_ * header_.height));
    rest_ = rest_.subspan(all.size());
    return all;
  }
  /// False when there is something other than a sample.
  bool read(std::vector<int64_t>& row) {
    const uint8_t* from = rest_.data();
    for (size_t i = 0; i < row.size(); ++i) {
      if (header_.text) {
        row[i] = header_.bitmap ? scanner_.bit() : scanner_.number();
      } else if (header_.bitmap) {
        row[i] = from[i / 8] >> (7 - i % 8) & 1;
      } else {
        row[i] = header_.maximum < 256 ? from[i] : from[2 * i] << 8 | from[2 * i + 1];
      }
      if (row[i] < 0 || row[i] > header_.maximum) return false;
      if (header_.bitmap) row[i] = 1 - row[i];  // 1 is black
    }
    rest_ = rest_.subspan(static_cast<size_t>(row_bytes_));
    return true;
  }

 private:
  const Header& header_;
  Scanner& scanner_;
  Bytes rest_;
  int64_t row_bytes_ = 0;
};

// The samples as they are where an integer type has that range, and otherwise as fractions of the largest value.
void store(const std::vector<int64_t>& row, int64_t maximum, SampleType type, std::byte* to) {
  for (const int64_t sample : row) {
    if (type == SampleType::u8) {
      *to++ = static_cast<std::byte>(sample * (255 / maximum));
    } else if (type == SampleType::u16) {
      const auto value = static_cast<uint16_t>(sample);
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
    } else {
      const float value = static_cast<float>(sample) / static_cast<float>(maximum);
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
    }
  }
}

Status read_rows(const EncodedFile& encoded, const Header& header, RowReader& reader, Picture& picture) {
  if (reader.has_bytes()) {
    const Bytes samples = reader.take_bytes();
    std::memcpy(row_of(picture, 0), samples.data(), samples.size());
    return {};
  }
  std::vector<int64_t> row(static_cast<size_t>(header.width * header.samples));
  for (int64_t y = 0; y < header.height; ++y) {
    if (!reader.read(row)) {
      return damaged(encoded, "PNM",
                     fmt::format("row {} lacks a sample, or has one that is not in 0 .. {}", y, header.maximum));
    }
    store(row, header.maximum, picture.view.type, row_of(picture, y));
  }
  return {};
}

}  // namespace

size_t pnm_header_bytes(Bytes beginning) {
  const PictureLimits limits;
  Scanner scanner(beginning, 2);
  return read_header({beginning, "", limits}, scanner).ok() ? beginning.size() - scanner.rest().size() : 0;
}

Result<Picture> decode_pnm(const EncodedFile& encoded) {
  Scanner scanner(encoded.bytes, 2);
  const Result<Header> header = read_header(encoded, scanner);
  if (!header.ok()) return header.status();
  Shape shape{header->width, header->height, static_cast<Channels>(header->samples)};
  if (const Status status = check_size(encoded, shape.width, shape.height); !status.ok()) return status;
  const auto maximum = static_cast<uint32_t>(header->maximum);
  if (255 % maximum != 0) {
    const bool whole_bits = maximum > 255 && std::has_single_bit(maximum + 1);
    shape.type = whole_bits ? SampleType::u16 : SampleType::f32;
    if (whole_bits) shape.depth = std::bit_width(maximum);
  }
  if (maximum == 1) {
    shape.stored = describe(1, false, shape.channels);
  } else if (maximum != 255 && shape.type != SampleType::u16) {
    shape.stored = fmt::format("{} of 0 .. {}", header->samples < 3 ? "grey" : "RGB", maximum);
  }

  RowReader reader(*header, scanner);
  if (!reader.is_long_enough()) return damaged(encoded, "PNM", "it ends too early");
  Result<Picture> picture = Status();
  if (reader.has_bytes() && encoded.memory) {
    picture = picture_in_file(encoded, "PNM", shape, reader.take_bytes());
    if (!picture.ok()) return picture;
  } else {
    picture = make_picture(encoded, "PNM", shape);
    if (!picture.ok()) return picture;
    if (const Status status = read_rows(encoded, *header, reader, *picture); !status.ok()) return status;
  }
  if (reader.has_more()) {
    return unsupported(encoded, "continues after its first picture", "split it into one file per picture");
  }
  assume_srgb(*picture);
  return picture;
}

Result<Picture> decode_pfm(const EncodedFile& encoded) {
  Scanner scanner(encoded.bytes, 2);
  Shape shape;
  shape.channels = encoded.bytes[1] == 'F' ? Channels::rgb : Channels::grey;
  shape.type = SampleType::f32;
  shape.width = scanner.number();
  shape.height = scanner.number();
  const std::string_view text = scanner.word();
  double scale = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  if (shape.width < 0 || shape.height < 0 || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(scale) || scale == 0) {
    return damaged(encoded, "PFM", "its width, height or scale is missing or not a number");
  }
  if (const Status status = check_size(encoded, shape.width, shape.height); !status.ok()) return status;
  const int64_t row_samples = shape.width * static_cast<int64_t>(shape.channels);
  const Bytes samples = scanner.rest();
  const int64_t expected = 4 * row_samples * shape.height;
  if (static_cast<int64_t>(samples.size()) != expected) {
    return damaged(encoded, "PFM", fmt::format("{} bytes follow its header, not {}", samples.size(), expected));
  }
  Result<Picture> picture = make_picture(encoded, "PFM", shape);
  if (!picture.ok()) return picture;

  const bool little = scale < 0;
  const bool swap = little != (std::endian::native == std::endian::little);
  std::atomic<int64_t> next = 0;
  reading_threads().run([&](int) {
    for (int64_t y = next++; y < shape.height; y = next++) {
      std::byte* to = row_of(*picture, shape.height - 1 - y);  // the last row comes first
      std::memcpy(to, samples.data() + 4 * row_samples * y, static_cast<size_t>(4 * row_samples));
      for (int64_t i = 0; swap && i < row_samples; ++i) {
        std::swap(to[4 * i], to[4 * i + 3]);
        std::swap(to[4 * i + 1], to[4 * i + 2]);
      }
    }
  });
  if (scale != 1 && scale != -1)
    picture->found.push_back(fmt::format("scale {}, not applied", little ? -scale : scale));
  picture->view.colour.transfer = Transfer::linear;
  picture->says_transfer = picture->says_primaries = false;
  if (const Status status = check_finite(encoded, *picture); !status.ok()) return status;
  return picture;
}

}  // namespace acuity
