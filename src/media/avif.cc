// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>
#include <memory>

#include <avif/avif.h>
#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "media/decoder.h"
#include "media/planes.h"
#include "media/quiet.h"

namespace acuity {
namespace {

struct DestroyDecoder {
  void operator()(avifDecoder* decoder) const { avifDecoderDestroy(decoder); }
};
using Decoder = std::unique_ptr<avifDecoder, DestroyDecoder>;

Status failed(const EncodedFile& encoded, const Decoder& decoder, avifResult result) {
  // libavif refuses to parse sizes beyond its own limit, before ours can be applied.
  if (std::strstr(decoder->diag.error, "dimensions are too large") != nullptr) {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' declares more than the limit of {} pixels: {}; use a smaller picture", encoded.name,
                              AVIF_DEFAULT_IMAGE_SIZE_LIMIT, decoder->diag.error));
  }
  const char* detail = decoder->diag.error[0] != '\0' ? decoder->diag.error : avifResultToString(result);
  return damaged(encoded, "AVIF", detail);
}

// Rotation and mirroring, in this order, as one EXIF orientation.
int orientation_of(const avifImage& image) {
  constexpr int kOrientations[4][3] = {{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}};  // by quarter turn, by mirror
  const bool rotated = (image.transformFlags & AVIF_TRANSFORM_IROT) != 0;
  const bool mirrored = (image.transformFlags & AVIF_TRANSFORM_IMIR) != 0;
  return kOrientations[rotated ? image.irot.angle & 3 : 0][mirrored ? 1 + (image.imir.mode & 1) : 0];
}

bool is_grey(const avifImage& image) { return image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400; }

// RGB itself, in the order G, B, R.
bool is_rgb(const avifImage& image) {
  return image.matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_IDENTITY && image.yuvFormat == AVIF_PIXEL_FORMAT_YUV444;
}

// Whether the file holds the samples of the picture themselves.
bool keeps_integers(const avifImage& image) {
  return image.yuvRange == AVIF_RANGE_FULL && (is_grey(image) || is_rgb(image));
}

Shape shape_of(const avifImage& image) {
  const bool alpha = image.alphaPlane != nullptr;
  Shape shape;
  shape.width = image.width;
  shape.height = image.height;
  shape.depth = static_cast<int>(image.depth);
  shape.channels =
      is_grey(image) ? (alpha ? Channels::grey_alpha : Channels::grey) : (alpha ? Channels::rgba : Channels::rgb);
  shape.stored = describe(shape.depth, false, shape.channels);
  shape.type = !keeps_integers(image) ? SampleType::f32 : shape.depth > 8 ? SampleType::u16 : SampleType::u8;
  return shape;
}

template <typename Sample>
void interleave(const avifImage& image, Picture& picture) {
  std::vector<Planes::Plane> planes;
  for (const size_t place : is_grey(image) ? std::vector<size_t>{0} : std::vector<size_t>{2, 0, 1}) {
    planes.push_back({image.yuvPlanes[place], image.yuvRowBytes[place]});
  }
  if (image.alphaPlane != nullptr) planes.push_back({image.alphaPlane, image.alphaRowBytes});
  for (uint32_t y = 0; y < image.height; ++y) {
    auto* to = reinterpret_cast<Sample*>(row_of(picture, y));
    for (uint32_t x = 0; x < image.width; ++x) {
      for (const Planes::Plane& plane : planes) {
        *to++ = reinterpret_cast<const Sample*>(plane.data + size_t{y} * plane.row_bytes)[x];
      }
    }
  }
}

Subsampling subsampling_of(const avifImage& image) {
  switch (image.yuvFormat) {
    case AVIF_PIXEL_FORMAT_YUV444:
      return Subsampling::yuv444;
    case AVIF_PIXEL_FORMAT_YUV422:
      return Subsampling::yuv422;
    case AVIF_PIXEL_FORMAT_YUV420:
      return Subsampling::yuv420;
    default:
      return Subsampling::grey;
  }
}

