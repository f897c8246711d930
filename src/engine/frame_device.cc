// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"

namespace acuity {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 29;

// Kernels of small scales leave most of a device idle, and the host needs time to conclude: others work meanwhile.
int usual_in_flight(const FrameShape& shape) { return int64_t{shape.width} * shape.height > 4'000'000 ? 8 : 12; }

DeviceFrame planes_of(const Resident& samples) {
  DeviceFrame frame;
  const FrameLayout& layout = *samples.frame();
  const int bytes = layout.format.sample_bytes();
  for (size_t p = 0; p < frame.size(); ++p) {
    if (!layout.planes[p]) continue;
    frame[p] = {samples.samples().address + static_cast<uint64_t>(layout.first[p]) * static_cast<uint64_t>(bytes),
                layout.row_step[p] * bytes};
  }
  return frame;
}

}  // namespace

Result<std::unique_ptr<DeviceFeatureWorker>> Feature::create_device_worker(Device&) const {
  return Status(StatusCode::internal, "this feature has no device worker");
}

FrameDevice::FrameDevice(const std::shared_ptr<Device>& device, const FrameShape& shape,
                         std::vector<const Feature*> features, int threads)
    : pool_(DevicePool::of(device)), shape_(shape), features_(std::move(features)), threads_(threads) {
  for (const Feature* feature : features_) {
    history_ = std::max(history_, feature->history());
    for (const Role role : {Role::reference, Role::distorted}) {
      PlaneSet& planes = planes_[static_cast<size_t>(role)];
      for (int p = 0; p < shape.planes_count(); ++p) {
        planes[static_cast<size_t>(p)] = planes[static_cast<size_t>(p)] || feature->reads(role, p);
      }
    }
  }
}

Result<std::unique_ptr<FrameDevice>> FrameDevice::create(const std::shared_ptr<Device>& device, const FrameShape& shape,
                                                         std::vector<const Feature*> features, int threads,
                                                         int in_flight) {
  if (int64_t{shape.width} * shape.height >= kMostPixels) {
    return Status(StatusCode::too_big, fmt::format("frames of {}x{} have more samples than kernels on a device can "
                                                   "number; use the device cpu",
                                                   shape.width, shape.height));
  }
  std::unique_ptr<FrameDevice> made(new FrameDevice(device, shape, std::move(features), threads));
  int count = in_flight == 0 ? usual_in_flight(shape) : in_flight;
  Status created = made->create_slots(static_cast<size_t>(count));
  while (in_flight == 0 && count > 1 && created.code() == StatusCode::device_memory) {
    count /= 2;
    created = made->create_slots(static_cast<size_t>(count));
  }
  ACUITY_TRY(created);
  return made;
}

Status FrameDevice::create_slots(size_t count) {
  slots_.clear();
  slots_.resize(count);
  for (Slot& slot : slots_) ACUITY_TRY(create_slot(slot));
  return {};
}

Status FrameDevice::create_slot(Slot& slot) {
  Device& device = pool_->device();
  result_offsets_.clear();
  result_bytes_ = 0;
  size_t scratch_bytes = 0;
  for (const Feature* feature : features_) {
    std::unique_ptr<DeviceFeatureWorker> worker;
    ACUITY_TRY_ASSIGN(worker, feature->create_device_worker(device));
    result_offsets_.push_back(result_bytes_);
    result_bytes_ += worker->result_bytes();
    scratch_bytes = std::max(scratch_bytes, worker->scratch_bytes());
    slot.workers.push_back(std::move(worker));
  }
  if (scratch_bytes > 0) ACUITY_TRY_ASSIGN(slot.scratch, device.allocate(scratch_bytes));
  ACUITY_TRY_ASSIGN(slot.results, device.allocate(result_bytes_));
  ACUITY_TRY_ASSIGN(slot.results_here, device.allocate_pinned(result_bytes_));
  ACUITY_TRY_ASSIGN(slot.queue, device.create_queue());
  return {};
}

