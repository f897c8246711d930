// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/alpha_feed.h"

#include "base/try.h"

namespace acuity {

Status AlphaFeed::create(Workspace& workspace, Queue& maker, const Senders& senders, int rows) {
  ACUITY_TRY_ASSIGN(colour_, Feed::create(workspace, maker, senders, rows));
  ACUITY_TRY_ASSIGN(alpha_, Feed::create(workspace, maker, senders, rows));
  return {};
}

Status AlphaFeed::begin(const Input& input, const Rows& rows, const ImageView* alpha,
                        const std::shared_ptr<DevicePool>& pool) {
  DevicePicture colour, transparency;
  has_alpha_ = alpha != nullptr;
  if (has_alpha_) {
    const int channel = alpha->channel_count() - 1;
    ImageView grey = *alpha;
    grey.planes = {alpha->planes[static_cast<size_t>(channel)]};
    grey.channels = Channels::grey;
    grey.colour = {.transfer = Transfer::linear};
    Result<Rows> of_alpha = Rows::create(grey, {}, std::nullopt);
    if (!of_alpha.ok()) return of_alpha.status();
    ACUITY_TRY_ASSIGN(transparency, device_picture(input, *of_alpha, pool, channel));
    ACUITY_TRY(alpha_->begin(transparency));
  }
  ACUITY_TRY_ASSIGN(colour, device_picture(input, rows, pool));
  return colour_->begin(colour);
}

void AlphaFeed::add_to(std::vector<Feed*>& feeds) {
  feeds.push_back(&*colour_);
  if (has_alpha_) feeds.push_back(&*alpha_);
}

Result<AlphaFeed::Sent> AlphaFeed::take(Queue& queue, int y, int y_end, bool recorded) {
  Sent sent;
  ACUITY_TRY_ASSIGN(sent.pixels, colour_->take(queue, y, y_end, recorded));
  if (has_alpha_) {
    SentPixels alpha;
    ACUITY_TRY_ASSIGN(alpha, alpha_->take(queue, y, y_end, recorded));
    sent.alpha = alpha.samples;
    sent.has_alpha = 1;
  }
  return sent;
}

Status AlphaFeed::release(Queue& queue) {
  if (has_alpha_) ACUITY_TRY(alpha_->release(queue));
  return colour_->release(queue);
}

}  // namespace acuity
