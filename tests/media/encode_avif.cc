// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstring>

#include <avif/avif.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

void put(uint8_t* plane, uint32_t row_bytes, const Drawing& drawing, int x, int y, uint16_t sample) {
  uint8_t* row = plane + static_cast<size_t>(y) * row_bytes;
  if (drawing.bits > 8) {
    std::memcpy(row + ptrdiff_t{2} * x, &sample, 2);
  } else {
    row[x] = static_cast<uint8_t>(sample);
  }
}

void fill(avifImage* image, const Drawing& drawing, const AvifOptions& options) {
  const bool alpha = drawing.channels % 2 == 0, grey = drawing.channels < 3;
  avifImageAllocatePlanes(image, alpha ? AVIF_PLANES_ALL : AVIF_PLANES_YUV);
  if (grey || options.planes) {
    size_t i = 0;
    for (int y = 0; y < drawing.height; ++y) {
      for (int x = 0; x < drawing.width; ++x) {
        for (int c = 0; c < (grey ? 1 : 3); ++c)
          put(image->yuvPlanes[c], image->yuvRowBytes[c], drawing, x, y, drawing.samples[i++]);
        if (alpha) put(image->alphaPlane, image->alphaRowBytes, drawing, x, y, drawing.samples[i++]);
      }
    }
    return;
  }
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.format = alpha ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
  rgb.alphaPremultiplied = options.premultiplied ? AVIF_TRUE : AVIF_FALSE;
  File bytes;
  for (const uint16_t sample : drawing.samples) append_little_endian(bytes, sample, drawing.bits > 8 ? 2 : 1);
  rgb.pixels = bytes.data();
  rgb.rowBytes = static_cast<uint32_t>(bytes.size()) / static_cast<uint32_t>(drawing.height);
  avifImageRGBToYUV(image, &rgb);
}

}  // namespace

File encode_avif(const Drawing& drawing, const AvifOptions& options) {
  const auto format = drawing.channels < 3 ? AVIF_PIXEL_FORMAT_YUV400 : static_cast<avifPixelFormat>(options.format);
  avifImage* image = avifImageCreate(static_cast<uint32_t>(drawing.width), static_cast<uint32_t>(drawing.height),
                                     static_cast<uint32_t>(drawing.bits), format);
  image->yuvRange = options.full_range ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED;
  image->colorPrimaries = static_cast<avifColorPrimaries>(options.primaries);
  image->transferCharacteristics = static_cast<avifTransferCharacteristics>(options.transfer);
  // The identity matrix exists for 4:4:4 alone.
  const bool no_matrix = options.matrix == 0 && format != AVIF_PIXEL_FORMAT_YUV444;
  image->matrixCoefficients = static_cast<avifMatrixCoefficients>(no_matrix ? 6 : options.matrix);
  image->yuvChromaSamplePosition = static_cast<avifChromaSamplePosition>(options.siting);
  image->alphaPremultiplied = options.premultiplied ? AVIF_TRUE : AVIF_FALSE;
  if (options.quarter_turns >= 0) {
    image->transformFlags |= AVIF_TRANSFORM_IROT;
    image->irot.angle = static_cast<uint8_t>(options.quarter_turns);
  }
  if (options.mirror >= 0) {
    image->transformFlags |= AVIF_TRANSFORM_IMIR;
    image->imir.mode = static_cast<uint8_t>(options.mirror);
  }
  avifDiagnostics diagnostics;
  if (options.crop[2] != 0) {
    const avifCropRect part{options.crop[0], options.crop[1], options.crop[2], options.crop[3]};
    image->transformFlags |= AVIF_TRANSFORM_CLAP;
    avifCleanApertureBoxConvertCropRect(&image->clap, &part, image->width, image->height, format, &diagnostics);
  }
  if (!options.icc.empty()) avifImageSetProfileICC(image, options.icc.data(), options.icc.size());
  fill(image, drawing, options);

  avifEncoder* encoder = avifEncoderCreate();
  encoder->speed = AVIF_SPEED_FASTEST;
  encoder->minQuantizer = encoder->maxQuantizer = AVIF_QUANTIZER_LOSSLESS;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
  avifRWData output = AVIF_DATA_EMPTY;
  if (options.frames == 1) {
    avifEncoderWrite(encoder, image, &output);
  } else {
    for (int i = 0; i < options.frames; ++i) {
      fill(image, frame_of(drawing, i), options);
      avifEncoderAddImage(encoder, image, 1, AVIF_ADD_IMAGE_FLAG_NONE);
    }
    avifEncoderFinish(encoder, &output);
  }
  File file(output.data, output.data + output.size);
  avifRWDataFree(&output);
  avifEncoderDestroy(encoder);
  avifImageDestroy(image);
  return file;
}

}  // namespace acuity::tests
