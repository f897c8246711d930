// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_device.h"

#include <algorithm>
#include <utility>

#include "base/try.h"

namespace acuity {

Result<std::unique_ptr<DeviceFeatureWorker>> Feature::create_device_worker(Device&) const {
  return Status(StatusCode::internal, "this feature has no device worker");
}

FrameDevice::FrameDevice(std::shared_ptr<Device> device, const FrameShape& shape, std::vector<const Feature*> features)
    : device_(std::move(device)), shape_(shape), features_(std::move(features)) {
  for (const Feature* feature : features_) history_ = std::max(history_, feature->history());
}

Result<std::unique_ptr<FrameDevice>> FrameDevice::create(std::shared_ptr<Device> device, const FrameShape& shape,
                                                         std::vector<const Feature*> features) {
  std::unique_ptr<FrameDevice> made(new FrameDevice(std::move(device), shape, std::move(features)));
  PlanesSent planes{};
  for (const Role role : {Role::reference, Role::distorted}) {
    for (int p = 0; p < shape.planes_count(); ++p) {
      const auto reads = [&](const Feature* feature) { return feature->reads(role, p); };
      planes[static_cast<size_t>(role)][static_cast<size_t>(p)] =
          std::any_of(made->features_.begin(), made->features_.end(), reads);
    }
  }
  Result<FrameRing> ring =
      FrameRing::create(*made->device_, shape, planes, static_cast<int>(kInFlight), made->history_);
  if (!ring.ok()) return ring.status();
  made->ring_ = std::move(*ring);
  for (Slot& slot : made->slots_) ACUITY_TRY(made->create_slot(slot));
  return made;
}

Status FrameDevice::create_slot(Slot& slot) {
  result_offsets_.clear();
  result_bytes_ = 0;
  for (const Feature* feature : features_) {
    std::unique_ptr<DeviceFeatureWorker> worker;
    ACUITY_TRY_ASSIGN(worker, feature->create_device_worker(*device_));
    result_offsets_.push_back(result_bytes_);
    result_bytes_ += worker->result_bytes();
    slot.workers.push_back(std::move(worker));
  }
  ACUITY_TRY_ASSIGN(slot.results, device_->allocate(result_bytes_));
  ACUITY_TRY_ASSIGN(slot.results_here, device_->allocate_pinned(result_bytes_));
  ACUITY_TRY_ASSIGN(slot.queue, device_->create_queue());
  return {};
}

Status FrameDevice::submit(int64_t index, const FrameView& reference, const FrameView& distorted,
                           const std::vector<bool>& measured) {
  Slot& slot = slots_[static_cast<size_t>(submitted_) % kInFlight];
  slot.index = index;
  slot.measured = measured;
  slot.owners = {reference.owner, distorted.owner};
  ++submitted_;
  ACUITY_TRY(ring_.send(*slot.queue, reference, distorted));
  if (std::none_of(measured.begin(), measured.end(), [](bool is) { return is; })) return {};
  // Frames before those in flight have arrived.
  for (int64_t before = std::max(finished_, submitted_ - 1 - history_); before < submitted_ - 1; ++before) {
    ACUITY_TRY(ring_.wait_for(*slot.queue, before));
  }
  ACUITY_TRY(slot.queue->clear(*slot.results, 0, result_bytes_));
  for (size_t f = 0; f < features_.size(); ++f) {
    if (measured[f]) ACUITY_TRY(measure(slot, f));
  }
  return slot.queue->download(*slot.results_here, 0, *slot.results, 0, result_bytes_);
}

Status FrameDevice::measure(Slot& slot, size_t feature) {
  std::array<std::vector<const DeviceFrame*>, 2> frames;
  const int64_t last = submitted_ - 1;
  for (int64_t back = 0; back <= features_[feature]->history(); ++back) {
    for (size_t side = 0; side < 2; ++side) {
      frames[side].push_back(back > last ? nullptr : &ring_.frame(last - back, side));
    }
  }
  return slot.workers[feature]->submit(*slot.queue, {slot.index, shape_.depth, frames[0], frames[1]},
                                       slot.results->address() + result_offsets_[feature]);
}

Status FrameDevice::finish_oldest(std::vector<std::vector<double>>& numbers) {
  Slot& slot = slots_[static_cast<size_t>(finished_) % kInFlight];
  ++finished_;
  const Status waited = slot.queue->wait();
  slot.owners.clear();
  ACUITY_TRY(waited);
  for (size_t f = 0; f < features_.size(); ++f) {
    if (!slot.measured[f]) continue;
    numbers[f].resize(features_[f]->value_count());
    const std::span<const std::byte> results(slot.results_here->data() + result_offsets_[f],
                                             slot.workers[f]->result_bytes());
    ACUITY_TRY(slot.workers[f]->finish(results, numbers[f]));
  }
  return {};
}

size_t FrameDevice::bytes(size_t feature) const {
  size_t bytes = feature == 0 ? ring_.bytes() : 0;
  for (const Slot& slot : slots_) bytes += slot.workers[feature]->bytes();
  return bytes;
}

}  // namespace acuity
