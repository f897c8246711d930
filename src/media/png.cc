// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include "base/try.h"
#include "media/decoder.h"
#include "media/png_animation.h"
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
      if (reader.palette_) {
        reader.read_palette();
        png_set_packing(png);  // an index a byte
      } else {
        if (reader.stored_bits_ < 8) png_set_expand_gray_1_2_4_to_8(png);
        if (png_get_valid(png, reader.info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png);
      }
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
      if (reader.palette_) reader.look_up_colours();
    });
  }

  Shape shape() const {
    Shape shape;
    shape.width = png_get_image_width(png_, info_);
    shape.height = png_get_image_height(png_, info_);
    shape.channels = palette_ ? (palette_alpha_ ? Channels::rgba : Channels::rgb)
                              : static_cast<Channels>(png_get_channels(png_, info_));
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

  // Here, because libpng takes an index that the palette does not have for black.
  void read_palette() {
    png_colorp colours = nullptr;
    png_bytep alpha = nullptr;
    int alphas = 0;
    png_get_PLTE(png_, info_, &colours, &colours_);
    palette_alpha_ = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    if (palette_alpha_) png_get_tRNS(png_, info_, &alpha, &alphas, nullptr);
    for (int i = 0; i < colours_; ++i) {
      const uint8_t opacity = i < alphas ? alpha[i] : uint8_t{255};
      colour_[i] = {colours[i].red, colours[i].green, colours[i].blue, opacity};
    }
  }

  // Indices lie at the beginning of each row, and become pixels from its end on.
  void look_up_colours() {
    const png_uint_32 width = png_get_image_width(png_, info_), height = png_get_image_height(png_, info_);
    const size_t channels = palette_alpha_ ? 4 : 3;
    for (png_uint_32 y = 0; y < height; ++y) {
      for (size_t x = width; x-- > 0;) {
        const int index = rows_[y][x];
        if (index >= colours_) png_error(png_, "a pixel has a colour that the palette does not have");
        std::memcpy(rows_[y] + x * channels, colour_[index].data(), channels);
      }
    }
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
  bool palette_ = false, palette_alpha_ = false;
  int colours_ = 0;  // of the palette
  std::array<std::array<uint8_t, 4>, 256> colour_{};
  char message_[128] = {};
  std::jmp_buf jump_;
};

// Without colour and orientation.
Result<Picture> read_pixels(const EncodedFile& encoded) {
  const auto header = find_png_chunk(encoded.bytes, "IHDR");
  if (!header || header->size() != 13) return damaged(encoded, "PNG", "it has no header");
  ACUITY_TRY(check_size(encoded, big_endian_32(header->data()), big_endian_32(header->data() + 4)));
  PngReader reader(encoded.bytes);
  if (!reader.created()) return Status(StatusCode::internal, "libpng could not be set up");
  if (!reader.read_header()) return damaged(encoded, "PNG", reader.message());
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, make_picture(encoded, "PNG", reader.shape()));
  std::vector<png_bytep> rows(static_cast<size_t>(picture.view.height));
  for (size_t y = 0; y < rows.size(); ++y) {
    rows[y] = reinterpret_cast<png_bytep>(row_of(picture, static_cast<int64_t>(y)));
  }
  if (!reader.read_rows(rows.data())) return damaged(encoded, "PNG", reader.message());
  return picture;
}

// A still picture, or an animation whose frames libpng decodes as pictures of their own.
class PngFrames : public PictureFrames {
 public:
  explicit PngFrames(const EncodedFile& encoded) : encoded_(encoded) {}

  Status open() {
    ACUITY_TRY_ASSIGN(animation_, read_png_animation(encoded_));
    if (!animation_) return {};
    count_ = static_cast<int64_t>(animation_->frames.size());
    for (const PngFrame& frame : animation_->frames) durations_.push_back(frame.seconds);
    return {};
  }

  Result<Picture> read(int64_t index) override {
    Picture picture;
    if (animation_) {
      for (; next_ <= index; ++next_) ACUITY_TRY(draw(animation_->frames[static_cast<size_t>(next_)]));
      ACUITY_TRY_ASSIGN(picture, canvas_.picture(encoded_));
    } else {
      ACUITY_TRY_ASSIGN(picture, read_pixels(encoded_));
    }
    ACUITY_TRY(read_png_colour(encoded_, picture));
    if (const auto exif = find_png_chunk(encoded_.bytes, "eXIf")) {
      ACUITY_TRY(apply_exif(encoded_, picture, exif_orientation(*exif)));
    }
    return picture;
  }

 private:
  Status draw(const PngFrame& frame) {
    const std::vector<uint8_t> file = png_of_frame(*animation_, frame);
    Picture drawn;
    ACUITY_TRY_ASSIGN(drawn, read_pixels({file, encoded_.name, encoded_.limits}));
    if (next_ == 0) {
      Shape shape;
      shape.width = animation_->width;
      shape.height = animation_->height;
      shape.channels = drawn.view.is_grey() ? Channels::grey_alpha : Channels::rgba;
      shape.type = drawn.view.type;
      shape.depth = drawn.view.depth;
      shape.stored = drawn.found.front();
      ACUITY_TRY(canvas_.create(encoded_, "PNG", shape));
    }
    if (!canvas_.holds(frame.place)) return damaged(encoded_, "PNG", "a frame reaches beyond its canvas");
    if (drawn.view.type == SampleType::u16) {
      draw<uint16_t>(drawn, frame.place);
    } else {
      draw<uint8_t>(drawn, frame.place);
    }
    return {};
  }

  template <typename Sample>
  void draw(Picture& drawn, const CanvasFrame& place) {
    const int channels = drawn.view.channel_count();
    const bool alpha = drawn.view.has_alpha();
    std::array<Sample, 4> opaque;
    opaque.fill(std::numeric_limits<Sample>::max());
    canvas_.draw<Sample>(place, [&](int64_t x, int64_t y) -> const Sample* {
      const auto* pixel = reinterpret_cast<const Sample*>(row_of(drawn, y)) + x * channels;
      if (alpha) return pixel;
      std::copy_n(pixel, channels, opaque.begin());
      return opaque.data();
    });
  }

  EncodedFile encoded_;
  std::optional<PngAnimation> animation_;
  Canvas canvas_;
  int64_t next_ = 0;
};

}  // namespace

OpenedFrames open_png(const EncodedFile& encoded) {
  auto frames = std::make_unique<PngFrames>(encoded);
  ACUITY_TRY(frames->open());
  return std::unique_ptr<PictureFrames>(std::move(frames));
}

}  // namespace acuity