Status FrameDevice::submit(int64_t index, const Input& reference, const Input& distorted,
                           const std::vector<bool>& measured) {
  Slot& slot = slot_of(submitted_);
  slot.index = index;
  slot.measured = measured;
  ++submitted_;
  Pair& pair = pairs_.emplace_back();
  pair.inputs = {reference, distorted};
  ACUITY_TRY(send(*slot.queue, pair));
  if (std::none_of(measured.begin(), measured.end(), [](bool is) { return is; })) return {};
  for (int64_t before = std::max(first_pair_, submitted_ - 1 - history_); before < submitted_ - 1; ++before) {
    ACUITY_TRY(wait_for(*slot.queue, pair_of(before)));
  }
  ACUITY_TRY(slot.queue->clear(*slot.results, 0, result_bytes_));
  for (size_t f = 0; f < features_.size(); ++f) {
    if (measured[f]) ACUITY_TRY(measure(slot, f));
  }
  return slot.queue->download(*slot.results_here, 0, *slot.results, 0, result_bytes_);
}

// Unless somebody else sends them. What comes after in the queue waits for them.
Status FrameDevice::send(Queue& queue, Pair& pair) {
  std::array<Parcel, 2> parcels{};
  size_t bytes = 0;
  for (size_t side = 0; side < 2; ++side) {
    const PlaneSet& planes = planes_[side];
    if (std::none_of(planes.begin(), planes.end(), [](bool is) { return is; })) continue;
    std::shared_ptr<Resident> samples;
    ACUITY_TRY_ASSIGN(samples, resident_of(pair.inputs[side], pool_, planes));
    bytes += samples->bytes();
    pair.samples[side] = samples.get();
    pair.frames[side] = planes_of(*samples);
    parcels[side] = {samples.get(), &queue};
  }
  pair_bytes_ = std::max(pair_bytes_, bytes);
  ACUITY_TRY(send_pictures(parcels, SendOrder::together, shape_.height, {&threads_, &tasks_}));
  return wait_for(queue, pair);
}

Status FrameDevice::wait_for(Queue& queue, const Pair& pair) const {
  for (Resident* samples : pair.samples) {
    if (samples != nullptr) ACUITY_TRY(samples->wait_for_rows(queue, shape_.height));
  }
  return {};
}

Status FrameDevice::measure(Slot& slot, size_t feature) {
  std::array<std::vector<const DeviceFrame*>, 2> frames;
  const int64_t last = submitted_ - 1;
  for (int64_t back = 0; back <= features_[feature]->history(); ++back) {
    for (size_t side = 0; side < 2; ++side) {
      frames[side].push_back(back > last ? nullptr : &pair_of(last - back).frames[side]);
    }
  }
  const uint64_t scratch = slot.scratch ? slot.scratch->address() : 0;
  return slot.workers[feature]->submit(*slot.queue, {slot.index, shape_.depth, frames[0], frames[1], scratch},
                                       slot.results->address() + result_offsets_[feature]);
}

Status FrameDevice::finish_oldest(std::vector<std::vector<double>>& numbers) {
  Slot& slot = slot_of(finished_);
  const Status waited = slot.queue->wait();
  for (Resident* samples : pair_of(finished_).samples) {
    if (samples != nullptr && waited.ok() && samples->is_sent()) samples->note_arrival();
  }
  ++finished_;
  for (; first_pair_ < finished_ - history_; ++first_pair_) pairs_.pop_front();
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
  size_t bytes = feature == 0 ? pair_bytes_ * static_cast<size_t>(in_flight() + history_) : 0;
  for (const Slot& slot : slots_) {
    bytes += slot.workers[feature]->bytes();
    if (feature == 0 && slot.scratch) bytes += slot.scratch->size();
  }
  return bytes;
}

}  // namespace acuity
