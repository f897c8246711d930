// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <new>

#include "media/video.h"

namespace acuity {

std::shared_ptr<VideoFrame> FramePool::take() {
  VideoFrame frame;
  {
    const std::lock_guard lock(unused_->mutex);
    if (!unused_->frames.empty()) {
      frame = std::move(unused_->frames.back());
      unused_->frames.pop_back();
    }
  }
  const auto give_back = [unused = unused_](VideoFrame* used) {
    const std::unique_ptr<VideoFrame> held(used);
    held->there = {};  // device memory is others' as well
    try {
      const std::lock_guard lock(unused->mutex);
      unused->frames.push_back(std::move(*held));
    } catch (const std::bad_alloc&) {
      // No memory to note it: it goes back to the system.
    }
  };
  return {new VideoFrame(std::move(frame)), give_back};
}

}  // namespace acuity
