// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <jxl/decode.h>

#include "colour/cicp.h"
#include "media/decoder.h"
#include "media/quiet.h"

namespace acuity {
namespace {

struct DestroyDecoder {
  void operator()(JxlDecoder* decoder) const { JxlDecoderDestroy(decoder); }
};
using Decoder = std::unique_ptr<JxlDecoder, DestroyDecoder>;

constexpr JxlColorProfileTarget kData = JXL_COLOR_PROFILE_TARGET_DATA;

Result<Shape> shape_of(const Source& source, const Decoder& decoder, const JxlBasicInfo& info) {
  if (const Status status = check_size(source, info.xsize, info.ysize); !status.ok()) return status;
  if (info.have_animation != 0) return unsupported(source, "is an animation", "extract the frame to compare");
  for (size_t i = 0; i < info.num_extra_channels; ++i) {
    JxlExtraChannelInfo extra;
    if (JxlDecoderGetExtraChannelInfo(decoder.get(), i, &extra) == JXL_DEC_SUCCESS && extra.type == JXL_CHANNEL_BLACK) {
      return unsupported(source, "is a CMYK JPEG XL file, which is not read", "convert it to RGB");
    }
  }
  const bool grey = info.num_color_channels == 1, alpha = info.alpha_bits != 0;
  const bool is_float = info.exponent_bits_per_sample != 0;
  Shape shape;
  shape.width = info.xsize;
  shape.height = info.ysize;
  shape.channels = grey ? (alpha ? Channels::grey_alpha : Channels::grey) : (alpha ? Channels::rgba : Channels::rgb);
  shape.stored = describe(static_cast<int>(info.bits_per_sample), is_float, shape.channels);
  // What is coded as XYB has no integers inside, and without an enumerated space libjxl delivers it as linear light,
  // for which only floats are precise enough.
  const bool xyb = info.uses_original_profile == 0;
  const bool enumerated = JxlDecoderGetColorAsEncodedProfile(decoder.get(), nullptr, JXL_COLOR_PROFILE_TARGET_ORIGINAL,
                                                             nullptr) == JXL_DEC_SUCCESS;
  if (is_float || info.bits_per_sample > 16 || (xyb && !enumerated)) {
    shape.type = SampleType::f32;
  } else if (info.bits_per_sample != 8 || xyb) {
    shape.type = SampleType::u16;
    shape.depth = 16;
  }
  return shape;
}

Status name_enumerated(const Source& source, const JxlColorEncoding& encoding, const JxlBasicInfo& info,
                       Picture& picture) {
  const bool gamma = encoding.transfer_function == JXL_TRANSFER_FUNCTION_GAMMA;
  // The other numbers are those of CICP.
  const int transfer = gamma ? kCicpUnspecified : static_cast<int>(encoding.transfer_function);
  const Result<Colour> named = colour_from_cicp(kCicpUnspecified, transfer, 0, true, source.name);
  if (!named.ok()) return named.status();
  Colour colour = *named;
  if (gamma) {
    if (!(encoding.gamma > 0)) return damaged(source, "JPEG XL", "its gamma is not above 0");
    colour.transfer = Transfer::gamma;
    colour.gamma = 1 / encoding.gamma;
  }
  if (encoding.color_space == JXL_COLOR_SPACE_RGB) {
    const auto xy = [](const double* values) { return std::array<double, 2>{values[0], values[1]}; };
    set_chromaticities(colour, {xy(encoding.primaries_red_xy), xy(encoding.primaries_green_xy),
                                xy(encoding.primaries_blue_xy), xy(encoding.white_point_xy)});
  }
  if (colour.transfer == Transfer::hlg && info.intensity_target > 0) {
    colour.peak_nits = static_cast<double>(info.intensity_target);
    picture.found.push_back(fmt::format("intensity target {} nit", info.intensity_target));
  }
  picture.view.colour = colour;
  picture.found.push_back(gamma ? fmt::format("enumerated colour space, gamma {:.6g}", colour.gamma)
                                : fmt::format("enumerated colour space, CICP transfer {}", transfer));
  return {};
}

Status name_colour(const Source& source, const Decoder& decoder, const JxlBasicInfo& info, Picture& picture) {
  JxlColorEncoding encoding;
  if (JxlDecoderGetColorAsEncodedProfile(decoder.get(), nullptr, kData, &encoding) == JXL_DEC_SUCCESS &&
      (encoding.color_space == JXL_COLOR_SPACE_RGB || encoding.color_space == JXL_COLOR_SPACE_GRAY) &&
      encoding.transfer_function != JXL_TRANSFER_FUNCTION_UNKNOWN) {
    return name_enumerated(source, encoding, info, picture);
  }
  size_t size = 0;
  if (JxlDecoderGetICCProfileSize(decoder.get(), nullptr, kData, &size) != JXL_DEC_SUCCESS || size == 0) {
    assume_srgb(picture);
    return {};
  }
  std::vector<uint8_t> profile(size);
  if (JxlDecoderGetColorAsICCProfile(decoder.get(), nullptr, kData, profile.data(), size) != JXL_DEC_SUCCESS) {
    return damaged(source, "JPEG XL", "its ICC profile cannot be read");
  }
  return set_icc(source, picture, profile);
}

// Up to the point where the colour is known and pixels are wanted.
Result<Picture> read_header(const Source& source, const Decoder& decoder, JxlBasicInfo& info, JxlDecoderStatus& state) {
  state = JxlDecoderProcessInput(decoder.get());
  if (state != JXL_DEC_BASIC_INFO || JxlDecoderGetBasicInfo(decoder.get(), &info) != JXL_DEC_SUCCESS) {
    return damaged(source, "JPEG XL", "its header cannot be read");
  }
  if (const Status status = check_size(source, info.xsize, info.ysize); !status.ok()) return status;
  state = JxlDecoderProcessInput(decoder.get());
  if (state != JXL_DEC_COLOR_ENCODING) return damaged(source, "JPEG XL", "its colour space cannot be read");
  const Result<Shape> shape = shape_of(source, decoder, info);
  if (!shape.ok()) return shape.status();
  // libjxl works on planes of floats.
  const int64_t planes = int64_t{info.num_color_channels} + info.num_extra_channels;
  Result<Picture> picture = make_picture(source, "JPEG XL", *shape, 4 * planes * shape->width * shape->height);
  if (!picture.ok()) return picture;
  if (info.uses_original_profile == 0) picture->found.push_back("coded as XYB");
  if (const Status status = name_colour(source, decoder, info, *picture); !status.ok()) return status;
  return picture;
}

}  // namespace

Result<Picture> decode_jxl(const Source& source) {
  const QuietStderr quiet;
  const Decoder decoder(JxlDecoderCreate(nullptr));
  if (!decoder ||
      JxlDecoderSubscribeEvents(decoder.get(), JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE) !=
          JXL_DEC_SUCCESS ||
      JxlDecoderSetKeepOrientation(decoder.get(), JXL_TRUE) != JXL_DEC_SUCCESS ||
      JxlDecoderSetInput(decoder.get(), source.bytes.data(), source.bytes.size()) != JXL_DEC_SUCCESS) {
    return Status(StatusCode::internal, "libjxl could not be set up");
  }
  JxlDecoderCloseInput(decoder.get());

  JxlBasicInfo info;
  JxlDecoderStatus state;
  Result<Picture> picture = read_header(source, decoder, info, state);
  if (!picture.ok()) return picture;
  const ImageView& view = picture->view;
  const JxlPixelFormat format{static_cast<uint32_t>(view.channel_count()),
                              view.type == SampleType::u8    ? JXL_TYPE_UINT8
                              : view.type == SampleType::u16 ? JXL_TYPE_UINT16
                                                             : JXL_TYPE_FLOAT,
                              JXL_NATIVE_ENDIAN, 0};
  const size_t size = static_cast<size_t>(view.row_stride) * static_cast<size_t>(view.height);
  bool complete = false;
  while ((state = JxlDecoderProcessInput(decoder.get())) != JXL_DEC_SUCCESS) {
    if (state == JXL_DEC_FULL_IMAGE) {
      complete = true;
    } else if (state != JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
      return damaged(source, "JPEG XL",
                     state == JXL_DEC_NEED_MORE_INPUT ? "it ends too early" : "its data make no sense");
    } else if (JxlDecoderSetImageOutBuffer(decoder.get(), &format, picture->pixels.get(), size) != JXL_DEC_SUCCESS) {
      return damaged(source, "JPEG XL", "its pixels cannot be decoded");
    }
  }
  if (!complete) return damaged(source, "JPEG XL", "it holds no picture");

  const auto bits = static_cast<int>(info.bits_per_sample);
  if (view.type == SampleType::u16 && bits > 8 && bits < 15) narrow(*picture, bits);
  if (const Status status = check_finite(source, *picture); !status.ok()) return status;
  if (view.has_alpha() && info.alpha_premultiplied != 0) {
    if (const Status status = divide_by_alpha(source, *picture); !status.ok()) return status;
  }
  if (info.orientation != JXL_ORIENT_IDENTITY) {
    picture->found.push_back(fmt::format("orientation {} applied", static_cast<int>(info.orientation)));
    if (const Status status = turn_upright(source, *picture, info.orientation); !status.ok()) return status;
  }
  return picture;
}

}  // namespace acuity
