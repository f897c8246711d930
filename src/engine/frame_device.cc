// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/profiler_range.h"
#include "base/try.h"
#include "device/load_kernels.h"
#include "engine/requests.h"

namespace acuity {
namespace {

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

FrameDevice::FrameDevice(const std::shared_ptr<Device>& device, const std::array<FrameShape, 2>& shapes,
                         std::vector<const Feature*> features, int threads)
    : device_(device),
      pool_(DevicePool::of(device)),
      shapes_(shapes),
      features_(std::move(features)),
      threads_(threads) {
  planes_ = planes_read(shapes, features_);
  for (const Feature* feature : features_) history_ = std::max(history_, feature->history());
}

Result<std::unique_ptr<FrameDevice>> FrameDevice::create(const std::shared_ptr<Device>& device,
                                                         const std::array<FrameShape, 2>& shapes,
                                                         std::vector<const Feature*> features, int threads,
                                                         const FrameDeviceLimits& limits) {
  std::unique_ptr<FrameDevice> made(new FrameDevice(device, shapes, std::move(features), threads));
  made->pool_->set_cap(limits.cap.value_or(0));
  FramePlan plan;
  ACUITY_TRY_ASSIGN(plan, plan_frames(shapes, made->features_));
  int count = 0;
  ACUITY_TRY_ASSIGN(count, made->count_that_fits(plan, limits));
  ACUITY_TRY(load_kernels(*device, plan.kernels));
  Status created = made->create_slots(static_cast<size_t>(count));
  // Others may use the device as well.
  while (limits.in_flight == 0 && count > 1 && created.code() == StatusCode::device_memory) {
    count /= 2;
    made->pool_->free_unused();
    created = made->create_slots(static_cast<size_t>(count));
  }
  ACUITY_TRY(created);
  return made;
}

// How many frames can be in flight with the memory there is.
Result<int> FrameDevice::count_that_fits(const FramePlan& plan, const FrameDeviceLimits& limits) const {
  int64_t available = 0;
  ACUITY_TRY_ASSIGN(available, available_bytes(*pool_, limits.cap));
  int count = limits.in_flight == 0 ? usual_in_flight(shapes_) : limits.in_flight;
  while (limits.in_flight == 0 && count > 1 && plan.bytes(count) > available) --count;
  if (plan.bytes(count) <= available) return count;
  return Status(StatusCode::too_big,
                fmt::format("frames of {}x{} samples need {} bytes of memory on {} with {} in flight, but {} are "
                            "available; use {}another device, such as cpu",
                            shapes_[0].width, shapes_[0].height, plan.bytes(count), pool_->device().info().id, count,
                            std::max(available, int64_t{0}), count > 1 ? "fewer frames in flight or " : ""));
}

Status FrameDevice::create_slots(size_t count) {
  slots_.clear();
  slots_.resize(count);
  for (Slot& slot : slots_) ACUITY_TRY(create_slot(slot));
  return create_derived();
}

Status FrameDevice::create_derived() {
  derived_.clear();
  derived_events_.clear();
  for (size_t f = 0; f < features_.size(); ++f) {
    Derived derived{slots_[0].workers[f]->derived_bytes(), static_cast<int>(in_flight()) + features_[f]->history(), {}};
    if (derived.bytes > 0) {
      ACUITY_TRY_ASSIGN(derived.memory, pool_->take(derived.bytes * static_cast<size_t>(derived.slots), "frames"));
      derived_events_.resize(static_cast<size_t>(in_flight() + history_));
    }
    derived_.push_back(std::move(derived));
  }
  for (std::unique_ptr<Event>& event : derived_events_) ACUITY_TRY_ASSIGN(event, pool_->device().create_event());
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
  if (scratch_bytes > 0) ACUITY_TRY_ASSIGN(slot.scratch, pool_->take(scratch_bytes, "frames"));
  ACUITY_TRY_ASSIGN(slot.results, pool_->take(result_bytes_, "frames"));
  ACUITY_TRY_ASSIGN(slot.results_here, device.allocate_pinned(result_bytes_));
  ACUITY_TRY_ASSIGN(slot.queue, device.create_queue());
  return {};
}

Status FrameDevice::submit(int64_t index, const Input& reference, const Input& distorted,
                           const std::vector<bool>& measured) {
  const int64_t number = arrived_;
  Pair& pair = pairs_.emplace_back();
  pair.inputs = {reference, distorted};
  Slot& slot = slot_of(number);
  ACUITY_TRY(send(*slot.queue, pair));
  if (!derived_events_.empty()) ACUITY_TRY(derive(slot, pair, number));
  ++arrived_;
  waiting_.push_back({index, measured});
  return start_ready();
}

Status FrameDevice::end() {
  all_here_ = true;
  return start_ready();
}

// How many frames after it must be here before a frame can be measured.
int FrameDevice::ahead_of(int64_t index, const std::vector<bool>& measured) const {
  int ahead = 0;
  for (size_t f = 0; f < features_.size(); ++f) {
    if (measured[f]) ahead = std::max(ahead, features_[f]->lookahead(index));
  }
  return ahead;
}

// Has frames measured in order, as far as what they look at is here and there are slots.
Status FrameDevice::start_ready() {
  while (!waiting_.empty() && !is_full()) {
    Waiting& next = waiting_.front();
    if (submitted_ + ahead_of(next.index, next.measured) >= arrived_ && !all_here_) break;
    const int64_t number = submitted_++;
    Slot& slot = slot_of(number);
    slot.index = next.index;
    slot.measured = std::move(next.measured);
    waiting_.pop_front();
    ACUITY_TRY(start(slot, number));
  }
  return {};
}

// The frame itself was sent in the same queue.
Status FrameDevice::start(Slot& slot, int64_t number) {
  if (std::none_of(slot.measured.begin(), slot.measured.end(), [](bool is) { return is; })) return {};
  const int64_t end = std::min(number + ahead_of(slot.index, slot.measured) + 1, arrived_);
  for (int64_t other = std::max(first_pair_, number - history_); other < end; ++other) {
    if (other == number) continue;
    ACUITY_TRY(wait_for(*slot.queue, pair_of(other)));
    if (!derived_events_.empty()) ACUITY_TRY(slot.queue->wait_for(derived_event(other)));
  }
  ACUITY_TRY(slot.queue->clear(*slot.results, 0, result_bytes_));
  for (size_t f = 0; f < features_.size(); ++f) {
    if (slot.measured[f]) ACUITY_TRY(measure(slot, number, f));
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
    // Streams and pools use the same memory again and again: page-locked, it is sent from where it is.
    const Input::State& input = *pair.inputs[side].state();
    if (input.is_here()) lock_samples(device_, input.frame->view.planes[0]);
    ACUITY_TRY_ASSIGN(samples, resident_of(pair.inputs[side], pool_, planes));
    bytes += samples->bytes();
    pair.samples[side] = samples.get();
    pair.frames[side] = planes_of(*samples);
    parcels[side] = {samples.get(), &queue};
  }
  pair_bytes_ = std::max(pair_bytes_, bytes);
  const int rows = std::max(shapes_[0].height, shapes_[1].height);
  ACUITY_TRY(send_pictures(parcels, SendOrder::together, rows, {&threads_, &tasks_}));
  return wait_for(queue, pair);
}

Status FrameDevice::wait_for(Queue& queue, const Pair& pair) const {
  for (size_t side = 0; side < 2; ++side) {
    Resident* samples = pair.samples[side];
    if (samples != nullptr) ACUITY_TRY(samples->wait_for_rows(queue, shapes_[side].height));
  }
  return {};
}

Status FrameDevice::derive(Slot& slot, const Pair& pair, int64_t number) {
  for (size_t f = 0; f < features_.size(); ++f) {
    const Derived& derived = derived_[f];
    if (!derived.memory) continue;
    const uint64_t to = derived.memory->address() + static_cast<uint64_t>(derived.slot_of(number)) * derived.bytes;
    ACUITY_TRY(slot.workers[f]->derive(*slot.queue, {&pair.frames[0], &pair.frames[1]}, shapes_[0].depth, to));
  }
  return slot.queue->signal(derived_event(number));
}

Status FrameDevice::measure(Slot& slot, int64_t number, size_t feature) {
  const Feature& measured = *features_[feature];
  const ProfilerRange range(measured.outputs()[measured.headline()].name.c_str());
  std::array<std::vector<const DeviceFrame*>, 2> frames;
  for (int64_t back = 0; back <= measured.history(); ++back) {
    for (size_t side = 0; side < 2; ++side) {
      frames[side].push_back(back > number ? nullptr : &pair_of(number - back).frames[side]);
    }
  }
  const uint64_t scratch = slot.scratch ? slot.scratch->address() : 0;
  const Derived& derived = derived_[feature];
  const DerivedRing ring =
      derived.memory ? DerivedRing{derived.memory->address(), derived.slots, derived.slot_of(number)} : DerivedRing{};
  const int64_t after = std::min(int64_t{measured.lookahead(slot.index)}, arrived_ - 1 - number);
  const DeviceWindow window{slot.index, shapes_[0].depth, frames[0], frames[1], ring, static_cast<int>(after), scratch};
  return slot.workers[feature]->submit(*slot.queue, window, slot.results->address() + result_offsets_[feature]);
}

Status FrameDevice::finish_oldest(std::vector<std::vector<double>>& numbers) {
  const ProfilerRange range("readback");
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
  return start_ready();
}

size_t FrameDevice::bytes(size_t feature) const {
  size_t bytes = feature == 0 ? pair_bytes_ * static_cast<size_t>(in_flight() + history_) : 0;
  if (derived_[feature].memory) bytes += derived_[feature].memory->size();
  for (const Slot& slot : slots_) {
    bytes += slot.workers[feature]->bytes();
    if (feature == 0 && slot.scratch) bytes += slot.scratch->size();
  }
  return bytes;
}

}  // namespace acuity
