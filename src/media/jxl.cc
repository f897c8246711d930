// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <jxl/decode.h>

#include "base/try.h"
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

Result<Shape> shape_of(const EncodedFile& encoded, const Decoder& decoder, const JxlBasicInfo& info) {
  if (const Status status = check_size(encoded, info.xsize, info.ysize); !status.ok()) return status;
  for (size_t i = 0; i < info.num_extra_channels; ++i) {
    JxlExtraChannelInfo extra;
    if (JxlDecoderGetExtraChannelInfo(decoder.get(), i, &extra) == JXL_DEC_SUCCESS && extra.type == JXL_CHANNEL_BLACK) {
      return unsupported(encoded, "is a CMYK JPEG XL file, which is not supported", "convert it to RGB");
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

Status name_enumerated(const EncodedFile& encoded, const JxlColorEncoding& encoding, const JxlBasicInfo& info,
                       Picture& picture) {
  const bool gamma = encoding.transfer_function == JXL_TRANSFER_FUNCTION_GAMMA;
  // The other numbers are those of CICP.
  const int transfer = gamma ? kCicpUnspecified : static_cast<int>(encoding.transfer_function);
  const Result<Colour> named = colour_from_cicp(kCicpUnspecified, transfer, 0, true, encoded.name);
  if (!named.ok()) return named.status();
  Colour colour = *named;
  if (gamma && !(encoding.gamma > 0)) return damaged(encoded, "JPEG XL", "its gamma is not above 0");
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
  std::string found = fmt::format("enumerated colour space, CICP transfer {}", transfer);
  if (gamma) {
    found = fmt::format("enumerated colour space, gamma {:.6g}", 1 / encoding.gamma);
    found += set_gamma(picture, encoding.gamma, true);
  }
  picture.found.push_back(std::move(found));
  return {};
}

Status name_colour(const EncodedFile& encoded, const Decoder& decoder, const JxlBasicInfo& info, Picture& picture) {
  JxlColorEncoding encoding;
  if (JxlDecoderGetColorAsEncodedProfile(decoder.get(), nullptr, kData, &encoding) == JXL_DEC_SUCCESS &&
      (encoding.color_space == JXL_COLOR_SPACE_RGB || encoding.color_space == JXL_COLOR_SPACE_GRAY) &&
      encoding.transfer_function != JXL_TRANSFER_FUNCTION_UNKNOWN) {
    return name_enumerated(encoded, encoding, info, picture);
  }
  size_t size = 0;
  if (JxlDecoderGetICCProfileSize(decoder.get(), nullptr, kData, &size) != JXL_DEC_SUCCESS || size == 0) {
    assume_srgb(picture);
    return {};
  }
  std::vector<uint8_t> profile(size);
  if (JxlDecoderGetColorAsICCProfile(decoder.get(), nullptr, kData, profile.data(), size) != JXL_DEC_SUCCESS) {
    return damaged(encoded, "JPEG XL", "its ICC profile cannot be read");
  }
  return set_icc(encoded, picture, profile);
}

Result<Decoder> make_decoder(const EncodedFile& encoded, int events) {
  Decoder decoder(JxlDecoderCreate(nullptr));
  if (!decoder || JxlDecoderSubscribeEvents(decoder.get(), events) != JXL_DEC_SUCCESS ||
      JxlDecoderSetKeepOrientation(decoder.get(), JXL_TRUE) != JXL_DEC_SUCCESS ||
      JxlDecoderSetInput(decoder.get(), encoded.bytes.data(), encoded.bytes.size()) != JXL_DEC_SUCCESS) {
    return Status(StatusCode::internal, "libjxl could not be set up");
  }
  JxlDecoderCloseInput(decoder.get());
  return decoder;
}

Status broken(const EncodedFile& encoded, JxlDecoderStatus state) {
  return damaged(encoded, "JPEG XL", state == JXL_DEC_NEED_MORE_INPUT ? "it ends too early" : "its data is invalid");
}

class JxlFrames : public PictureFrames {
 public:
  explicit JxlFrames(const EncodedFile& encoded) : encoded_(encoded) {}

  Status open() {
    const QuietStderr quiet;
    ACUITY_TRY(count_frames());
    ACUITY_TRY_ASSIGN(decoder_,
                      make_decoder(encoded_, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE));
    return {};
  }

  Result<Picture> read(int64_t index) override {
    const QuietStderr quiet;
    if (!header_) ACUITY_TRY(read_header());
    if (index > next_) JxlDecoderSkipFrames(decoder_.get(), static_cast<size_t>(index - next_));
    next_ = index + 1;
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, make_picture(encoded_, "JPEG XL", shape_, working_bytes_));
    picture.view.colour = header_->view.colour;
    picture.found = header_->found;
    picture.assumed = header_->assumed;
    picture.says_transfer = header_->says_transfer;
    picture.says_primaries = header_->says_primaries;
    ACUITY_TRY(read_pixels(picture, next_ == count_));
    const auto bits = static_cast<int>(info_.bits_per_sample);
    if (picture.view.type == SampleType::u16 && bits > 8 && bits < 15) narrow(picture, bits);
    ACUITY_TRY(check_finite(encoded_, picture));
    if (picture.view.has_alpha() && info_.alpha_premultiplied != 0) ACUITY_TRY(divide_by_alpha(encoded_, picture));
    if (info_.orientation != JXL_ORIENT_IDENTITY) {
      picture.found.push_back(fmt::format("orientation {} applied", static_cast<int>(info_.orientation)));
      ACUITY_TRY(turn_upright(encoded_, picture, info_.orientation));
    }
    return picture;
  }

 private:
  // Of an animation; the number of frames is not in the header.
  Status count_frames() {
    Decoder decoder;
    ACUITY_TRY_ASSIGN(decoder, make_decoder(encoded_, JXL_DEC_BASIC_INFO | JXL_DEC_FRAME));
    JxlDecoderStatus state = JxlDecoderProcessInput(decoder.get());
    // What is wrong with the header is told where it is read.
    if (state != JXL_DEC_BASIC_INFO || JxlDecoderGetBasicInfo(decoder.get(), &info_) != JXL_DEC_SUCCESS) return {};
    if (info_.have_animation == 0) return {};
    ACUITY_TRY(check_size(encoded_, info_.xsize, info_.ysize));
    const double tick = info_.animation.tps_numerator == 0
                            ? 0
                            : static_cast<double>(info_.animation.tps_denominator) / info_.animation.tps_numerator;
    while ((state = JxlDecoderProcessInput(decoder.get())) == JXL_DEC_FRAME) {
      JxlFrameHeader frame;
      if (JxlDecoderGetFrameHeader(decoder.get(), &frame) != JXL_DEC_SUCCESS) break;
      durations_.push_back(frame.duration * tick);
    }
    if (state != JXL_DEC_SUCCESS || durations_.empty()) return broken(encoded_, state);
    count_ = static_cast<int64_t>(durations_.size());
    return {};
  }

  // Up to the point where the colour is known and pixels are wanted.
  Status read_header() {
    JxlDecoderStatus state = JxlDecoderProcessInput(decoder_.get());
    if (state != JXL_DEC_BASIC_INFO || JxlDecoderGetBasicInfo(decoder_.get(), &info_) != JXL_DEC_SUCCESS) {
      return damaged(encoded_, "JPEG XL", "its header cannot be read");
    }
    ACUITY_TRY(check_size(encoded_, info_.xsize, info_.ysize));
    state = JxlDecoderProcessInput(decoder_.get());
    if (state != JXL_DEC_COLOR_ENCODING) return damaged(encoded_, "JPEG XL", "its colour space cannot be read");
    ACUITY_TRY_ASSIGN(shape_, shape_of(encoded_, decoder_, info_));
    // libjxl works on planes of floats, and keeps frames that later ones build on.
    const int64_t planes = (int64_t{info_.num_color_channels} + info_.num_extra_channels) * (count_ > 1 ? 2 : 1);
    working_bytes_ = 4 * planes * shape_.width * shape_.height;
    ACUITY_TRY_ASSIGN(header_, make_picture(encoded_, "JPEG XL", shape_, working_bytes_));
    header_->pixels.reset();
    if (info_.uses_original_profile == 0) header_->found.push_back("coded as XYB");
    return name_colour(encoded_, decoder_, info_, *header_);
  }

  // The next picture; after the last also what follows it.
  Status read_pixels(Picture& picture, bool last) {
    const ImageView& view = picture.view;
    const JxlPixelFormat format{static_cast<uint32_t>(view.channel_count()),
                                view.type == SampleType::u8    ? JXL_TYPE_UINT8
                                : view.type == SampleType::u16 ? JXL_TYPE_UINT16
                                                               : JXL_TYPE_FLOAT,
                                JXL_NATIVE_ENDIAN, 0};
    const size_t size = static_cast<size_t>(view.row_stride) * static_cast<size_t>(view.height);
    bool complete = false;
    for (;;) {
      const JxlDecoderStatus state = JxlDecoderProcessInput(decoder_.get());
      if (state == JXL_DEC_FULL_IMAGE) {
        complete = true;
        if (!last) return {};
      } else if (state == JXL_DEC_SUCCESS) {
        return complete ? Status() : damaged(encoded_, "JPEG XL", "it holds no picture");
      } else if (state != JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
        return broken(encoded_, state);
      } else if (JxlDecoderSetImageOutBuffer(decoder_.get(), &format, picture.pixels.get(), size) != JXL_DEC_SUCCESS) {
        return damaged(encoded_, "JPEG XL", "its pixels cannot be decoded");
      }
    }
  }

  EncodedFile encoded_;
  Decoder decoder_;
  JxlBasicInfo info_{};
  Shape shape_;
  int64_t working_bytes_ = 0;
  std::optional<Picture> header_;  // what all pictures have in common
  int64_t next_ = 0;
};

}  // namespace

OpenedFrames open_jxl(const EncodedFile& encoded) {
  auto frames = std::make_unique<JxlFrames>(encoded);
  ACUITY_TRY(frames->open());
  return std::unique_ptr<PictureFrames>(std::move(frames));
}

}  // namespace acuity
