// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <bit>
#include <csetjmp>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include "media/decoder.h"
#include "media/png_chunks.h"

namespace acuity {
namespace {

// libpng reports errors by a long jump. run() is the only place that catches it, and what it calls has nothing to
// destroy.
class PngReader {
 public:
  explicit PngReader(Bytes file) : rest_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool created() const { return info_ != nullptr; }
  const char* message() const { return message_; }

  /// Everything before the pixels.
  bool read_header() {
    return run([](PngReader& reader) {
      png_structp png = reader.png_;
      png_set_read_fn(png, &reader, on_read);
      png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
      png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ours are enforced before this
      png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png, reader.info_);
      reader.stored_bits_ = png_get_bit_depth(png, reader.info_);
      reader.palette_ = png_get_color_type(png, reader.info_) == PNG_COLOR_TYPE_PALETTE;
      if (reader.palette_) png_set_palette_to_rgb(png);
      if (!reader.palette_ && reader.stored_bits_ < 8) png_set_expand_gray_1_2_4_to_8(png);
      if (png_get_valid(png, reader.info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png);
      if (std::endian::native == std::endian::little) png_set_swap(png);
      png_set_interlace_handling(png);
      png_read_update_info(png, reader.info_);
    });
  }

  /// All rows and what follows them.
  bool read_rows(png_bytepp rows) {
    rows_ = rows;
    return run([](PngReader& reader) {
      png_read_image(reader.png_, reader.rows_);
      png_read_end(reader.png_, nullptr);
    });
  }

  Shape shape() const {
    Shape shape;
    shape.width = png_get_image_width(png_, info_);
    shape.height = png_get_image_height(png_, info_);
    shape.channels = static_cast<Channels>(png_get_channels(png_, info_));
    shape.depth = png_get_bit_depth(png_, info_);
    shape.type = shape.depth == 16 ? SampleType::u16 : SampleType::u8;
    if (palette_) {
      shape.stored = fmt::format("{}-bit palette of 8-bit RGB", stored_bits_);
    } else if (stored_bits_ < 8) {
      shape.stored = describe(stored_bits_, false, shape.channels);
    }
    return shape;
  }

 private:
  static void on_error(png_structp png, png_const_charp message) {
    auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader->message_, message, sizeof(reader->message_) - 1);
    std::longjmp(reader->jump_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep to, size_t size) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > reader->rest_.size()) png_error(png, "it ends too early");
    std::memcpy(to, reader->rest_.data(), size);
    reader->rest_ = reader->rest_.subspan(size);
  }

  bool run(void (*step)(PngReader&)) {
    if (setjmp(jump_) != 0) return false;
    step(*this);
    return true;
  }

  Bytes rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  png_bytepp rows_ = nullptr;
  int stored_bits_ = 0;
  bool palette_ = false;
  char message_[128] = {};
  std::jmp_buf jump_;
};

}  // namespace

Result<Picture> decode_png(const Source& source) {
  const auto header = find_png_chunk(source.bytes, "IHDR");
  if (!header || header->size() != 13) return damaged(source, "PNG", "it has no header");
  const Status size = check_size(source, big_endian_32(header->data()), big_endian_32(header->data() + 4));
  if (!size.ok()) return size;
  if (const auto animation = find_png_chunk(source.bytes, "acTL"); animation && animation->size() == 8) {
    return unsupported(source, fmt::format("is an animation of {} frames", big_endian_32(animation->data())),
                       "extract the frame to compare");
  }

  PngReader reader(source.bytes);
  if (!reader.created()) return Status(StatusCode::internal, "libpng could not be set up");
  if (!reader.read_header()) return damaged(source, "PNG", reader.message());
  Result<Picture> picture = make_picture(source, "PNG", reader.shape());
  if (!picture.ok()) return picture;
  std::vector<png_bytep> rows(static_cast<size_t>(picture->view.height));
  for (size_t y = 0; y < rows.size(); ++y) {
    rows[y] = reinterpret_cast<png_bytep>(row_of(*picture, static_cast<int64_t>(y)));
  }
  if (!reader.read_rows(rows.data())) return damaged(source, "PNG", reader.message());

  if (const Status status = read_png_colour(source, *picture); !status.ok()) return status;
  if (const auto exif = find_png_chunk(source.bytes, "eXIf")) {
    if (const Status status = apply_exif(source, *picture, exif_orientation(*exif)); !status.ok()) return status;
  }
  return picture;
}

}  // namespace acuity
