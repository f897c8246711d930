// SPDX-License-Identifier: BSD-2-Clause-Patent
// HEIC: pictures coded as HEVC, of one piece or of tiles. libavcodec decodes them, and the arithmetic of docs/video.md
// makes RGB of them.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "media/heif.h"
#include "media/libav_complaints.h"
#include "media/libav_frame.h"
#include "media/planes.h"
#include "media/png_chunks.h"

namespace acuity {
namespace {

// A decoded item: planes without gaps between them, as in a frame of video.
struct Coded {
  VideoFormat format;
  SampleFacts said;  // about primaries and transfer function
  SampleBytes samples;

  Planes::Plane plane(size_t which) {
    const size_t bytes = format.depth > 8 ? 2 : 1;
    const size_t luma = static_cast<size_t>(format.width) * static_cast<size_t>(format.height) * bytes;
    const size_t row = static_cast<size_t>(format.chroma_width()) * bytes;
    if (which == 0) return {samples.data(), static_cast<size_t>(format.width) * bytes};
    return {samples.data() + luma + (which - 1) * row * static_cast<size_t>(format.chroma_height()), row};
  }
  size_t planes() const { return format.subsampling == Subsampling::grey ? 1 : 3; }
};

/// libavcodec's decoder for one picture at a time.
class HevcDecoder {
 public:
  HevcDecoder(const EncodedFile& encoded, const Libav& libav) : encoded_(encoded), libav_(libav) {}
  ~HevcDecoder() {
    libav_.avcodec_free_context(&decoder_);
    libav_.av_packet_free(&packet_);
    libav_.av_frame_free(&frame_);
  }
  HevcDecoder(const HevcDecoder&) = delete;
  HevcDecoder& operator=(const HevcDecoder&) = delete;

  Result<Coded> decode(const HeifItem& item) {
    ACUITY_TRY(open(item));
    if (libav_.av_new_packet(packet_, static_cast<int>(item.data.size())) < 0) return out_of_memory();
    std::memcpy(packet_->data, item.data.data(), item.data.size());
    int error = libav_.avcodec_send_packet(decoder_, packet_);
    if (error >= 0) error = libav_.avcodec_send_packet(decoder_, nullptr);
    if (error >= 0) error = libav_.avcodec_receive_frame(decoder_, frame_);
    if (error == AVERROR(ENOMEM)) return out_of_memory();
    const std::string complaint = complaints_.first();
    if (error < 0 || !complaint.empty()) return bad(complaint.empty() ? libav_error(libav_, error) : complaint);
    if (frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0) {
      return bad("the decoder replaced missing data");
    }
    Coded coded;
    coded.format.width = frame_->width;
    coded.format.height = frame_->height;
    ACUITY_TRY(check_size(encoded_, frame_->width, frame_->height));
    SampleFacts& said = coded.said;
    Result<PixelKind> kind =
        describe_pixels(libav_, *frame_, static_cast<AVPixelFormat>(frame_->format), encoded_.name, coded.format, said);
    if (!kind.ok()) return kind.status();
    if (*kind == PixelKind::rgb) {
      return unsupported(encoded_, "is HEIC with other samples than Y'CbCr", "convert it to PNG");
    }
    coded.format.full_range = said.full_range.value_or(false);
    coded.format.matrix = said.matrix.value_or(Matrix::bt601);
    coded.format.siting = said.siting.value_or(Siting::left);
    if (!said.matrix) coded.format.assumed.emplace_back("BT.601 matrix (the file leaves it unspecified)");
    copy_planes(libav_, *frame_, coded.format, coded.samples);
    return coded;
  }

 private:
  Status bad(std::string_view what) const { return damaged(encoded_, "HEIC", what); }
  Status out_of_memory() const {
    return Status(StatusCode::out_of_memory, fmt::format("out of memory while reading '{}'", encoded_.name));
  }

  Status open(const HeifItem& item) {
    const Bytes configuration = item.property("hvcC");
    if (item.type != "hvc1" || configuration.empty() || item.data.empty()) {
      return unsupported(encoded_, fmt::format("is HEIC whose picture is '{}', not HEVC", item.type),
                         "convert it to PNG");
    }
    const AVCodec* codec = libav_.avcodec_find_decoder(AV_CODEC_ID_HEVC);
    if (codec == nullptr) return unsupported(encoded_, "needs HEVC, which this libavcodec lacks", "convert it to PNG");
    decoder_ = libav_.avcodec_alloc_context3(codec);
    packet_ = libav_.av_packet_alloc();
    frame_ = libav_.av_frame_alloc();
    if (decoder_ == nullptr || packet_ == nullptr || frame_ == nullptr) return out_of_memory();
    decoder_->extradata = static_cast<uint8_t*>(libav_.av_mallocz(configuration.size() + AV_INPUT_BUFFER_PADDING_SIZE));
    if (decoder_->extradata == nullptr) return out_of_memory();
    std::memcpy(decoder_->extradata, configuration.data(), configuration.size());
    decoder_->extradata_size = static_cast<int>(configuration.size());
    decoder_->thread_count = 1;
    decoder_->max_pixels = encoded_.limits.maximum_pixels;
    decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
    decoder_->opaque = &complaints_;
    const int error = libav_.avcodec_open2(decoder_, codec, nullptr);
    return error < 0 ? bad(libav_error(libav_, error)) : Status();
  }

