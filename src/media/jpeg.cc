// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>
// jpeglib.h needs <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include "media/cmyk.h"
#include "media/decoder.h"

namespace acuity {
namespace {

// libjpeg reports errors by a long jump. run() is the only place that catches it, and what it calls has nothing to
// destroy. Its warnings mean that data was invented, so they are errors here.
class JpegReader {
 public:
  explicit JpegReader(Bytes file) : file_(file) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    errors_.output_message = [](j_common_ptr) {};
  }
  ~JpegReader() {
    jpeg_destroy_decompress(&info_);
    std::free(profile_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  const char* message() const { return message_; }
  /// Whether it failed at a kind of JPEG that libjpeg does not decode: lossless, hierarchical, or of another depth.
  bool is_of_another_kind() const {
    return errors_.msg_code == JERR_BAD_PRECISION || errors_.msg_code == JERR_SOF_UNSUPPORTED;
  }
  jpeg_decompress_struct& info() { return info_; }

  /// Everything before the pixels.
  bool read_header() {
    return run([](JpegReader& reader) {
      jpeg_create_decompress(&reader.info_);
      jpeg_mem_src(&reader.info_, reader.file_.data(), reader.file_.size());
      jpeg_save_markers(&reader.info_, kExif, 0xffff);
      jpeg_save_markers(&reader.info_, kIcc, 0xffff);
      jpeg_read_header(&reader.info_, TRUE);
    });
  }
  /// False when the pieces of the profile do not fit together.
  bool read_profile() {
    return run(
        [](JpegReader& reader) { jpeg_read_icc_profile(&reader.info_, &reader.profile_, &reader.profile_size_); });
  }
  bool start(J_COLOR_SPACE space) {
    info_.out_color_space = space;
    return run([](JpegReader& reader) { jpeg_start_decompress(&reader.info_); });
  }
  bool read_row(uint8_t* row) {
    row_ = row;
    return run([](JpegReader& reader) { jpeg_read_scanlines(&reader.info_, &reader.row_, 1); });
  }
  bool finish() {
    return run([](JpegReader& reader) { jpeg_finish_decompress(&reader.info_); });
  }

  Bytes profile() const { return {profile_, profile_size_}; }
  /// Empty when there is none.
  Bytes exif() const {
    for (const jpeg_marker_struct* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      const Bytes data(marker->data, marker->data_length);
      if (marker->marker == kExif && is_exif(data)) return data;
    }
    return {};
  }

 private:
  static constexpr int kExif = JPEG_APP0 + 1, kIcc = JPEG_APP0 + 2;

  [[noreturn]] static void on_error(j_common_ptr info) {
    auto* reader = static_cast<JpegReader*>(info->client_data);
    info->err->format_message(info, reader->message_);
    std::longjmp(reader->jump_, 1);
  }
  static void on_message(j_common_ptr info, int level) {
    // A newer revision of JFIF does not touch the pixels.
    if (level < 0 && info->err->msg_code != JWRN_JFIF_MAJOR) on_error(info);
  }

  bool run(void (*step)(JpegReader&)) {
    if (setjmp(jump_) != 0) return false;
    step(*this);
    return true;
  }

  Bytes file_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  JOCTET* profile_ = nullptr;
  unsigned profile_size_ = 0;
  JSAMPROW row_ = nullptr;
  char message_[JMSG_LENGTH_MAX] = {};
  std::jmp_buf jump_;
};

Result<Picture> read_plain(const EncodedFile& encoded, JpegReader& reader, const Shape& shape, int64_t working_bytes) {
  Result<Picture> picture = make_picture(encoded, "JPEG", shape, working_bytes);
  if (!picture.ok()) return picture;
  if (!reader.start(shape.channels == Channels::grey ? JCS_GRAYSCALE : JCS_RGB)) {
    return damaged(encoded, "JPEG", reader.message());
  }
  for (int64_t y = 0; y < shape.height; ++y) {
    if (!reader.read_row(reinterpret_cast<uint8_t*>(row_of(*picture, y)))) {
      return damaged(encoded, "JPEG", reader.message());
    }
  }
  if (reader.profile().empty()) {
    assume_srgb(*picture);
  } else if (const Status status = set_icc(encoded, *picture, reader.profile()); !status.ok()) {
    return status;
  }
  return picture;
}

Result<Picture> read_cmyk(const EncodedFile& encoded, JpegReader& reader, Shape shape, int64_t working_bytes) {
  shape.type = SampleType::u16;
  shape.depth = 16;
  shape.stored = "8-bit CMYK";
  Result<Picture> picture = make_picture(encoded, "JPEG", shape, working_bytes);
  if (!picture.ok()) return picture;
  // Adobe's files, which are nearly all there are, store 255 for no ink; their marker tells them apart.
  const bool inverted = reader.info().saw_Adobe_marker != 0;
  const Result<CmykConversion> convert = cmyk_to_srgb(encoded, *picture, reader.profile(), inverted);
  if (!convert.ok()) return convert.status();
  if (!reader.start(JCS_CMYK)) return damaged(encoded, "JPEG", reader.message());
  const auto width = static_cast<size_t>(shape.width);
  std::vector<uint8_t> row(4 * width);
  for (int64_t y = 0; y < shape.height; ++y) {
    if (!reader.read_row(row.data())) return damaged(encoded, "JPEG", reader.message());
    (*convert)(row.data(), reinterpret_cast<uint16_t*>(row_of(*picture, y)), width);
  }
  return picture;
}

}  // namespace

Result<Picture> decode_jpeg(const EncodedFile& encoded) {
  JpegReader reader(encoded.bytes);
  if (!reader.read_header()) {
    if (!reader.is_of_another_kind()) return damaged(encoded, "JPEG", reader.message());
    return unsupported(encoded, fmt::format("is a JPEG file of a kind that is not read: {}", reader.message()),
                       "convert it to PNG or to 8-bit baseline or progressive JPEG");
  }
  const jpeg_decompress_struct& info = reader.info();
  Shape shape;
  shape.width = info.image_width;
  shape.height = info.image_height;
  // Checked before anything is multiplied or allocated.
  if (const Status status = check_size(encoded, shape.width, shape.height); !status.ok()) return status;
  if (!reader.read_profile()) {
    return unsupported(encoded, "cannot be used: the pieces of its ICC profile do not fit together",
                       "remove the profile or convert the picture to sRGB");
  }
  // A file of several scans is gathered as 16-bit coefficients before any pixel can be made.
  const int64_t working_bytes =
      jpeg_has_multiple_scans(&reader.info()) != 0 ? int64_t{2} * info.num_components * shape.width * shape.height : 0;

  const J_COLOR_SPACE space = info.jpeg_color_space;
  const bool grey = space == JCS_GRAYSCALE, cmyk = space == JCS_CMYK || space == JCS_YCCK;
  if (!grey && !cmyk && space != JCS_YCbCr && space != JCS_RGB) {
    return unsupported(encoded, fmt::format("is a JPEG file of {} components of unknown meaning", info.num_components),
                       "convert it to RGB");
  }
  if (grey) shape.channels = Channels::grey;
  Result<Picture> picture =
      cmyk ? read_cmyk(encoded, reader, shape, working_bytes) : read_plain(encoded, reader, shape, working_bytes);
  if (!picture.ok()) return picture;
  const int orientation = exif_orientation(reader.exif());  // finishing forgets the markers
  if (!reader.finish()) return damaged(encoded, "JPEG", reader.message());
  if (const Status status = apply_exif(encoded, *picture, orientation); !status.ok()) return status;
  return picture;
}

}  // namespace acuity
