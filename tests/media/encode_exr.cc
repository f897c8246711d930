// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstring>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfMultiPartOutputFile.h>
#include <ImfOutputFile.h>
#include <ImfOutputPart.h>
#include <ImfPartType.h>
#include <ImfStandardAttributes.h>
#include <ImfTiledOutputFile.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

class MemoryStream : public Imf::OStream {
 public:
  explicit MemoryStream(File& file) : Imf::OStream("test"), file_(file) {}
  void write(const char* from, int count) override {
    const auto size = static_cast<size_t>(count);
    file_.resize(std::max(file_.size(), at_ + size));
    std::memcpy(file_.data() + at_, from, size);
    at_ += size;
  }
  uint64_t tellp() override { return at_; }
  void seekp(uint64_t position) override { at_ = position; }

 private:
  File& file_;
  size_t at_ = 0;
};

}  // namespace

File encode_exr(int width, int height, const std::vector<float>& samples, const ExrOptions& options) {
  const Imath::Box2i window({options.x, options.y}, {options.x + width - 1, options.y + height - 1});
  Imath::Box2i display = window;
  display.max.x += options.display_extra;
  Imf::Header header(display, window);
  header.compression() = static_cast<Imf::Compression>(options.compression);
  if (options.chromaticities[0] != 0) {
    const auto& c = options.chromaticities;
    Imf::addChromaticities(header, {{c[0], c[1]}, {c[2], c[3]}, {c[4], c[5]}, {c[6], c[7]}});
  }
  const size_t count = options.channels.size();
  const Imf::PixelType type = options.integers ? Imf::UINT : options.half ? Imf::HALF : Imf::FLOAT;
  std::vector<half> halves(samples.begin(), samples.end());
  std::vector<unsigned> integers;
  if (options.integers) integers.assign(samples.begin(), samples.end());
  const char* base = options.integers ? reinterpret_cast<const char*>(integers.data())
                     : options.half   ? reinterpret_cast<const char*>(halves.data())
                                      : reinterpret_cast<const char*>(samples.data());
  const size_t bytes = options.half ? 2 : 4;
  Imf::FrameBuffer frame;
  for (size_t c = 0; c < count; ++c) {
    header.channels().insert(options.channels[c], Imf::Channel(type));
    frame.insert(options.channels[c], Imf::Slice::Make(type, base + c * bytes, window, count * bytes,
                                                       count * bytes * static_cast<size_t>(width)));
  }
  File file;
  MemoryStream stream(file);
  if (options.several_parts) {
    std::vector<Imf::Header> headers(2, header);
    for (size_t i = 0; i < headers.size(); ++i) {
      headers[i].setName(i == 0 ? "first" : "second");
      headers[i].setType(Imf::SCANLINEIMAGE);
    }
    Imf::MultiPartOutputFile output(stream, headers.data(), static_cast<int>(headers.size()));
    for (int i = 0; i < 2; ++i) {
      Imf::OutputPart part(output, i);
      part.setFrameBuffer(frame);
      part.writePixels(height);
    }
  } else if (options.tiled) {
    header.setTileDescription(Imf::TileDescription(8, 8));
    Imf::TiledOutputFile output(stream, header);
    output.setFrameBuffer(frame);
    output.writeTiles(0, output.numXTiles() - 1, 0, output.numYTiles() - 1);
  } else {
    Imf::OutputFile output(stream, header);
    output.setFrameBuffer(frame);
    output.writePixels(height);
  }
  return file;
}

}  // namespace acuity::tests