  const EncodedFile& encoded_;
  const Libav& libav_;
  Complaints complaints_;
  AVCodecContext* decoder_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* frame_ = nullptr;
};

struct Extents {
  int64_t width = 0, height = 0;
};

class HeicReader {
 public:
  HeicReader(const EncodedFile& encoded, const Libav& libav) : encoded_(encoded), libav_(libav) {}

  Result<Picture> read() {
    ACUITY_TRY(file_.read(encoded_));
    HeifItem item;
    ACUITY_TRY_ASSIGN(item, file_.item(file_.primary()));
    Extents size;
    ACUITY_TRY_ASSIGN(size, extents_of(item));
    // The samples of at most two bytes, once as tiles and once together, and those of the decoder.
    const int64_t working_bytes = 16 * size.width * size.height;
    ACUITY_TRY(check_memory(encoded_, size.width, size.height, working_bytes));
    Coded coded;
    ACUITY_TRY_ASSIGN(coded, decode(file_.primary(), item));
    ACUITY_TRY(read_nclx(item, coded.format));
    Coded alpha;
    const std::optional<uint32_t> alpha_id = file_.alpha_of(file_.primary());
    if (alpha_id) ACUITY_TRY_ASSIGN(alpha, decode_alpha(*alpha_id, coded.format));

    Planes planes;
    planes.format = coded.format;
    for (size_t p = 0; p < coded.planes(); ++p) planes.colour[p] = coded.plane(p);
    if (alpha_id) planes.alpha = alpha.plane(0);
    Shape shape;
    shape.width = coded.format.width;
    shape.height = coded.format.height;
    shape.channels = channels_of(planes);
    shape.type = SampleType::f32;
    shape.stored = describe(coded.format.depth, false, shape.channels);
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, make_picture(encoded_, "HEIC", shape, working_bytes));
    convert_planes(planes, picture);
    ACUITY_TRY(name_colour(item, coded, picture));
    if (alpha_id && !file_.references("prem", file_.primary()).empty()) ACUITY_TRY(divide_by_alpha(encoded_, picture));
    ACUITY_TRY(transform(item, picture));
    if (file_.pictures() > 1) picture.found.push_back(fmt::format("the primary one of {} pictures", file_.pictures()));
    return picture;
  }

 private:
  Status bad(std::string_view what) const { return damaged(encoded_, "HEIC", what); }

  Result<Extents> extents_of(const HeifItem& item) const {
    const Bytes content = item.property("ispe");
    if (content.size() < 12) return bad("the size of its picture is missing");
    const Extents size{big_endian_32(&content[4]), big_endian_32(&content[8])};
    ACUITY_TRY(check_size(encoded_, size.width, size.height));
    return size;
  }

  Result<Coded> decode(uint32_t id, const HeifItem& item) {
    Coded coded;
    ACUITY_TRY_ASSIGN(coded, item.type == "grid" ? decode_grid(id, item) : HevcDecoder(encoded_, libav_).decode(item));
    Extents size;
    ACUITY_TRY_ASSIGN(size, extents_of(item));
    // Some writers announce the size after turning.
    const bool turned = !item.property("irot").empty();
    const bool fits = coded.format.width == size.width && coded.format.height == size.height;
    const bool fits_turned = coded.format.width == size.height && coded.format.height == size.width;
    if (!fits && !(turned && fits_turned)) {
      return bad(fmt::format("it announces {}x{} pixels and has {}x{}", size.width, size.height, coded.format.width,
                             coded.format.height));
    }
    return coded;
  }

