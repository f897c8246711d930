// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <string>

#include <libheif/heif.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

heif_error on_write(heif_context*, const void* data, size_t size, void* file) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  static_cast<File*>(file)->assign(bytes, bytes + size);
  return {heif_error_Ok, heif_suberror_Unspecified, "written"};
}

// Boxes of ISO 14496-12, as far as a grid needs them.
void put(File& file, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) file.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

File box(const std::string& type, const std::vector<File>& parts) {
  File content;
  for (const File& part : parts) content.insert(content.end(), part.begin(), part.end());
  File file;
  put(file, content.size() + 8, 4);
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), content.begin(), content.end());
  return file;
}

File numbers(const std::vector<std::pair<uint64_t, int>>& values) {
  File file;
  for (const auto& [value, bytes] : values) put(file, value, bytes);
  return file;
}

uint64_t get(const File& file, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | file.at(at + i);
  return value;
}

// The content of the first box of that type; boxes are looked for by their name alone.
File content_of(const File& file, const std::string& type) {
  const auto found = std::search(file.begin(), file.end(), type.begin(), type.end());
  const auto at = static_cast<size_t>(found - file.begin());
  const size_t size = get(file, at - 4, 4);
  return {found + 4, found + static_cast<ptrdiff_t>(size) - 4};
}

File item_of(uint64_t id, const std::string& type, bool hidden) {
  File name(type.begin(), type.end());
  return box("infe", {numbers({{hidden ? 0x02000001 : 0x02000000, 4}, {id, 2}, {0, 2}}), name, {0}});
}

}  // namespace

// libheif of Debian 12 cannot write one. The tiles are pictures of one item each, whose data are all there is in mdat.
File encode_heic_grid(const Drawing& left, const Drawing& right, int width, int height) {
  const File first = encode_heic(left), second = encode_heic(right);
  const auto size = [](uint64_t columns, uint64_t rows) {
    return box("ispe", {numbers({{0, 4}, {columns, 4}, {rows, 4}})});
  };
  const auto w = static_cast<uint64_t>(width), h = static_cast<uint64_t>(height);
  const std::vector<File> data{content_of(first, "mdat"), content_of(second, "mdat"),
                               numbers({{0, 3}, {1, 1}, {w, 2}, {h, 2}})};
  const File tile = size(static_cast<uint64_t>(left.width), static_cast<uint64_t>(left.height));
  const File properties = box("ipco", {box("hvcC", {content_of(first, "hvcC")}), tile, size(w, h)});
  const File uses = box("ipma", {numbers({{0, 4}, {3, 4}}), numbers({{1, 2}, {2, 1}, {0x81, 1}, {2, 1}}),
                                 numbers({{2, 2}, {2, 1}, {0x81, 1}, {2, 1}}), numbers({{3, 2}, {1, 1}, {3, 1}})});
  const File brand = box("ftyp", {{'h', 'e', 'i', 'c', 0, 0, 0, 0, 'm', 'i', 'f', '1', 'h', 'e', 'i', 'c'}});
  const auto meta = [&](uint64_t offset) {
    File places = numbers({{0, 4}, {0x4400, 2}, {3, 2}});
    for (size_t i = 0; i < 3; ++i) {
      const File place = numbers({{i + 1, 2}, {0, 2}, {1, 2}, {offset, 4}, {data[i].size(), 4}});
      places.insert(places.end(), place.begin(), place.end());
      offset += data[i].size();
    }
    File handler = numbers({{0, 8}});
    for (const char c : {'p', 'i', 'c', 't'}) handler.push_back(static_cast<uint8_t>(c));
    handler.resize(handler.size() + 13);
    const std::vector<File> items{numbers({{0, 4}, {3, 2}}), item_of(1, "hvc1", true), item_of(2, "hvc1", true),
                                  item_of(3, "grid", false)};
    const File tiles = box("dimg", {numbers({{3, 2}, {2, 2}, {1, 2}, {2, 2}})});
    return box("meta", {numbers({{0, 4}}), box("hdlr", {handler}), box("pitm", {numbers({{0, 4}, {3, 2}})}),
                        box("iloc", {places}), box("iinf", items), box("iref", {numbers({{0, 4}}), tiles}),
                        box("iprp", {properties, uses})});
  };
  File file = brand;
  for (const File& part : {meta(brand.size() + meta(0).size() + 8), box("mdat", data)}) {
    file.insert(file.end(), part.begin(), part.end());
  }
  return file;
}

File encode_heic(const Drawing& drawing, const HeicOptions& options) {
  const bool alpha = drawing.channels == 4, deep = drawing.bits > 8;
  heif_image* image = nullptr;
  const heif_chroma shallow_chroma = alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  const heif_chroma deep_chroma = alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE;
  heif_image_create(drawing.width, drawing.height, heif_colorspace_RGB, deep ? deep_chroma : shallow_chroma, &image);
  heif_image_add_plane(image, heif_channel_interleaved, drawing.width, drawing.height, drawing.bits);
  int stride = 0;
  uint8_t* plane = heif_image_get_plane(image, heif_channel_interleaved, &stride);
  size_t i = 0;
  for (int y = 0; y < drawing.height; ++y) {
    for (int x = 0; x < drawing.width * drawing.channels; ++x) {
      const uint16_t sample = drawing.samples[i++];
      uint8_t* to = plane + y * stride + (deep ? 2 * x : x);
      to[0] = static_cast<uint8_t>(sample);
      if (deep) to[1] = static_cast<uint8_t>(sample >> 8);
    }
  }
  if (!options.icc.empty()) heif_image_set_raw_color_profile(image, "prof", options.icc.data(), options.icc.size());

  heif_context* context = heif_context_alloc();
  heif_encoder* encoder = nullptr;
  heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder);
  heif_encoder_set_lossless(encoder, 1);
  heif_encoder_set_parameter_string(encoder, "chroma", "444");
  heif_encoder_set_parameter_string(encoder, "preset", "ultrafast");
  heif_encoder_set_parameter_string(encoder, "x265:info", "0");  // half a page about the encoder
  heif_encoding_options* encoding = heif_encoding_options_alloc();
  encoding->image_orientation = static_cast<heif_orientation>(options.turned);
  heif_image_handle* handle = nullptr;
  heif_context_encode_image(context, image, encoder, encoding, &handle);
  File file;
  heif_writer writer{1, on_write};
  heif_context_write(context, &writer, &file);
  heif_encoding_options_free(encoding);
  heif_image_handle_release(handle);
  heif_encoder_release(encoder);
  heif_context_free(context);
  heif_image_release(image);
  return file;
}

}  // namespace acuity::tests
