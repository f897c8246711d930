// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <openjpeg.h>

#include "base/try.h"
#include "media/decoder.h"
#include "media/planes.h"
#include "media/png_chunks.h"

namespace acuity {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kContainer = "\0\0\0\x0cjP  \r\n\x87\n"sv;
constexpr std::string_view kCodestream = "\xff\x4f\xff\x51"sv;

bool begins_with(Bytes file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

struct Input {
  Bytes file;
  size_t at = 0;
};

OPJ_SIZE_T on_read(void* to, OPJ_SIZE_T size, void* data) {
  auto* input = static_cast<Input*>(data);
  const size_t count = std::min<size_t>(size, input->file.size() - input->at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, &input->file[input->at], count);
  input->at += count;
  return count;
}

OPJ_OFF_T on_skip(OPJ_OFF_T size, void* data) {
  auto* input = static_cast<Input*>(data);
  if (size < 0) return -1;
  const auto left = static_cast<OPJ_OFF_T>(input->file.size() - input->at);
  if (left == 0) return -1;
  input->at += static_cast<size_t>(std::min(size, left));
  return std::min(size, left);
}

OPJ_BOOL on_seek(OPJ_OFF_T place, void* data) {
  auto* input = static_cast<Input*>(data);
  if (place < 0 || static_cast<size_t>(place) > input->file.size()) return OPJ_FALSE;
  input->at = static_cast<size_t>(place);
  return OPJ_TRUE;
}

// What openjpeg says first; the rest is usually its consequence.
void keep_message(const char* message, void* data) {
  auto* kept = static_cast<std::string*>(data);
  if (!kept->empty()) return;
  *kept = message;
  while (!kept->empty() && (kept->back() == '\n' || kept->back() == '.')) kept->pop_back();
}
void ignore_message(const char*, void*) {}

template <auto destroy>
struct Destroy {
  void operator()(auto* object) const { destroy(object); }
};
using Codec = std::unique_ptr<opj_codec_t, Destroy<opj_destroy_codec>>;
using Image = std::unique_ptr<opj_image_t, Destroy<opj_image_destroy>>;
using Stream = std::unique_ptr<opj_stream_t, Destroy<opj_stream_destroy>>;

int64_t width_of(const opj_image_t& image) { return int64_t{image.x1} - image.x0; }
int64_t height_of(const opj_image_t& image) { return int64_t{image.y1} - image.y0; }

// Before there is memory for pixels.
Status check_header(const EncodedFile& encoded, const opj_image_t& image) {
  ACUITY_TRY(check_size(encoded, width_of(image), height_of(image)));
  if (image.numcomps < 1 || image.numcomps > 4) {
    return unsupported(encoded, fmt::format("is a JPEG 2000 file of {} components", image.numcomps),
                       "convert it to grey or RGB, with or without alpha");
  }
  // openjpeg keeps integers of four bytes, for the tile and for the picture.
  return check_memory(encoded, width_of(image), height_of(image),
                      width_of(image) * height_of(image) * 8 * int64_t{image.numcomps});
}

Result<Image> decode_components(const EncodedFile& encoded) {
  Input input{encoded.bytes};
  std::string message;
  const Stream stream(opj_stream_create(size_t{1} << 16, OPJ_TRUE));
  const Codec codec(opj_create_decompress(begins_with(encoded.bytes, kContainer) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
  if (!stream || !codec) return Status(StatusCode::internal, "openjpeg could not be set up");
  opj_stream_set_user_data(stream.get(), &input, nullptr);
  opj_stream_set_user_data_length(stream.get(), encoded.bytes.size());
  opj_stream_set_read_function(stream.get(), on_read);
  opj_stream_set_skip_function(stream.get(), on_skip);
  opj_stream_set_seek_function(stream.get(), on_seek);
  opj_set_error_handler(codec.get(), keep_message, &message);
  opj_set_warning_handler(codec.get(), keep_message, &message);
  opj_set_info_handler(codec.get(), ignore_message, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  const auto broken = [&](std::string_view otherwise) {
    return damaged(encoded, "JPEG 2000", message.empty() ? otherwise : std::string_view(message));
  };
  opj_image_t* read = nullptr;
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE ||
      opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE) == OPJ_FALSE) {
    return Status(StatusCode::internal, "openjpeg could not be set up");
  }
  const bool header = opj_read_header(stream.get(), codec.get(), &read) == OPJ_TRUE;
  Image image(read);
  if (!header || !image) return broken("its header cannot be read");
  ACUITY_TRY(check_header(encoded, *image));
  if (opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE) {
    return broken("its pixels cannot be decoded");
  }
  // What it warns of is that it had to leave something out.
  if (!message.empty()) return broken("");
  return image;
}

// Which component is which channel.
struct Layout {
  std::vector<const opj_image_comp_t*> colours;
  const opj_image_comp_t* alpha = nullptr;
  int bits = 8;
  size_t ignored = 0;  // components that are neither colour nor alpha
  bool is_grey() const { return colours.size() == 1; }
};

// What JP2 says that a component is. Others have no meaning that it knows.
enum ChannelKind : uint16_t { kColour = 0, kOpacity = 1, kPremultipliedOpacity = 2 };

Result<Layout> read_layout(const EncodedFile& encoded, const opj_image_t& image) {
  Layout layout;
  for (uint32_t i = 0; i < image.numcomps; ++i) {
    const opj_image_comp_t& component = image.comps[i];
    if (component.data == nullptr) return damaged(encoded, "JPEG 2000", "a component has no data");
    if (component.alpha == kColour) {
      layout.colours.push_back(&component);
    } else if (component.alpha == kOpacity || component.alpha == kPremultipliedOpacity) {
      layout.alpha = &component;
    } else {
      ++layout.ignored;
    }
  }
  const bool alone = layout.alpha != nullptr && layout.colours.size() + layout.ignored + 1 < image.numcomps;
  if (alone || (layout.colours.size() != 1 && layout.colours.size() != 3) || image.color_space == OPJ_CLRSPC_CMYK ||
      image.color_space == OPJ_CLRSPC_EYCC) {
    return unsupported(encoded,
                       fmt::format("is a JPEG 2000 file with {} components of colour in space {}",
                                   layout.colours.size(), static_cast<int>(image.color_space)),
                       "convert it to grey or RGB, with or without alpha");
  }
  layout.bits = static_cast<int>(layout.colours.front()->prec);
  for (uint32_t i = 0; i < image.numcomps; ++i) {
    const opj_image_comp_t& component = image.comps[i];
    if (component.sgnd != 0 || static_cast<int>(component.prec) != layout.bits || layout.bits > 16) {
      return unsupported(encoded,
                         fmt::format("is a JPEG 2000 file with {}-bit {} samples", component.prec,
                                     component.sgnd != 0 ? "signed" : "unsigned"),
                         "convert it so that all its components have the same 1 to 16 bits, unsigned");
    }
  }
  return layout;
}

bool covers(const opj_image_comp_t& component, const opj_image_t& image) {
  return component.w == width_of(image) && component.h == height_of(image) && component.dx == 1 && component.dy == 1;
}

// The content of the boxes of a type; none after one whose size is not that of a header.
std::vector<Bytes> find_boxes(Bytes file, std::string_view type) {
  constexpr size_t kHead = 8;
  std::vector<Bytes> found;
  while (file.size() >= kHead) {
    const size_t size = big_endian_32(file.data());
    if (size < kHead || size > file.size()) break;
    if (std::memcmp(&file[4], type.data(), type.size()) == 0) found.push_back(file.subspan(kHead, size - kHead));
    file = file.subspan(size);
  }
  return found;
}

// For openjpeg, colours that are stated in a way it does not know are as good as not stated.
Status check_nothing_is_stated(const EncodedFile& encoded) {
  constexpr uint8_t kEnumerated = 1;
  constexpr size_t kBeforeNumber = 3;
  for (const Bytes header : find_boxes(encoded.bytes, "jp2h")) {
    for (const Bytes colour : find_boxes(header, "colr")) {
      if (colour.size() < kBeforeNumber + 4) continue;
      const bool enumerated = colour[0] == kEnumerated;
      const uint32_t space = big_endian_32(&colour[kBeforeNumber]);
      if (enumerated && space == 0) continue;  // openjpeg's encoder writes it where it does not know the space
      return unsupported(encoded,
                         enumerated
                             ? fmt::format("is a JPEG 2000 file in the enumerated colour space {}", space)
                             : fmt::format("is a JPEG 2000 file that states its colours by method {}", colour[0]),
                         "convert it to sRGB");
    }
  }
  return {};
}

Status name_colour(const EncodedFile& encoded, const opj_image_t& image, Picture& picture) {
  if (image.icc_profile_buf != nullptr) {
    if (image.icc_profile_len == 0) return unsupported(encoded, "has colours in CIELab", "convert it to RGB");
    return set_icc(encoded, picture, {image.icc_profile_buf, image.icc_profile_len});
  }
  if (image.color_space == OPJ_CLRSPC_UNSPECIFIED || image.color_space == OPJ_CLRSPC_UNKNOWN) {
    ACUITY_TRY(check_nothing_is_stated(encoded));
    assume_srgb(picture);
  } else {
    picture.found.push_back("sRGB");  // all that the numbers of JP2 stand for has its curve
  }
  return {};
}

// Integers as they are; fewer than 8 bits are stretched, as floats where that is not exact.
void interleave(const Layout& layout, Picture& picture) {
  std::vector<const opj_image_comp_t*> channels = layout.colours;
  if (layout.alpha != nullptr) channels.push_back(layout.alpha);
  const int most = (1 << layout.bits) - 1;
  for (size_t y = 0; y < static_cast<size_t>(picture.view.height); ++y) {
    std::byte* to = row_of(picture, static_cast<int64_t>(y));
    for (size_t x = 0; x < static_cast<size_t>(picture.view.width); ++x) {
      for (const opj_image_comp_t* channel : channels) {
        const int sample = std::clamp(channel->data[y * channel->w + x], 0, most);
        if (picture.view.type == SampleType::u8) {
          *to++ = static_cast<std::byte>(sample * (255 / most));
        } else if (picture.view.type == SampleType::u16) {
          const auto wide = static_cast<uint16_t>(sample);
          std::memcpy(to, &wide, sizeof wide);
          to += sizeof wide;
        } else {
          const auto real = static_cast<float>(sample / static_cast<double>(most));
          std::memcpy(to, &real, sizeof real);
          to += sizeof real;
        }
      }
    }
  }
}

// Y'CbCr of BT.601 in full range, the only kind JP2 has a number for. Its samples lie on the grid of the picture.
Result<Picture> convert_sycc(const EncodedFile& encoded, const opj_image_t& image, const Layout& layout) {
  const opj_image_comp_t& luma = *layout.colours[0];
  const opj_image_comp_t& blue = *layout.colours[1];
  const opj_image_comp_t& red = *layout.colours[2];
  Planes planes;
  VideoFormat& format = planes.format;
  format.width = static_cast<int>(width_of(image));
  format.height = static_cast<int>(height_of(image));
  format.depth = layout.bits;
  format.full_range = true;
  format.matrix = Matrix::bt601;
  format.siting = Siting::top_left;
  format.subsampling = blue.dx == 1 ? Subsampling::yuv444 : blue.dy == 1 ? Subsampling::yuv422 : Subsampling::yuv420;
  const bool fits = layout.bits >= 8 && covers(luma, image) && image.x0 == 0 && image.y0 == 0 && blue.dx <= 2 &&
                    blue.dy <= blue.dx && red.dx == blue.dx && red.dy == blue.dy &&
                    static_cast<int>(blue.w) == format.chroma_width() &&
                    static_cast<int>(blue.h) == format.chroma_height() && red.w == blue.w && red.h == blue.h &&
                    (layout.alpha == nullptr || covers(*layout.alpha, image));
  if (!fits) {
    return unsupported(encoded, "is a JPEG 2000 file whose Y'CbCr is neither 4:4:4 nor 4:2:2 nor 4:2:0",
                       "convert it to RGB");
  }
  std::vector<std::vector<uint8_t>> samples;
  const auto pack = [&](const opj_image_comp_t& component) {
    const size_t count = size_t{component.w} * component.h, size = layout.bits > 8 ? 2 : 1;
    std::vector<uint8_t>& bytes = samples.emplace_back(count * size);
    for (size_t i = 0; i < count; ++i) {
      const auto sample = static_cast<uint16_t>(std::clamp(component.data[i], 0, (1 << layout.bits) - 1));
      std::memcpy(&bytes[i * size], &sample, size);
    }
    return Planes::Plane{bytes.data(), component.w * size};
  };
  planes.colour = {pack(luma), pack(blue), pack(red)};
  if (layout.alpha != nullptr) planes.alpha = pack(*layout.alpha);
  Shape shape{.width = format.width, .height = format.height, .channels = channels_of(planes), .type = SampleType::f32};
  shape.stored = describe(layout.bits, false, shape.channels);
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, make_picture(encoded, "JPEG 2000", shape));
  convert_planes(planes, picture);
  picture.found.push_back(fmt::format("sYCC, {}", name_of(format.subsampling)));
  return picture;
}

Result<Picture> convert(const EncodedFile& encoded, const opj_image_t& image, const Layout& layout) {
  if (image.color_space == OPJ_CLRSPC_SYCC && !layout.is_grey()) return convert_sycc(encoded, image, layout);
  Shape shape;
  shape.width = width_of(image);
  shape.height = height_of(image);
  const bool alpha = layout.alpha != nullptr;
  shape.channels =
      layout.is_grey() ? (alpha ? Channels::grey_alpha : Channels::grey) : (alpha ? Channels::rgba : Channels::rgb);
  shape.depth = std::max(layout.bits, 8);
  const bool exact = layout.bits >= 8 || 255 % ((1 << layout.bits) - 1) == 0;
  shape.type = !exact ? SampleType::f32 : layout.bits > 8 ? SampleType::u16 : SampleType::u8;
  shape.stored = describe(layout.bits, false, shape.channels);
  for (uint32_t i = 0; i < image.numcomps; ++i) {
    if (!covers(image.comps[i], image)) {
      return unsupported(encoded, "is a JPEG 2000 file whose components have different sizes", "convert it to RGB");
    }
  }
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, make_picture(encoded, "JPEG 2000", shape));
  interleave(layout, picture);
  return picture;
}

}  // namespace

Result<Picture> decode_jpeg2000(const EncodedFile& encoded) {
  Image image;
  ACUITY_TRY_ASSIGN(image, decode_components(encoded));
  Layout layout;
  ACUITY_TRY_ASSIGN(layout, read_layout(encoded, *image));
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, convert(encoded, *image, layout));
  ACUITY_TRY(name_colour(encoded, *image, picture));
  if (layout.ignored > 0) picture.found.push_back(fmt::format("{} more samples per pixel, ignored", layout.ignored));
  if (layout.alpha != nullptr && layout.alpha->alpha == kPremultipliedOpacity) {
    ACUITY_TRY(divide_by_alpha(encoded, picture));
  }
  return picture;
}

bool is_jpeg2000(Bytes beginning) { return begins_with(beginning, kContainer) || begins_with(beginning, kCodestream); }

}  // namespace acuity
