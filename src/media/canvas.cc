// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/canvas.h"

#include <cstring>

#include "base/try.h"

namespace acuity {

Status Canvas::create(const EncodedFile& encoded, std::string_view format, const Shape& shape) {
  format_ = format;
  shape_ = shape;
  // Two of them, and the picture that is handed out.
  const int64_t bytes = 2 * (shape.type == SampleType::u16 ? 2 : 1) * static_cast<int64_t>(shape.channels);
  for (Picture* picture : {&now_, &before_}) {
    ACUITY_TRY_ASSIGN(*picture, make_picture(encoded, format, shape, bytes * shape.width * shape.height));
    std::memset(picture->pixels.get(), 0, static_cast<size_t>(picture->view.row_stride * shape.height));
  }
  return {};
}

bool Canvas::holds(const CanvasFrame& frame) const {
  return frame.width > 0 && frame.height > 0 && frame.x >= 0 && frame.y >= 0 &&
         frame.x + frame.width <= now_.view.width && frame.y + frame.height <= now_.view.height;
}

void Canvas::dispose() {
  if (last_.disposal == Disposal::restore) copy(before_, now_, last_);
  for (int64_t y = 0; last_.disposal == Disposal::clear && y < last_.height; ++y) {
    std::memset(row_of(now_, last_.y + y) + last_.x * now_.view.pixel_stride, 0,
                static_cast<size_t>(last_.width * now_.view.pixel_stride));
  }
}

void Canvas::copy(const Picture& from, Picture& to, const CanvasFrame& part) const {
  for (int64_t y = part.y; y < part.y + part.height; ++y) {
    const ptrdiff_t begin = part.x * to.view.pixel_stride;
    std::memcpy(row_of(to, y) + begin, from.view.planes[0] + y * from.view.row_stride + begin,
                static_cast<size_t>(part.width * to.view.pixel_stride));
  }
}

Result<Picture> Canvas::picture(const EncodedFile& encoded) const {
  Picture picture;
  ACUITY_TRY_ASSIGN(picture, make_picture(encoded, format_, shape_));
  std::memcpy(picture.pixels.get(), now_.pixels.get(), static_cast<size_t>(now_.view.row_stride * shape_.height));
  return picture;
}

}  // namespace acuity
