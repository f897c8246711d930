// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/encode.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace acuity::tests {

Drawing draw(int width, int height, int channels, int bits) {
  Drawing drawing{width, height, channels, bits, {}};
  const uint32_t maximum = (1u << bits) - 1;
  uint64_t state = 0x9e3779b97f4a7c15;
  for (int i = 0; i < width * height * channels; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    drawing.samples.push_back(static_cast<uint16_t>((state >> 33) & maximum));
  }
  drawing.samples.front() = 0;
  drawing.samples.back() = static_cast<uint16_t>(maximum);
  return drawing;
}

Drawing flat(int width, int height, std::vector<uint16_t> pixel, int bits) {
  Drawing drawing{width, height, static_cast<int>(pixel.size()), bits, {}};
  for (int i = 0; i < width * height; ++i) drawing.samples.insert(drawing.samples.end(), pixel.begin(), pixel.end());
  return drawing;
}

Drawing letters(int channels) {
  Drawing drawing{3, 2, channels, 8, {}};
  for (int i = 0; i < 6; ++i) {
    for (int c = 0; c < channels; ++c) drawing.samples.push_back(static_cast<uint16_t>(40 * i + 10));
  }
  return drawing;
}

Drawing frame_of(const Drawing& drawing, int place) {
  Drawing frame = drawing;
  for (uint16_t& sample : frame.samples) sample = static_cast<uint16_t>(sample ^ place);
  return frame;
}

std::string spell(const Picture& picture) {
  const ImageView& view = picture.view;
  const std::vector<double> values = values_of(picture);
  const double maximum = view.type == SampleType::f32 ? 1.0 : (1 << view.depth) - 1;
  std::string text;
  for (int y = 0; y < view.height; ++y) {
    if (y > 0) text += '/';
    for (int x = 0; x < view.width; ++x) {
      const double value = values[static_cast<size_t>((y * view.width + x) * view.channel_count())] / maximum * 255;
      text += static_cast<char>('a' + std::lround((value - 10) / 40));
    }
  }
  return text;
}

std::vector<double> values_of(const Picture& picture) {
  const ImageView& view = picture.view;
  std::vector<double> values;
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < view.channel_count(); ++c) {
        const std::byte* at = view.planes[static_cast<size_t>(c)] + y * view.row_stride + x * view.pixel_stride;
        uint16_t word;
        float real;
        if (view.type == SampleType::u8) {
          values.push_back(std::to_integer<int>(*at));
        } else if (view.type == SampleType::u16) {
          std::memcpy(&word, at, sizeof(word));
          values.push_back(word);
        } else {
          std::memcpy(&real, at, sizeof(real));
          values.push_back(static_cast<double>(real));
        }
      }
    }
  }
  return values;
}

std::vector<double> values_of(const Drawing& drawing) { return {drawing.samples.begin(), drawing.samples.end()}; }

void append(File& file, std::string_view text) {
  for (const char c : text) file.push_back(static_cast<uint8_t>(c));
}

void append_big_endian(File& file, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) file.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void append_little_endian(File& file, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) file.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

File exif(int orientation, bool little_endian) {
  File file;
  const auto put = [&](uint64_t value, int bytes) {
    little_endian ? append_little_endian(file, value, bytes) : append_big_endian(file, value, bytes);
  };
  append(file, little_endian ? "II" : "MM");
  put(42, 2);
  put(8, 4);
  put(2, 2);  // entries
  put(0x0100, 2), put(4, 2), put(1, 4), put(3, 4);
  put(0x0112, 2), put(3, 2), put(1, 4), put(static_cast<uint64_t>(orientation), 2), put(0, 2);
  put(0, 4);
  return file;
}

File encode_pnm(char kind, const Drawing& drawing, int maximum) {
  File file;
  const bool bitmap = kind == '1' || kind == '4';
  if (kind == '7') {
    const char* types[] = {"", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    append(file, fmt::format("P7\nWIDTH {}\nHEIGHT {}\nDEPTH {}\nMAXVAL {}\nTUPLTYPE {}\nENDHDR\n", drawing.width,
                             drawing.height, drawing.channels, maximum, types[drawing.channels]));
  } else {
    append(file, fmt::format("P{}\n# a comment\n{} {}\n", kind, drawing.width, drawing.height));
    if (!bitmap) append(file, fmt::format("{}\n", maximum));
  }
  size_t i = 0;
  for (int y = 0; y < drawing.height; ++y) {
    uint8_t packed = 0;
    for (int x = 0; x < drawing.width * drawing.channels; ++x, ++i) {
      const uint16_t sample = drawing.samples[i];
      if (kind <= '3') {
        append(file, kind == '1' ? fmt::format("{}", sample) : fmt::format("{} ", sample));
      } else if (kind == '4') {
        packed = static_cast<uint8_t>(packed | sample << (7 - x % 8));
        if (x % 8 == 7 || x == drawing.width - 1) file.push_back(std::exchange(packed, uint8_t{0}));
      } else {
        append_big_endian(file, sample, maximum < 256 ? 1 : 2);
      }
    }
    if (kind <= '3') append(file, "\n");
  }
  return file;
}

File encode_pfm(int width, int height, int channels, const std::vector<float>& samples, bool little_endian) {
  File file;
  append(file,
         fmt::format("P{}\n{} {}\n{}\n", channels == 3 ? 'F' : 'f', width, height, little_endian ? "-1.0" : "1.0"));
  for (int y = height - 1; y >= 0; --y) {
    for (int i = 0; i < width * channels; ++i) {
      uint32_t bits;
      std::memcpy(&bits, &samples[static_cast<size_t>(y * width * channels + i)], sizeof(bits));
      little_endian ? append_little_endian(file, bits, 4) : append_big_endian(file, bits, 4);
    }
  }
  return file;
}

std::vector<std::pair<std::string, File>> one_of_each() {
  const Drawing rgb = draw(13, 9, 3, 8), rgba = draw(13, 9, 4, 8);
  const std::vector<float> floats(size_t{13} * 9 * 3, 0.25f);
  return {
      {"PNG", encode_png(rgba)},
      {"JPEG", encode_jpeg(rgb)},
      {"WebP", encode_webp(rgba)},
      {"AVIF", encode_avif(rgba)},
      {"JPEG XL", encode_jxl(rgba)},
      {"TIFF", encode_tiff(rgba, {.compression = 8})},
      {"PNM", encode_pnm('6', rgb, 255)},
      {"PFM", encode_pfm(13, 9, 3, floats, true)},
      {"OpenEXR", encode_exr(13, 9, floats)},
      {"GIF", encode_gif(13, 9, File(3 * 256, 7), {{.drawing = draw(13, 9, 1, 8)}})},
      {"HEIC", encode_heic(rgba)},
      {"JPEG 2000", encode_jpeg2000(rgba)},
      {"BMP", encode_bmp(rgb)},
      {"TGA", encode_tga(rgba, {.run_length = true})},
  };
}

}  // namespace acuity::tests