  // Tiles of equal size, row by row; the last of a row and the last row may reach beyond the picture.
  Result<Coded> decode_grid(uint32_t id, const HeifItem& item) {
    const Bytes head = item.data;
    const bool wide = head.size() >= 2 && (head[1] & 1) != 0;
    if (head.size() < (wide ? 12u : 8u)) return bad("its grid of tiles is incomplete");
    const int64_t rows = head[2] + 1, columns = head[3] + 1;
    const auto number = [&](size_t which) {
      return wide ? int64_t{big_endian_32(&head[4 + 4 * which])}
                  : int64_t{head[4 + 2 * which]} << 8 | head[5 + 2 * which];
    };
    const Extents size{number(0), number(1)};
    ACUITY_TRY(check_size(encoded_, size.width, size.height));
    const std::vector<uint32_t> tiles = file_.references("dimg", id);
    if (static_cast<int64_t>(tiles.size()) != rows * columns) return bad("tiles of its grid are missing");
    Coded whole;
    for (size_t i = 0; i < tiles.size(); ++i) {
      HeifItem part;
      ACUITY_TRY_ASSIGN(part, file_.item(tiles[i]));
      Coded tile;
      ACUITY_TRY_ASSIGN(tile, HevcDecoder(encoded_, libav_).decode(part));
      const int64_t column = static_cast<int64_t>(i) % columns, row = static_cast<int64_t>(i) / columns;
      if (i == 0) {
        whole.format = tile.format;
        whole.said = tile.said;
        if (tile.format.width * columns < size.width || tile.format.height * rows < size.height ||
            tile.format.width * (columns - 1) >= size.width || tile.format.height * (rows - 1) >= size.height) {
          return bad("the tiles of its grid do not cover it");
        }
        whole.format.width = static_cast<int>(size.width);
        whole.format.height = static_cast<int>(size.height);
        whole.samples.assign(whole.format.frame_bytes(), 0);
        tile_ = tile.format;
      }
      const VideoFormat& like = tile.format;
      const bool odd = like.subsampling != Subsampling::yuv444 && like.subsampling != Subsampling::grey &&
                       (like.width % 2 != 0 || like.height % 2 != 0);
      if (like.width != tile_.width || like.height != tile_.height || like.depth != tile_.depth ||
          like.subsampling != tile_.subsampling || (odd && tiles.size() > 1)) {
        return bad("the tiles of its grid differ");
      }
      place(tile, column, row, whole);
    }
    return whole;
  }

  static void place(Coded& tile, int64_t column, int64_t row, Coded& whole) {
    const size_t bytes = whole.format.depth > 8 ? 2 : 1;
    for (size_t p = 0; p < whole.planes(); ++p) {
      const Planes::Plane from = tile.plane(p), to = whole.plane(p);
      const int64_t width = p == 0 ? tile.format.width : tile.format.chroma_width();
      const int64_t height = p == 0 ? tile.format.height : tile.format.chroma_height();
      const int64_t all_width = p == 0 ? whole.format.width : whole.format.chroma_width();
      const int64_t all_height = p == 0 ? whole.format.height : whole.format.chroma_height();
      const auto part = static_cast<size_t>(std::min(width, all_width - column * width)) * bytes;
      for (int64_t y = 0; y < std::min(height, all_height - row * height); ++y) {
        const size_t target =
            static_cast<size_t>(row * height + y) * to.row_bytes + static_cast<size_t>(column * width) * bytes;
        std::memcpy(const_cast<uint8_t*>(to.data) + target, from.data + static_cast<size_t>(y) * from.row_bytes, part);
      }
    }
  }

  Result<Coded> decode_alpha(uint32_t id, const VideoFormat& colour) {
    HeifItem item;
    ACUITY_TRY_ASSIGN(item, file_.item(id));
    Coded alpha;
    ACUITY_TRY_ASSIGN(alpha, decode(id, item));
    if (alpha.format.width != colour.width || alpha.format.height != colour.height ||
        alpha.format.depth != colour.depth) {
      return unsupported(encoded_, "has colour and alpha of different sizes or depths", "convert it to PNG");
    }
    return alpha;
  }

  // What the container says of range and matrix counts more than what is coded.
  Status read_nclx(const HeifItem& item, VideoFormat& format) const {
    const Bytes nclx = colour_of(item, "nclx");
    if (nclx.size() < 7) return {};
    format.full_range = (nclx[6] & 0x80) != 0;
    const int code = nclx[4] << 8 | nclx[5];
    if (code == 2) return {};
    const std::optional<Matrix> matrix = matrix_of(code);
    if (!matrix && format.subsampling != Subsampling::grey) {
      return unsupported(encoded_, fmt::format("has colour matrix {} of H.273, which is not supported", code),
                         "convert it to PNG");
    }
    format.matrix = matrix.value_or(format.matrix);
    format.assumed.clear();
    return {};
  }

