// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>
#include <memory>

#include <avif/avif.h>
#include <fmt/format.h>

#include "colour/cicp.h"
#include "media/decoder.h"
#include "media/quiet.h"

namespace acuity {
namespace {

struct DestroyDecoder {
  void operator()(avifDecoder* decoder) const { avifDecoderDestroy(decoder); }
};
using Decoder = std::unique_ptr<avifDecoder, DestroyDecoder>;

Status failed(const Source& source, const Decoder& decoder, avifResult result) {
  // libavif refuses to parse sizes beyond its own limit, before ours can be applied.
  if (std::strstr(decoder->diag.error, "dimensions are too large") != nullptr) {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' declares more than the limit of {} pixels: {}; use a smaller picture", source.name,
                              AVIF_DEFAULT_IMAGE_SIZE_LIMIT, decoder->diag.error));
  }
  const char* detail = decoder->diag.error[0] != '\0' ? decoder->diag.error : avifResultToString(result);
  return damaged(source, "AVIF", detail);
}

// Rotation and mirroring, in this order, as one EXIF orientation.
int orientation_of(const avifImage& image) {
  constexpr int kOrientations[4][3] = {{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}};  // by quarter turn, by mirror
  const bool rotated = (image.transformFlags & AVIF_TRANSFORM_IROT) != 0;
  const bool mirrored = (image.transformFlags & AVIF_TRANSFORM_IMIR) != 0;
  return kOrientations[rotated ? image.irot.angle & 3 : 0][mirrored ? 1 + (image.imir.mode & 1) : 0];
}

bool is_grey(const avifImage& image) { return image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400; }

template <typename Sample>
void copy_grey_row(const avifImage& image, uint32_t y, Sample* to) {
  const auto* luma = reinterpret_cast<const Sample*>(image.yuvPlanes[0] + size_t{y} * image.yuvRowBytes[0]);
  const auto* alpha = image.alphaPlane == nullptr
                          ? nullptr
                          : reinterpret_cast<const Sample*>(image.alphaPlane + size_t{y} * image.alphaRowBytes);
  const int depth = static_cast<int>(image.depth);
  for (uint32_t x = 0; x < image.width; ++x) {
    const bool full = image.yuvRange == AVIF_RANGE_FULL;
    *to++ = full ? luma[x] : static_cast<Sample>(avifLimitedToFullY(depth, luma[x]));
    if (alpha != nullptr) *to++ = alpha[x];
  }
}

Status convert(const Source& source, const avifImage& image, Picture& picture) {
  if (is_grey(image)) {
    for (uint32_t y = 0; y < image.height; ++y) {
      std::byte* row = row_of(picture, y);
      if (image.depth > 8) {
        copy_grey_row(image, y, reinterpret_cast<uint16_t*>(row));
      } else {
        copy_grey_row(image, y, reinterpret_cast<uint8_t*>(row));
      }
    }
    return {};
  }
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, &image);
  rgb.format = picture.view.has_alpha() ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
  // libyuv is faster, less exact, and not equally so on all machines.
  rgb.avoidLibYUV = AVIF_TRUE;
  rgb.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BEST_QUALITY;
  rgb.alphaPremultiplied = image.alphaPremultiplied;
  rgb.pixels = reinterpret_cast<uint8_t*>(picture.pixels.get());
  rgb.rowBytes = static_cast<uint32_t>(picture.view.row_stride);
  const avifResult result = avifImageYUVToRGB(&image, &rgb);
  if (result == AVIF_RESULT_OK) return {};
  return unsupported(source,
                     fmt::format("has colour matrix {}, which cannot be turned into RGB ({})", image.matrixCoefficients,
                                 avifResultToString(result)),
                     "convert it to RGB");
}

