// SPDX-License-Identifier: BSD-2-Clause-Patent
// For metrics that composite pictures themselves on a device: a picture's colour, and its alpha as a picture of its
// own.
#ifndef ACUITY_ENGINE_ALPHA_FEED_H
#define ACUITY_ENGINE_ALPHA_FEED_H

#include <memory>
#include <optional>
#include <vector>

#include "acuity/image.h"
#include "acuity/status.h"
#include "colour/rows.h"
#include "device/pixels/feed.h"
#include "engine/input.h"

namespace acuity {

class AlphaFeed {
 public:
  /// Some rows, as kernels are told of them.
  struct Sent {
    SentPixels pixels;
    DeviceArray<const unsigned char> alpha;  // floats, one a pixel, from the same row on; none if has_alpha is 0
    int has_alpha = 0;
  };

  /// As for Feed.
  Status create(Workspace& workspace, Queue& maker, const Senders& senders, int rows);

  /// `rows`: of the picture's colour alone. `alpha`: the view to read it from; null: opaque.
  Status begin(const Input& input, const Rows& rows, const ImageView* alpha, const std::shared_ptr<DevicePool>& pool);

  /// What Feed::send needs of it.
  void add_to(std::vector<Feed*>& feeds);

  Result<Sent> take(Queue& queue, int y, int y_end, bool recorded = false);
  Status release(Queue& queue);

  size_t bytes() const { return colour_->bytes() + alpha_->bytes(); }

 private:
  std::optional<Feed> colour_, alpha_;
  bool has_alpha_ = false;
};

}  // namespace acuity

#endif
