// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/plan.h"

#include <bit>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/try.h"
#include "device/counting_device.h"
#include "device/pinned.h"
#include "engine/slots.h"

namespace acuity {
namespace {

int64_t bytes_between(size_t more, size_t less) { return static_cast<int64_t>(more) - static_cast<int64_t>(less); }

// Metrics for pictures whose samples nobody looks at.
class Rehearsal {
 public:
  explicit Rehearsal(const PlannedWork& work) : work_(work), threads_(Threads::idle(work.threads)) {}

  Status begin() {
    bytes_ = bytes_of_picture();
    device_ = std::make_shared<CountingDevice>(work_.gpu.value_or(Backend::cuda));
    // Page-locked, so that it is not copied.
    ACUITY_TRY_ASSIGN(samples_, allocate_known_pinned(*device_, bytes_));
    if (work_.gpu) pool_ = std::make_shared<DevicePool>(device_);
    return make_slot();
  }

  Status make_slot() {
    Slot slot;
    for (const RequestedMetric& metric : work_.metrics) {
      ACUITY_TRY_ASSIGN(slot.metrics.emplace_back(),
                        metric.entry->create({.width = work_.width,
                                              .height = work_.height,
                                              .want_map = work_.want_map,
                                              .options = metric.options,
                                              .strip_rows = std::min(work_.strip_rows, work_.height),
                                              .threads = &threads_,
                                              .tasks = &tasks_,
                                              .pool = pool_}));
    }
    slots_.push_back(std::move(slot));
    return {};
  }

  // By the last slot. The pictures stay.
  Status score_pair() {
    pictures_.insert(pictures_.end(), {picture(), picture()});
    for (const std::unique_ptr<Metric>& metric : slots_.back().metrics) {
      ACUITY_TRY(done(metric->score(pictures_.end()[-2], pictures_.end()[-1])));
    }
    return {};
  }

  Status prepare() {
    const Input reference = picture();
    for (const std::unique_ptr<Metric>& metric : slots_.back().metrics) {
      ACUITY_TRY_ASSIGN(prepared_.emplace_back(), metric->prepare(reference));
    }
    return {};
  }

  Status score_against_reference() {
    pictures_.push_back(picture());
    for (size_t i = 0; i < prepared_.size(); ++i) {
      ACUITY_TRY(done(slots_.back().metrics[i]->score(*prepared_[i], pictures_.back())));
    }
    return {};
  }

  // All that was allocated at a time.
  MemoryBytes most() const {
    if (pool_) {
      return {bytes_between(device_->pinned_count().peak(), bytes_),
              static_cast<int64_t>(device_->device_count().peak())};
    }
    size_t bytes = 0;
    for (const Slot& slot : slots_) {
      for (const std::unique_ptr<Metric>& metric : slot.metrics) bytes += metric->working_bytes();
    }
    return {static_cast<int64_t>(bytes), 0};
  }

  // What was prepared of the reference, which goes with this.
  MemoryBytes release_reference() {
    size_t prepared_bytes = 0;
    for (const auto& prepared : prepared_) prepared_bytes += prepared->bytes();
    const size_t device = held(), host = device_->pinned_count().now();
    prepared_.clear();
    if (!pool_) return {static_cast<int64_t>(prepared_bytes), 0};
    return {bytes_between(host, device_->pinned_count().now()), bytes_between(device, held())};
  }

  // All that this prepared or launched.
  const std::vector<KernelInfo>& kernels() const { return device_->kernels(); }

  int64_t picture_bytes() const { return static_cast<int64_t>(round_up(bytes_, 256)); }

 private:
  // Nothing was computed, so the result may look like that of pictures which cannot be scored.
  static Status done(const Result<Measurement>& measured) {
    return measured.status().code() == StatusCode::input ? Status() : measured.status();
  }
  FrameFormat frame_format() const { return {{work_.width, work_.height, work_.kind.depth, work_.kind.subsampling}}; }
  // Rows as they lie on a device, so that nothing is copied.
  static size_t row_bytes(const FrameFormat& format, int plane) {
    const size_t bytes = static_cast<size_t>(format.plane_width(plane)) * static_cast<size_t>(format.sample_bytes());
    return bytes % 4 == 0 ? bytes : round_up(bytes, 64);
  }
  static size_t plane_bytes(const FrameFormat& format, int plane) {
    return row_bytes(format, plane) * static_cast<size_t>(format.plane_height(plane));
  }
  size_t bytes_of_picture() const {
    if (work_.kind.is_frame) {
      const FrameFormat format = frame_format();
      size_t bytes = 0;
      for (int plane = 0; plane < format.planes_count(); ++plane) bytes += plane_bytes(format, plane);
      return bytes;
    }
    const SampleType type = work_.kind.type;
    const size_t sample = type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : sizeof(float);
    return static_cast<size_t>(work_.width) * static_cast<size_t>(work_.height) *
           static_cast<size_t>(work_.kind.channels) * sample;
  }