// Where the file does not say, encoders of pictures have averaged neighbours, which puts colour in their middle.
Siting siting_of(const avifImage& image) {
  switch (image.yuvChromaSamplePosition) {
    case AVIF_CHROMA_SAMPLE_POSITION_VERTICAL:
      return Siting::left;
    case AVIF_CHROMA_SAMPLE_POSITION_COLOCATED:
      return Siting::top_left;
    default:
      return Siting::centre;
  }
}

Status convert(const EncodedFile& encoded, const avifImage& image, Picture& picture) {
  if (keeps_integers(image)) {
    if (image.depth > 8) {
      interleave<uint16_t>(image, picture);
    } else {
      interleave<uint8_t>(image, picture);
    }
    return {};
  }
  const int code = image.matrixCoefficients;
  const bool unknown = code == AVIF_MATRIX_COEFFICIENTS_UNSPECIFIED;
  const std::optional<Matrix> matrix = unknown ? Matrix::bt601 : matrix_of(code);
  if (!is_grey(image) && !matrix) {
    return unsupported(encoded,
                       fmt::format("has colour matrix {} of H.273{}, which is not supported", code,
                                   is_rgb(image) ? " (RGB) in limited range" : ""),
                       "convert it to full-range RGB or to Y'CbCr of BT.601, BT.709 or BT.2020");
  }
  Planes planes;
  planes.format.width = static_cast<int>(image.width);
  planes.format.height = static_cast<int>(image.height);
  planes.format.depth = static_cast<int>(image.depth);
  planes.format.subsampling = subsampling_of(image);
  planes.format.full_range = image.yuvRange == AVIF_RANGE_FULL;
  planes.format.matrix = matrix.value_or(Matrix::bt601);
  planes.format.siting = siting_of(image);
  for (size_t p = 0; p < 3; ++p) planes.colour[p] = {image.yuvPlanes[p], image.yuvRowBytes[p]};
  planes.alpha = {image.alphaPlane, image.alphaRowBytes};
  convert_planes(planes, picture);
  return {};
}

// What the container says about showing the picture: crop, turn, mirror.
Status transform(const EncodedFile& encoded, const Decoder& decoder, Picture& picture) {
  const avifImage& image = *decoder->image;
  if ((image.transformFlags & AVIF_TRANSFORM_CLAP) != 0) {
    avifCropRect part;
    if (avifCropRectConvertCleanApertureBox(&part, &image.clap, image.width, image.height, image.yuvFormat,
                                            &decoder->diag) == 0) {
      return damaged(encoded, "AVIF", decoder->diag.error);
    }
    crop(picture, part.x, part.y, part.width, part.height);
    picture.found.push_back(fmt::format("cropped from {}x{} at ({}, {})", image.width, image.height, part.x, part.y));
  }
  if ((image.transformFlags & AVIF_TRANSFORM_PASP) != 0 && image.pasp.hSpacing != image.pasp.vSpacing) {
    picture.found.push_back(fmt::format("pixel aspect {}:{}, not applied", image.pasp.hSpacing, image.pasp.vSpacing));
  }
  const int orientation = orientation_of(image);
  if (orientation == 1) return {};
  picture.found.push_back(fmt::format("rotation and mirroring (as EXIF orientation {}) applied", orientation));
  return turn_upright(encoded, picture, orientation);
}

Status name_colour(const EncodedFile& encoded, const avifImage& image, Picture& picture) {
  picture.found.push_back(image.yuvRange == AVIF_RANGE_FULL ? "full range" : "limited range");
  if (!is_grey(image)) {
    const char* name = avifPixelFormatToString(image.yuvFormat);
    picture.found.push_back(fmt::format("{}, matrix {}", name, image.matrixCoefficients));
    if (image.matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_UNSPECIFIED) {
      picture.assumed.push_back("BT.601 matrix (the file leaves it unspecified)");
    }
    const bool halved = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV420 || image.yuvFormat == AVIF_PIXEL_FORMAT_YUV422;
    if (halved) {
      const bool said = image.yuvChromaSamplePosition != AVIF_CHROMA_SAMPLE_POSITION_UNKNOWN;
      (said ? picture.found : picture.assumed).push_back(fmt::format("chroma sited {}", name_of(siting_of(image))));
    }
  }
  if (image.icc.size > 0) return set_icc(encoded, picture, {image.icc.data, image.icc.size});
  return set_cicp(encoded, picture, image.colorPrimaries, image.transferCharacteristics);
}

