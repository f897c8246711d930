// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/input.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/image_copy.h"
#include "base/memory.h"
#include "base/try.h"
#include "colour/yuv.h"
#include "device/pinned.h"
#include "engine/frame_memory.h"
#include "engine/validate.h"

namespace acuity {
namespace {

// Null where memory runs out: such an Input has no picture, and whoever gets it says so.
std::shared_ptr<Input::State> make_state(const ImageView& view, std::shared_ptr<const void> owner) noexcept {
  try {
    auto state = std::make_shared<Input::State>();
    state->view = view;
    state->owner = std::move(owner);
    return state;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Input::Input(const ImageView& view) noexcept : state_(make_state(view, nullptr)) {}

Input::Input(const ImageView& view, std::shared_ptr<const void> owner) noexcept
    : state_(make_state(view, std::move(owner))) {}

Input::Input(const FrameView& frame, const FrameFormat& format) noexcept
    : state_(make_state(converted_view(format, nullptr), frame.owner)) {
  if (state_) state_->frame = {frame, format, {}};
}

Result<Input> Input::copy(const ImageView& view) {
  return guarded<Result<Input>>([&]() -> Result<Input> {
    ACUITY_TRY(validate_size({}, {}, view.width, view.height));
    ACUITY_TRY(validate_layout(view, ""));
    auto copy = std::make_shared<ImageCopy>();
    ACUITY_TRY_ASSIGN(*copy, copy_image(view));
    return with_picture(Input(copy->view, copy));
  });
}

Input Input::on_device(const ImageView& view, std::string device, std::shared_ptr<const void> owner) noexcept {
  Input input(view, std::move(owner));
  // Memory of the CPU is ordinary memory. An empty name must not be taken for that.
  if (input.state_ && device != "cpu") input.state_->device = device.empty() ? "no device" : std::move(device);
  return input;
}

Input Input::on_device(const FrameView& frame, const FrameFormat& format, const SurfaceLayout& layout,
                       std::string device) noexcept {
  Input input(frame, format);
  if (!input.state_) return input;
  // As above, where the samples lie as in the host's memory.
  if (device == "cpu" && !layout.chroma_pairs && !layout.high_bits) return input;
  input.state_->frame->layout = layout;
  input.state_->device = device.empty() ? "no device" : std::move(device);
  return input;
}

const ImageView& Input::view() const noexcept { return state_->view; }

Result<HostMemory> HostMemory::allocate(const std::string& device, size_t bytes) {
  return guarded<Result<HostMemory>>([&]() -> Result<HostMemory> {
    HostMemory memory;
    memory.size_ = bytes;
    if (device == "cpu") {
      auto arena = std::make_shared<Arena>();
      ACUITY_TRY_ASSIGN(*arena, Arena::create(bytes));
      memory.data_ = arena->take<std::byte>(bytes);
      memory.owner_ = std::move(arena);
      return memory;
    }
    // The device stays open with the memory, so that scorers find the same one.
    struct Pinned {
      std::shared_ptr<Device> device;
      std::shared_ptr<PinnedMemory> memory;
    };
    auto pinned = std::make_shared<Pinned>();
    ACUITY_TRY_ASSIGN(pinned->device, open_device(device));
    ACUITY_TRY_ASSIGN(pinned->memory, allocate_known_pinned(*pinned->device, bytes));
    memory.data_ = pinned->memory->data();
    memory.owner_ = std::move(pinned);
    return memory;
  });
}

Result<Input> pixels_of(const Input& input, const MemoryPool& pool, const Threads& threads) {
  Input::State& state = *input.state();
  const std::lock_guard lock(state.mutex);
  if (!state.pixels.has_picture()) {
    std::shared_ptr<std::byte> memory;
    ACUITY_TRY_ASSIGN(memory, pool.take());
    auto* planes = reinterpret_cast<float*>(memory.get());
    convert_frame(state.frame->format, state.frame->view, threads, planes);
    state.pixels = Input(converted_view(state.frame->format, planes), std::move(memory));
    if (!state.pixels.has_picture()) return Status(StatusCode::out_of_memory, "out of memory for a frame's pixels");
    state.pixels.state()->is_finite = true;
  }
  return state.pixels;
}

Result<std::shared_ptr<Resident>> resident_of(const Input& input, const std::shared_ptr<DevicePool>& pool,
                                              const PlaneSet& planes) {
  Input::State& state = *input.state();
  const std::lock_guard lock(state.mutex);
  // One that could not be sent is not asked for again; it stays, as others may still work on it.
  for (const auto& [known, resident] : state.residents) {
    if (known == pool && !resident->has_failed() && resident->has(planes)) return resident;
  }
  std::shared_ptr<Resident> resident;
  if (state.frame && !state.device.empty()) {
    ACUITY_TRY_ASSIGN(
        resident, Resident::of_device_frame(pool, state.frame->view, state.frame->format, state.frame->layout, planes));
  } else if (state.frame) {
    ACUITY_TRY_ASSIGN(resident, Resident::create(pool, state.frame->view, state.frame->format, planes));
  } else if (state.device.empty()) {
    ACUITY_TRY_ASSIGN(resident, Resident::create(pool, state.view));
  } else {
    ACUITY_TRY_ASSIGN(resident, Resident::of_device_memory(state.view, state.owner));
  }
  state.residents.emplace_back(pool, resident);
  return resident;
}

bool is_on_device(const Input& input, const std::shared_ptr<DevicePool>& pool) {
  Input::State& state = *input.state();
  if (!state.device.empty()) return true;
  const std::lock_guard lock(state.mutex);
  return std::any_of(state.residents.begin(), state.residents.end(), [&](const auto& known) {
    return known.first == pool && known.second->has_arrived() && known.second->has(kAllPlanes);
  });
}

void settle(const Input& input, const std::shared_ptr<DevicePool>& pool) {
  const std::lock_guard lock(input.state()->mutex);
  for (const auto& [known, resident] : input.state()->residents) {
    // Whoever sent some planes only looks after them.
    if (known == pool && resident->has(kAllPlanes)) resident->settle();
  }
}

Status send_now(const Input& input, const std::shared_ptr<DevicePool>& pool, Queue& queue, const Senders& senders) {
  std::shared_ptr<Resident> resident;
  ACUITY_TRY_ASSIGN(resident, resident_of(input, pool));
  Parcel parcel{resident.get(), &queue};
  ACUITY_TRY(send_pictures({&parcel, 1}, SendOrder::one_by_one, input.view().height, senders));
  if (!parcel.is_on_queue) ACUITY_TRY(resident->wait_for_rows(queue, input.view().height));
  ACUITY_TRY(queue.wait());
  resident->note_arrival();
  return {};
}

Result<Input> with_picture(Input input) {
  if (!input.has_picture()) return Status(StatusCode::out_of_memory, "out of memory for a copy of a picture");
  return input;
}

Result<Input> keep_input(const Input& input) {
  const Input::State& state = *input.state();
  if (state.owner || !state.device.empty()) return input;
  if (!state.frame) return Input::copy(state.view);
  FrameView copy;
  ACUITY_TRY_ASSIGN(copy, FrameMemory(state.frame->format).copy(state.frame->view));
  return with_picture(Input(copy, state.frame->format));
}

Result<Input> keep_on_device(const Input& input, const Rows& rows, const std::shared_ptr<DevicePool>& pool,
                             Queue& queue, const Senders& senders) {
  if (!DevicePicture::needs_samples(rows)) return keep_input(input);
  ACUITY_TRY(send_now(input, pool, queue, senders));
  const Input::State& state = *input.state();
  if (state.owner || !state.device.empty()) return input;
  Input kept = state.frame ? Input(state.frame->view, state.frame->format) : Input(state.view);
  if (!kept.has_picture()) return Status(StatusCode::out_of_memory, "out of memory while a reference was prepared");
  std::shared_ptr<Resident> resident;
  ACUITY_TRY_ASSIGN(resident, resident_of(input, pool));
  kept.state()->samples_gone = true;
  kept.state()->is_finite = true;
  kept.state()->residents.emplace_back(pool, std::move(resident));
  return kept;
}

Result<Input> take_surface(const Input& surface, const std::shared_ptr<DevicePool>& pool, Queue& queue,
                           const Senders& senders) {
  const Input::State& state = *surface.state();
  std::shared_ptr<Resident> copy;
  ACUITY_TRY_ASSIGN(copy, Resident::of_device_frame(pool, state.frame->view, state.frame->format, state.frame->layout,
                                                    kAllPlanes, false));
  Parcel parcel{copy.get(), &queue};
  ACUITY_TRY(send_pictures({&parcel, 1}, SendOrder::one_by_one, surface.view().height, senders));
  ACUITY_TRY(queue.wait());
  copy->note_arrival();
  FrameView view = state.frame->view;
  view.owner.reset();
  Input taken = Input::on_device(view, state.frame->format, state.frame->layout, state.device);
  if (!taken.has_picture()) return Status(StatusCode::out_of_memory, "out of memory for a frame on a device");
  taken.state()->samples_gone = true;
  taken.state()->residents.emplace_back(pool, std::move(copy));
  return taken;
}

Status check_device(const Input& input, const DevicePool* pool, std::string_view which) {
  const std::string& there = input.state()->device;
  const std::string here = pool != nullptr ? pool->device().info().id : "cpu";
  if (there == "cpu") {
    return {StatusCode::usage,
            fmt::format("the {} is in the host's memory, where samples must lie as FrameView states", which)};
  }
  if (there.empty() || there == here || there + ":0" == here) return {};
  return {StatusCode::usage, fmt::format("the {} is in memory of {}, but this Scorer runs on {}", which, there, here)};
}

size_t bytes_of(const Input& input) {
  const ImageView& view = input.view();
  const size_t sample = view.type == SampleType::u8 ? 1 : view.type == SampleType::u16 ? 2 : sizeof(float);
  const size_t pixels = static_cast<size_t>(view.width) * static_cast<size_t>(view.height);
  const bool is_here = input.state()->is_here();
  size_t bytes = is_here ? pixels * sample * static_cast<size_t>(view.channel_count()) : 0;
  if (is_here && input.state()->frame) bytes = FrameMemory::frame_bytes(input.state()->frame->format);
  const std::lock_guard lock(input.state()->mutex);
  for (const auto& [pool, resident] : input.state()->residents) bytes += resident->bytes();
  return bytes;
}

Result<InputRows> InputRows::create(const Input& input, const WorkingSpace& space, std::optional<float> background) {
  Result<Rows> rows = Rows::create(input.view(), space, background);
  if (!rows.ok()) return rows.status();
  return InputRows{input, std::move(*rows)};
}

Result<DevicePicture> device_picture(const Input& input, const Rows& rows, const std::shared_ptr<DevicePool>& pool,
                                     int first_channel) {
  DevicePicture picture{rows, nullptr, first_channel};
  if (DevicePicture::needs_samples(rows)) {
    std::shared_ptr<Resident> resident;  // the input holds it
    ACUITY_TRY_ASSIGN(resident, resident_of(input, pool));
    picture.samples = resident.get();
  } else if (!input.state()->device.empty()) {
    return Status(
        StatusCode::input,
        "the colour profile of a picture in device memory can only be applied on the CPU; convert the picture first");
  }
  return picture;
}

}  // namespace acuity
