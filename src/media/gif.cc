// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gif_lib.h>

#include "base/try.h"
#include "media/canvas.h"
#include "media/decoder.h"

namespace acuity {
namespace {

struct CloseGif {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, CloseGif>;

int on_read(GifFileType* gif, GifByteType* to, int size) {
  auto* rest = static_cast<Bytes*>(gif->UserData);
  const size_t count = std::min(static_cast<size_t>(size), rest->size());
  std::memcpy(to, rest->data(), count);
  *rest = rest->subspan(count);
  return static_cast<int>(count);
}

constexpr int kPlain = 0, kClear = 2, kRestore = 3;  // disposals, of which 1 is to keep

class GifFrames : public PictureFrames {
 public:
  explicit GifFrames(const EncodedFile& encoded) : encoded_(encoded) {}

  // Goes through the file once, to count.
  Status open() {
    ACUITY_TRY(rewind());
    ACUITY_TRY(check_size(encoded_, gif_->SWidth, gif_->SHeight));
    for (;;) {
      bool more = false;
      ACUITY_TRY_ASSIGN(more, find_image());
      if (!more) break;
      durations_.push_back(control_.DelayTime / 100.0);
      int size = 0;
      GifByteType* block = nullptr;
      if (DGifGetCode(gif_.get(), &size, &block) == GIF_ERROR) return bad();
      while (block != nullptr) {
        if (DGifGetCodeNext(gif_.get(), &block) == GIF_ERROR) return bad();
      }
    }
    if (durations_.empty()) return damaged(encoded_, "GIF", "it holds no picture");
    count_ = static_cast<int64_t>(durations_.size());
    return rewind();
  }

  Result<Picture> read(int64_t index) override {
    if (next_ == 0) {
      Shape shape;
      shape.width = gif_->SWidth;
      shape.height = gif_->SHeight;
      shape.channels = Channels::rgba;
      shape.stored = "palette of 8-bit RGB";
      ACUITY_TRY(canvas_.create(encoded_, "GIF", shape));
    }
    for (; next_ <= index; ++next_) {
      bool more = false;
      ACUITY_TRY_ASSIGN(more, find_image());
      if (!more) return bad();
      ACUITY_TRY(draw());
    }
    Picture picture;
    ACUITY_TRY_ASSIGN(picture, canvas_.picture(encoded_));
    assume_srgb(picture);
    return picture;
  }

 private:
  Status bad() const {
    const char* reason = gif_ == nullptr ? nullptr : GifErrorString(gif_->Error);
    return damaged(encoded_, "GIF", reason == nullptr ? "it ends too early" : reason);
  }

  Status rewind() {
    rest_ = encoded_.bytes;
    gif_.reset(DGifOpen(&rest_, on_read, nullptr));
    return gif_ ? Status() : damaged(encoded_, "GIF", "its header cannot be read");
  }

  // Up to the next image, whose place and control are then known; false at the end of the file.
  Result<bool> find_image() {
    control_ = {};
    control_.TransparentColor = NO_TRANSPARENT_COLOR;
    for (;;) {
      GifRecordType type = UNDEFINED_RECORD_TYPE;
      if (DGifGetRecordType(gif_.get(), &type) == GIF_ERROR) return bad();
      if (type == TERMINATE_RECORD_TYPE) return false;
      if (type == IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetImageDesc(gif_.get()) == GIF_ERROR) return bad();
        return true;
      }
      int kind = 0;
      GifByteType* block = nullptr;  // its first byte is the size of the others
      if (type != EXTENSION_RECORD_TYPE || DGifGetExtension(gif_.get(), &kind, &block) == GIF_ERROR) return bad();
      if (kind == GRAPHICS_EXT_FUNC_CODE && block != nullptr &&
          DGifExtensionToGCB(block[0], block + 1, &control_) == GIF_ERROR) {
        return damaged(encoded_, "GIF", "a graphic control block is not 4 bytes long");
      }
      while (block != nullptr) {
        if (DGifGetExtensionNext(gif_.get(), &block) == GIF_ERROR) return bad();
      }
    }
  }

  Status draw() {
    const GifImageDesc& image = gif_->Image;
    const ColorMapObject* palette = image.ColorMap != nullptr ? image.ColorMap : gif_->SColorMap;
    if (palette == nullptr) return damaged(encoded_, "GIF", "a frame has no palette");
    CanvasFrame place{.x = image.Left, .y = image.Top, .width = image.Width, .height = image.Height, .blend = true};
    if (control_.DisposalMode == kClear) place.disposal = Disposal::clear;
    if (control_.DisposalMode == kRestore) place.disposal = Disposal::restore;
    if (control_.DisposalMode < kPlain || control_.DisposalMode > kRestore || !canvas_.holds(place)) {
      return damaged(encoded_, "GIF", "a frame reaches beyond its canvas or leaves it in an unknown state");
    }
    const auto width = static_cast<size_t>(image.Width);
    std::vector<GifPixelType> indices(width * static_cast<size_t>(image.Height));
    ACUITY_TRY(read_rows(indices));
    for (const GifPixelType index : indices) {
      if (index >= palette->ColorCount && index != control_.TransparentColor) {
        return damaged(encoded_, "GIF", fmt::format("a pixel has colour {} of {}", index, palette->ColorCount));
      }
    }
    std::array<uint8_t, 4> pixel{};
    canvas_.draw<uint8_t>(place, [&](int64_t x, int64_t y) {
      const GifPixelType index = indices[static_cast<size_t>(y) * width + static_cast<size_t>(x)];
      pixel = {};
      if (index != control_.TransparentColor) {
        const GifColorType& colour = palette->Colors[index];
        pixel = {colour.Red, colour.Green, colour.Blue, 255};
      }
      return pixel.data();
    });
    return {};
  }

  // Interlaced images come in four passes.
  Status read_rows(std::vector<GifPixelType>& indices) {
    const int width = gif_->Image.Width, height = gif_->Image.Height;
    struct Pass {
      int first, step;
    };
    const std::vector<Pass> passes =
        gif_->Image.Interlace ? std::vector<Pass>{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : std::vector<Pass>{{0, 1}};
    for (const Pass& pass : passes) {
      for (int y = pass.first; y < height; y += pass.step) {
        GifPixelType* row = indices.data() + static_cast<size_t>(y) * static_cast<size_t>(width);
        if (DGifGetLine(gif_.get(), row, width) == GIF_ERROR) return bad();
      }
    }
    return {};
  }

  EncodedFile encoded_;
  Bytes rest_;
  Gif gif_;
  GraphicsControlBlock control_{};
  Canvas canvas_;
  int64_t next_ = 0;
};

}  // namespace

OpenedFrames open_gif(const EncodedFile& encoded) {
  auto frames = std::make_unique<GifFrames>(encoded);
  ACUITY_TRY(frames->open());
  return std::unique_ptr<PictureFrames>(std::move(frames));
}

}  // namespace acuity