class AvifFrames : public PictureFrames {
 public:
  explicit AvifFrames(const EncodedFile& encoded) : encoded_(encoded) {}

  Status open() {
    const QuietStderr quiet;
    decoder_.reset(avifDecoderCreate());
    if (!decoder_) return Status(StatusCode::internal, "libavif could not be set up");
    decoder_->ignoreExif = AVIF_TRUE;  // AVIF's own boxes decide how it is turned
    decoder_->ignoreXMP = AVIF_TRUE;
    decoder_->imageDimensionLimit = 0;  // ours follows
    avifResult result = avifDecoderSetIOMemory(decoder_.get(), encoded_.bytes.data(), encoded_.bytes.size());
    if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder_.get());
    if (result != AVIF_RESULT_OK) return failed(encoded_, decoder_, result);
    const avifImage& image = *decoder_->image;
    ACUITY_TRY(check_size(encoded_, image.width, image.height));
    decoder_->imageSizeLimit =
        static_cast<uint32_t>(std::min<int64_t>(AVIF_DEFAULT_IMAGE_SIZE_LIMIT, encoded_.limits.maximum_pixels));
    count_ = decoder_->imageCount;
    for (int i = 0; count_ > 1 && i < decoder_->imageCount; ++i) {
      avifImageTiming timing{};
      if (avifDecoderNthImageTiming(decoder_.get(), static_cast<uint32_t>(i), &timing) != AVIF_RESULT_OK)
        timing.duration = 0;
      durations_.push_back(timing.duration);
    }
    width_ = image.width;
    height_ = image.height;
    depth_ = image.depth;
    format_ = image.yuvFormat;
    return {};
  }

  Result<Picture> read(int64_t index) override {
    const QuietStderr quiet;
    // The decoder holds up to four planes of its own.
    const int64_t planes = (depth_ > 8 ? 8 : 4) * width_ * height_;
    ACUITY_TRY(check_memory(encoded_, width_, height_, planes));
    const avifResult result = avifDecoderNthImage(decoder_.get(), static_cast<uint32_t>(index));
    if (result != AVIF_RESULT_OK) return failed(encoded_, decoder_, result);
    // The boxes announced what the coded picture then has to be.
    const avifImage& image = *decoder_->image;
    if (image.width != width_ || image.height != height_ || image.depth != depth_ || image.yuvFormat != format_ ||
        (image.alphaPlane != nullptr) != (decoder_->alphaPresent != 0)) {
      return damaged(encoded_, "AVIF", "its coded picture is not the one its header announces");
    }
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, make_picture(encoded_, "AVIF", shape_of(image), planes));
    ACUITY_TRY(convert(encoded_, image, picture));
    ACUITY_TRY(name_colour(encoded_, image, picture));
    if (image.alphaPremultiplied != 0) ACUITY_TRY(divide_by_alpha(encoded_, picture));
    ACUITY_TRY(transform(encoded_, decoder_, picture));
    return picture;
  }

 private:
  EncodedFile encoded_;
  Decoder decoder_;
  int64_t width_ = 0, height_ = 0, depth_ = 0;
  avifPixelFormat format_ = AVIF_PIXEL_FORMAT_NONE;
};

}  // namespace

OpenedFrames open_avif(const EncodedFile& encoded) {
  auto frames = std::make_unique<AvifFrames>(encoded);
  ACUITY_TRY(frames->open());
  return std::unique_ptr<PictureFrames>(std::move(frames));
}

}  // namespace acuity
