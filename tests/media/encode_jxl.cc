// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstring>

#include <jxl/encode.h>

#include "media/encode.h"

namespace acuity::tests {

File encode_jxl(const Drawing& drawing, const JxlOptions& options) {
  JxlEncoder* encoder = JxlEncoderCreate(nullptr);
  JxlEncoderUseContainer(encoder, options.container ? JXL_TRUE : JXL_FALSE);
  const bool alpha = drawing.channels % 2 == 0, grey = drawing.channels < 3;
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = static_cast<uint32_t>(drawing.width);
  info.ysize = static_cast<uint32_t>(drawing.height);
  info.bits_per_sample = options.is_float ? 32 : static_cast<uint32_t>(drawing.bits);
  info.exponent_bits_per_sample = options.is_float ? 8 : 0;
  info.num_color_channels = grey ? 1 : 3;
  info.num_extra_channels = alpha ? 1 : 0;
  info.alpha_bits = alpha ? info.bits_per_sample : 0;
  info.alpha_exponent_bits = alpha ? info.exponent_bits_per_sample : 0;
  info.uses_original_profile = options.lossless ? JXL_TRUE : JXL_FALSE;
  info.orientation = static_cast<JxlOrientation>(options.orientation);
  info.intensity_target = options.intensity;
  if (options.frames > 1) {
    info.have_animation = JXL_TRUE;
    info.animation.tps_numerator = info.animation.tps_denominator = 1;
  }
  if (drawing.bits > 12) JxlEncoderSetCodestreamLevel(encoder, 10);
  JxlEncoderSetBasicInfo(encoder, &info);
  if (options.name_alpha) JxlEncoderSetExtraChannelName(encoder, 0, "A", 1);
  if (options.icc.empty()) {
    JxlColorEncoding colour{};
    colour.color_space = grey ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
    colour.white_point = JXL_WHITE_POINT_D65;
    colour.primaries = static_cast<JxlPrimaries>(options.primaries);
    colour.transfer_function = static_cast<JxlTransferFunction>(options.transfer);
    colour.gamma = options.gamma;
    JxlEncoderSetColorEncoding(encoder, &colour);
  } else {
    JxlEncoderSetICCProfile(encoder, options.icc.data(), options.icc.size());
  }
  JxlEncoderFrameSettings* settings = JxlEncoderFrameSettingsCreate(encoder, nullptr);
  if (options.lossless) JxlEncoderSetFrameLossless(settings, JXL_TRUE);
  // Otherwise the colour of transparent pixels is forgotten.
  JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_KEEP_INVISIBLE, 1);
  JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 1);

  // libjxl takes whole-range samples of 8 or 16 bits, or floats.
  const double maximum = (1 << drawing.bits) - 1;
  const bool as_bytes = drawing.bits == 8 && !options.is_float;
  const JxlPixelFormat format{static_cast<uint32_t>(drawing.channels), as_bytes ? JXL_TYPE_UINT8 : JXL_TYPE_FLOAT,
                              JXL_LITTLE_ENDIAN, 0};
  for (int i = 0; i < options.frames; ++i) {
    File bytes;
    for (const uint16_t sample : frame_of(drawing, i).samples) {
      const auto value = static_cast<float>(sample / maximum);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      as_bytes ? append_little_endian(bytes, sample, 1) : append_little_endian(bytes, bits, 4);
    }
    if (options.frames > 1) {
      JxlFrameHeader header;
      JxlEncoderInitFrameHeader(&header);
      header.duration = 1;
      JxlEncoderSetFrameHeader(settings, &header);
    }
    JxlEncoderAddImageFrame(settings, &format, bytes.data(), bytes.size());
  }
  JxlEncoderCloseInput(encoder);
  File file(size_t{1} << 20);
  uint8_t* next = file.data();
  size_t left = file.size();
  const JxlEncoderStatus status = JxlEncoderProcessOutput(encoder, &next, &left);
  file.resize(status == JXL_ENC_SUCCESS ? file.size() - left : 0);
  JxlEncoderDestroy(encoder);
  return file;
}

}  // namespace acuity::tests