  // It owns its memory, so that who keeps it need not copy it.
  Input picture() const {
    Input made = picture_of_samples();
    if (!made.has_picture()) throw std::bad_alloc();
    return made;
  }
  Input picture_of_samples() const {
    if (!work_.kind.is_frame) {
      return {interleaved_view(samples_->data(), work_.width, work_.height, work_.kind.channels, work_.kind.type),
              samples_};
    }
    const FrameFormat format = frame_format();
    FrameView view{format};
    const std::byte* at = samples_->data();
    for (int plane = 0; plane < format.planes_count(); at += plane_bytes(format, plane++)) {
      view.planes[static_cast<size_t>(plane)] = at;
      view.row_strides[static_cast<size_t>(plane)] = static_cast<ptrdiff_t>(row_bytes(format, plane));
    }
    view.owner = samples_;
    return {view, format};
  }
  size_t held() const { return pool_ ? device_->device_count().now() - pool_->unused_bytes() : 0; }

  const PlannedWork& work_;
  Threads threads_;
  TaskThreads tasks_;
  size_t bytes_ = 0;  // of a picture
  std::shared_ptr<CountingDevice> device_;
  std::shared_ptr<PinnedMemory> samples_;
  std::shared_ptr<DevicePool> pool_;  // null: the CPU
  std::vector<Input> pictures_;
  std::vector<std::shared_ptr<const PreparedReference>> prepared_;
  std::vector<Slot> slots_;
};

MemoryBytes difference(const MemoryBytes& a, const MemoryBytes& b) { return {a.host - b.host, a.device - b.device}; }

}  // namespace

Result<WorkPlan> plan_work(const PlannedWork& work) {
  WorkPlan whole;
  MemoryPlan& plan = whole.memory;
  Rehearsal pairs(work), prepared(work);
  ACUITY_TRY(pairs.begin());
  ACUITY_TRY(pairs.score_pair());
  plan.pair = pairs.most();
  plan.further_pair = plan.pair;
  if (work.gpu) {
    ACUITY_TRY(pairs.make_slot());
    ACUITY_TRY(pairs.score_pair());
    plan.further_pair = difference(pairs.most(), plan.pair);
  }
  ACUITY_TRY(prepared.begin());
  ACUITY_TRY(prepared.prepare());
  ACUITY_TRY(prepared.score_against_reference());
  const MemoryBytes all = prepared.most();
  plan.reference = prepared.release_reference();
  plan.against_reference = work.gpu ? difference(all, plan.reference) : all;
  plan.small_reference = {pairs.picture_bytes(), work.gpu ? pairs.picture_bytes() : 0};
  plan.staging = work.gpu ? pairs.picture_bytes() : 0;
  whole.kernels_of_pair = pairs.kernels();
  whole.kernels_of_reference = prepared.kernels();
  return whole;
}

Result<MemoryPlan> plan_memory(const PlannedWork& work) {
  Result<WorkPlan> plan = plan_work(work);
  return plan.ok() ? Result<MemoryPlan>(plan->memory) : plan.status();
}

Result<Backend> planned_backend(std::string_view device) {
  if (const std::optional<Backend> backend = backend_of(device)) return *backend;
  return Status(StatusCode::unknown_device,
                fmt::format("unknown device '{}': memory is planned for cpu, cuda, hip or vulkan", device));
}

int narrower_strip(int strip_rows, int height) {
  return strip_rows == 0 ? static_cast<int>(std::bit_floor(static_cast<unsigned>(height))) : strip_rows / 2;
}

namespace {

Result<MemoryPlan> plan_options(const ScorerOptions& options, int width, int height, const SampleKind& kind) {
  return guarded<Result<MemoryPlan>>([&]() -> Result<MemoryPlan> {
    if (options.device == "auto") {
      return Status(StatusCode::usage,
                    "memory is planned for one device: use cpu or a GPU, such as cuda, instead of auto");
    }
    std::vector<RequestedMetric> metrics;
    ACUITY_TRY_ASSIGN(metrics, find_requested_metrics(options, width, height));
    std::optional<Backend> gpu;
    if (options.device != "cpu") {
      ACUITY_TRY_ASSIGN(gpu, planned_backend(options.device));
      ACUITY_TRY(check_gpu_can(metrics, options.want_map));
      ACUITY_TRY(check_gpu_size(width, height));
    }
    return plan_memory({.metrics = metrics,
                        .width = width,
                        .height = height,
                        .strip_rows = options.memory.rows,
                        .want_map = options.want_map,
                        .threads = options.threads,
                        .gpu = gpu,
                        .kind = kind});
  });
}

}  // namespace

Result<MemoryPlan> plan_memory(const ScorerOptions& options, int width, int height, SampleType type,
                               Channels channels) {
  return plan_options(options, width, height, {.type = type, .channels = channels});
}

Result<MemoryPlan> plan_memory(const ScorerOptions& options, const FrameShape& frame) {
  if (frame.depth < 8 || frame.depth > 16) {
    return status_of_texts(StatusCode::usage, {"the depth of a frame must be from 8 to 16 bits per sample"});
  }
  // The CPU makes floats of a frame first.
  if (options.device == "cpu") return plan_options(options, frame.width, frame.height, {.type = SampleType::f32});
  return plan_options(options, frame.width, frame.height,
                      {.is_frame = true, .depth = frame.depth, .subsampling = frame.subsampling});
}

}  // namespace acuity
