// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gif_lib.h>

#include "media/encode.h"

namespace acuity::tests {
namespace {

int on_write(GifFileType* gif, const GifByteType* data, int size) {
  auto* file = static_cast<File*>(gif->UserData);
  file->insert(file->end(), data, data + size);
  return size;
}

ColorMapObject* map_of(const File& palette) {
  if (palette.empty()) return nullptr;
  std::vector<GifColorType> colours;
  for (size_t i = 0; i + 2 < palette.size(); i += 3) colours.push_back({palette[i], palette[i + 1], palette[i + 2]});
  return GifMakeMapObject(static_cast<int>(colours.size()), colours.data());
}

}  // namespace

File encode_gif(int width, int height, const File& palette, const std::vector<GifFrameOptions>& frames) {
  File file;
  GifFileType* gif = EGifOpen(&file, on_write, nullptr);
  EGifSetGifVersion(gif, true);
  ColorMapObject* shared = map_of(palette);
  EGifPutScreenDesc(gif, width, height, 8, 0, shared);
  for (const GifFrameOptions& frame : frames) {
    const GraphicsControlBlock control{frame.disposal, false, frame.hundredths, frame.transparent};
    GifByteType bytes[4];
    EGifGCBToExtension(&control, bytes);
    EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, sizeof bytes, bytes);
    ColorMapObject* own = map_of(frame.palette);
    const int columns = frame.drawing.width, rows = frame.drawing.height;
    EGifPutImageDesc(gif, frame.x, frame.y, columns, rows, frame.interlaced, own);
    struct Pass {
      int first, step;
    };
    for (const Pass pass :
         frame.interlaced ? std::vector<Pass>{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : std::vector<Pass>{{0, 1}}) {
      for (int y = pass.first; y < rows; y += pass.step) {
        const auto row = frame.drawing.samples.begin() + ptrdiff_t{y} * columns;
        File line(row, row + columns);
        EGifPutLine(gif, line.data(), columns);
      }
    }
    if (own != nullptr) GifFreeMapObject(own);
  }
  EGifCloseFile(gif, nullptr);
  if (shared != nullptr) GifFreeMapObject(shared);
  return file;
}

}  // namespace acuity::tests
