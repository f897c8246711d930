// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/write.h"

#include <bit>
#include <csetjmp>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include "media/output_file.h"

namespace acuity {
namespace {

Status write_file(const std::string& path, std::span<const uint8_t> content) {
  const Result<OutputFile> file = OutputFile::check(path, "the output", {});
  return file.ok() ? file->write(content) : file.status();
}

struct PngSink {
  std::vector<uint8_t> bytes;
  bool failed = false;
};

// Called through C, which no exception may cross.
void png_put(png_structp png, png_bytep data, size_t size) {
  auto* sink = static_cast<PngSink*>(png_get_io_ptr(png));
  try {
    sink->bytes.insert(sink->bytes.end(), data, data + size);
  } catch (const std::bad_alloc&) {
    sink->failed = true;
  }
  if (sink->failed) png_error(png, "out of memory");
}

// Holds nothing that a longjmp could skip the destruction of. Without a palette, pixels have three bytes.
bool encode_png(png_structp png, png_infop info, int width, int height, const uint8_t* pixels, const png_color* palette,
                int colours, char* keyword, char* text, PngSink* sink) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, sink, png_put, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8,
               colours > 0 ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  // The quickest that there is: a map is looked at and thrown away, and must not take longer than the metric.
  png_set_compression_level(png, 1);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  if (colours > 0) png_set_PLTE(png, info, palette, colours);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_text note{};
  note.compression = PNG_TEXT_COMPRESSION_NONE;
  note.key = keyword;
  note.text = text;
  png_set_text(png, info, &note, 1);
  png_write_info(png, info);
  const size_t row_bytes = static_cast<size_t>(width) * (colours > 0 ? 1 : 3);
  for (int y = 0; y < height; ++y) png_write_row(png, pixels + static_cast<size_t>(y) * row_bytes);
  png_write_end(png, info);
  return true;
}

// libpng prints by default; the library never does.
void ignore_warning(png_structp, png_const_charp) {}
void jump_on_error(png_structp png, png_const_charp) { png_longjmp(png, 1); }

Status put_png(const std::string& path, int width, int height, const uint8_t* pixels,
               std::span<const std::array<uint8_t, 3>> palette, const std::string& description) {
  std::vector<png_color> colours;
  for (const auto& [red, green, blue] : palette) colours.push_back({red, green, blue});
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, jump_on_error, ignore_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  std::string keyword = "Description";
  std::string text = description;
  PngSink sink;
  const bool encoded =
      info != nullptr && encode_png(png, info, width, height, pixels, colours.data(), static_cast<int>(colours.size()),
                                    keyword.data(), text.data(), &sink);
  png_destroy_write_struct(&png, &info);
  if (!encoded) return Status(StatusCode::internal, fmt::format("{} cannot be written: libpng failed", path));
  return write_file(path, sink.bytes);
}

}  // namespace

Status write_png(const std::string& path, int width, int height, std::span<const uint8_t> pixels,
                 std::span<const std::array<uint8_t, 3>> palette, const std::string& description) {
  if (width < 1 || height < 1 || pixels.size() != static_cast<size_t>(width) * static_cast<size_t>(height)) {
    return Status(StatusCode::usage, fmt::format("{}: {} are not {}x{} pixels", path, pixels.size(), width, height));
  }
  return put_png(path, width, height, pixels.data(), palette, description);
}

Status write_png(const std::string& path, int width, int height, std::span<const std::array<uint8_t, 3>> pixels,
                 const std::string& description) {
  if (width < 1 || height < 1 || pixels.size() != static_cast<size_t>(width) * static_cast<size_t>(height)) {
    return Status(StatusCode::usage, fmt::format("{}: {} are not {}x{} pixels", path, pixels.size(), width, height));
  }
  return put_png(path, width, height, pixels.front().data(), {}, description);
}

Status write_pfm(const std::string& path, int width, int height, std::span<const float> values) {
  if (width < 1 || height < 1 || values.size() != static_cast<size_t>(width) * static_cast<size_t>(height)) {
    return Status(StatusCode::usage,
                  fmt::format("{}: {} values are not {}x{} pixels", path, values.size(), width, height));
  }
  // The sign of the scale tells the byte order.
  const std::string header =
      fmt::format("Pf\n{} {}\n{}\n", width, height, std::endian::native == std::endian::little ? "-1.0" : "1.0");
  std::vector<uint8_t> content(header.begin(), header.end());
  const size_t row_bytes = static_cast<size_t>(width) * sizeof(float);
  content.resize(header.size() + row_bytes * static_cast<size_t>(height));
  uint8_t* to = content.data() + header.size();
  for (int y = height - 1; y >= 0; --y, to += row_bytes) {
    std::memcpy(to, values.data() + static_cast<size_t>(y) * static_cast<size_t>(width), row_bytes);
  }
  return write_file(path, content);
}

}  // namespace acuity