  // The content of a colr property of that kind, without the kind.
  static Bytes colour_of(const HeifItem& item, std::string_view kind) {
    for (const HeifProperty& property : item.properties) {
      if (property.type == "colr" && property.content.size() >= 4 &&
          std::memcmp(property.content.data(), kind.data(), 4) == 0) {
        return property.content.subspan(4);
      }
    }
    return {};
  }

  Status name_colour(const HeifItem& item, const Coded& coded, Picture& picture) const {
    const VideoFormat& format = coded.format;
    picture.found.push_back(format.full_range ? "full range" : "limited range");
    if (format.subsampling != Subsampling::grey) {
      picture.found.push_back(fmt::format("{}, matrix {}", name_of(format.subsampling), name_of(format.matrix)));
    }
    picture.assumed.insert(picture.assumed.end(), format.assumed.begin(), format.assumed.end());
    for (const char* kind : {"prof", "rICC"}) {
      if (const Bytes profile = colour_of(item, kind); !profile.empty()) return set_icc(encoded_, picture, profile);
    }
    const Bytes nclx = colour_of(item, "nclx");
    if (nclx.size() >= 4) return set_cicp(encoded_, picture, nclx[0] << 8 | nclx[1], nclx[2] << 8 | nclx[3]);
    return set_cicp(encoded_, picture, coded.said.primaries.value_or(kCicpUnspecified),
                    coded.said.transfer.value_or(kCicpUnspecified));
  }

  // Crop, turn and mirror, in the order of the file.
  Status transform(const HeifItem& item, Picture& picture) const {
    for (const HeifProperty& property : item.properties) {
      const Bytes content = property.content;
      if (property.type == "clap") ACUITY_TRY(cut(content, picture));
      if (content.empty()) continue;
      constexpr int kTurns[] = {1, 8, 3, 6}, kMirrors[] = {4, 2};  // as EXIF numbers them
      const int orientation = property.type == "irot"   ? kTurns[content[0] & 3]
                              : property.type == "imir" ? kMirrors[content[0] & 1]
                                                        : 1;
      if (orientation == 1) continue;
      picture.found.push_back(fmt::format("{} (as EXIF orientation {}) applied",
                                          property.type == "irot" ? "rotation" : "mirroring", orientation));
      ACUITY_TRY(turn_upright(encoded_, picture, orientation));
    }
    return {};
  }

  // The clean aperture: width, height and the distance of its centre from that of the picture, as fractions.
  Status cut(Bytes content, Picture& picture) const {
    if (content.size() < 32) return bad("its clean aperture is incomplete");
    const auto number = [&](size_t i) {
      return static_cast<int64_t>(static_cast<int32_t>(big_endian_32(&content[4 * i])));
    };
    const auto whole = [&](size_t i) { return number(i + 1) > 0 ? number(i) / number(i + 1) : -1; };
    const int64_t width = whole(0), height = whole(2);
    if (width < 1 || height < 1 || number(5) <= 0 || number(7) <= 0) return bad("its clean aperture is invalid");
    // left = offset + (whole - part) / 2, rounded down.
    const int64_t x = (2 * number(4) + (picture.view.width - width) * number(5)) / (2 * number(5));
    const int64_t y = (2 * number(6) + (picture.view.height - height) * number(7)) / (2 * number(7));
    if (x < 0 || y < 0 || x + width > picture.view.width || y + height > picture.view.height) {
      return bad("its clean aperture reaches beyond the picture");
    }
    picture.found.push_back(
        fmt::format("cropped from {}x{} at ({}, {})", picture.view.width, picture.view.height, x, y));
    crop(picture, x, y, width, height);
    return {};
  }

  const EncodedFile& encoded_;
  const Libav& libav_;
  HeifFile file_;
  VideoFormat tile_;
};

}  // namespace

Result<Picture> decode_heic(const EncodedFile& encoded) {
  const Libav* functions = nullptr;
  ACUITY_TRY_ASSIGN(functions, libav());
  return HeicReader(encoded, *functions).read();
}

bool is_heic(Bytes beginning) {
  using namespace std::string_view_literals;
  const auto four = [&](size_t at) { return std::string_view(reinterpret_cast<const char*>(&beginning[at]), 4); };
  if (beginning.size() < 12 || four(4) != "ftyp"sv) return false;
  const size_t size = std::min<size_t>(big_endian_32(beginning.data()), beginning.size());
  for (size_t at = 8; at + 4 <= size; at += at == 8 ? 8 : 4) {
    for (const std::string_view brand : {"heic"sv, "heix"sv, "heim"sv, "heis"sv, "mif1"sv}) {
      if (four(at) == brand) return true;
    }
  }
  return false;
}

}  // namespace acuity