// What the container says about showing the picture: crop, turn, mirror.
Status transform(const Source& source, const Decoder& decoder, Picture& picture) {
  const avifImage& image = *decoder->image;
  if ((image.transformFlags & AVIF_TRANSFORM_CLAP) != 0) {
    avifCropRect part;
    if (avifCropRectConvertCleanApertureBox(&part, &image.clap, image.width, image.height, image.yuvFormat,
                                            &decoder->diag) == 0) {
      return damaged(source, "AVIF", decoder->diag.error);
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
  return turn_upright(source, picture, orientation);
}

Status name_colour(const Source& source, const avifImage& image, Picture& picture) {
  picture.found.push_back(image.yuvRange == AVIF_RANGE_FULL ? "full range" : "limited range");
  if (!is_grey(image)) {
    const char* name = avifPixelFormatToString(image.yuvFormat);
    picture.found.push_back(fmt::format("{}, matrix {}", name, image.matrixCoefficients));
    if (image.matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_UNSPECIFIED) {
      picture.assumed.push_back("BT.601 matrix (the file leaves it unspecified)");
    }
  }
  if (image.icc.size > 0) return set_icc(source, picture, {image.icc.data, image.icc.size});
  return set_cicp(source, picture, image.colorPrimaries, image.transferCharacteristics);
}

}  // namespace

Result<Picture> decode_avif(const Source& source) {
  const QuietStderr quiet;
  const Decoder decoder(avifDecoderCreate());
  if (!decoder) return Status(StatusCode::internal, "libavif could not be set up");
  decoder->ignoreExif = AVIF_TRUE;  // AVIF's own boxes decide how it is turned
  decoder->ignoreXMP = AVIF_TRUE;
  decoder->imageDimensionLimit = 0;  // ours follows
  avifResult result = avifDecoderSetIOMemory(decoder.get(), source.bytes.data(), source.bytes.size());
  if (result == AVIF_RESULT_OK) result = avifDecoderParse(decoder.get());
  if (result != AVIF_RESULT_OK) return failed(source, decoder, result);
  if (decoder->imageCount != 1) {
    return unsupported(source, fmt::format("is a sequence of {} frames", decoder->imageCount),
                       "extract the frame to compare");
  }
  const avifImage* image = decoder->image;
  if (const Status status = check_size(source, image->width, image->height); !status.ok()) return status;
  decoder->imageSizeLimit =
      static_cast<uint32_t>(std::min<int64_t>(AVIF_DEFAULT_IMAGE_SIZE_LIMIT, source.limits.maximum_pixels));

  Shape shape;
  shape.width = image->width;
  shape.height = image->height;
  shape.depth = static_cast<int>(image->depth);
  shape.type = image->depth > 8 ? SampleType::u16 : SampleType::u8;
  const bool alpha = decoder->alphaPresent != 0;
  shape.channels =
      is_grey(*image) ? (alpha ? Channels::grey_alpha : Channels::grey) : (alpha ? Channels::rgba : Channels::rgb);
  // The decoder holds up to four planes of its own.
  const int64_t working_bytes = (shape.type == SampleType::u16 ? 8 : 4) * shape.width * shape.height;
  Result<Picture> picture = make_picture(source, "AVIF", shape, working_bytes);
  if (!picture.ok()) return picture;
  const avifPixelFormat declared_format = image->yuvFormat;

  result = avifDecoderNextImage(decoder.get());
  if (result != AVIF_RESULT_OK) return failed(source, decoder, result);
  // The boxes announced what the coded picture then has to be.
  image = decoder->image;
  if (image->width != shape.width || image->height != shape.height || static_cast<int>(image->depth) != shape.depth ||
      image->yuvFormat != declared_format || (image->alphaPlane != nullptr) != alpha) {
    return damaged(source, "AVIF", "its coded picture is not the one its header announces");
  }
  if (const Status status = convert(source, *image, *picture); !status.ok()) return status;
  if (const Status status = name_colour(source, *image, *picture); !status.ok()) return status;
  if (image->alphaPremultiplied != 0) {
    if (const Status status = divide_by_alpha(source, *picture); !status.ok()) return status;
  }
  if (const Status status = transform(source, decoder, *picture); !status.ok()) return status;
  return picture;
}

}  // namespace acuity
