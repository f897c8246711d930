// SPDX-License-Identifier: BSD-2-Clause-Patent
// A copy of somebody's pixels, packed, for when a view must outlive its memory.
#ifndef ACUITY_BASE_IMAGE_COPY_H
#define ACUITY_BASE_IMAGE_COPY_H

#include "acuity/image.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity {

struct ImageCopy {
  Arena memory;
  ImageView view;  // into memory, interleaved
};

Result<ImageCopy> copy_image(const ImageView& view);

}  // namespace acuity

#endif
