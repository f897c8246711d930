// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <webp/encode.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

void append_chunk(File& file, std::string_view type, const File& data) {
  append(file, type);
  append_little_endian(file, data.size(), 4);
  file.insert(file.end(), data.begin(), data.end());
  if (data.size() % 2 != 0) file.push_back(0);
}

File riff(const File& chunks) {
  File file;
  append(file, "RIFF");
  append_little_endian(file, chunks.size() + 4, 4);
  append(file, "WEBP");
  file.insert(file.end(), chunks.begin(), chunks.end());
  return file;
}

}  // namespace

File encode_webp(const Drawing& drawing, const WebpOptions& options) {
  File samples(drawing.samples.begin(), drawing.samples.end());
  const int stride = drawing.width * drawing.channels;
  const bool alpha = drawing.channels == 4;
  uint8_t* memory = nullptr;
  size_t size = 0;
  const int w = drawing.width, h = drawing.height;
  if (options.lossless) {
    // The plain lossless calls forget the colour of transparent pixels; this one keeps it.
    WebPConfig config;
    WebPConfigInit(&config);
    config.lossless = 1;
    config.exact = 1;
    WebPPicture picture;
    WebPPictureInit(&picture);
    picture.use_argb = 1;
    picture.width = w;
    picture.height = h;
    WebPMemoryWriter writer;
    WebPMemoryWriterInit(&writer);
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    alpha ? WebPPictureImportRGBA(&picture, samples.data(), stride)
          : WebPPictureImportRGB(&picture, samples.data(), stride);
    WebPEncode(&config, &picture);
    WebPPictureFree(&picture);
    memory = writer.mem;
    size = writer.size;
  } else {
    size = alpha ? WebPEncodeRGBA(samples.data(), w, h, stride, 95, &memory)
                 : WebPEncodeRGB(samples.data(), w, h, stride, 95, &memory);
  }
  File plain(memory, memory + size);
  WebPFree(memory);
  if (options.icc.empty() && options.exif.empty() && options.frames == 0) return plain;

  // Lossy files with alpha are extended already; only simple ones are wrapped here.
  const File image(plain.begin() + 12, plain.end());
  File head, chunks;
  append_little_endian(head,
                       (options.icc.empty() ? 0u : 0x20u) | (alpha ? 0x10u : 0u) | (options.exif.empty() ? 0u : 0x08u) |
                           (options.frames > 0 ? 0x02u : 0u),
                       4);
  append_little_endian(head, static_cast<uint64_t>(w - 1), 3);
  append_little_endian(head, static_cast<uint64_t>(h - 1), 3);
  append_chunk(chunks, "VP8X", head);
  if (!options.icc.empty()) append_chunk(chunks, "ICCP", options.icc);
  if (options.frames > 0) {
    append_chunk(chunks, "ANIM", File(6));
    for (int i = 0; i < options.frames; ++i) {
      constexpr uint8_t kInPlace = 2;  // not blended with what is there
      const File still = encode_webp(frame_of(drawing, i), {.lossless = options.lossless});
      File frame(6);
      append_little_endian(frame, static_cast<uint64_t>(w - 1), 3);
      append_little_endian(frame, static_cast<uint64_t>(h - 1), 3);
      append_little_endian(frame, 100, 3);
      frame.push_back(kInPlace);
      frame.insert(frame.end(), still.begin() + 12, still.end());
      append_chunk(chunks, "ANMF", frame);
    }
  } else {
    chunks.insert(chunks.end(), image.begin(), image.end());
  }
  if (!options.exif.empty()) append_chunk(chunks, "EXIF", options.exif);
  return riff(chunks);
}

}  // namespace acuity::tests
