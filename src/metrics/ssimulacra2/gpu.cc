// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, whichever: the launches. Pixels go up in bands of rows on a queue of their own while the bands
// before them are worked on; the column filter's state stays on the device from band to band.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/ssimulacra2/runner.h"
#include "metrics/ssimulacra2/scale.h"
#include "metrics/tiles.h"
#include "metrics/upload.h"

namespace acuity {

extern const KernelFile ssimulacra2_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_kernels;
#include "metrics/ssimulacra2/kernels.h"

}  // namespace kernels

namespace {

// The row filter is bound by latency and the column filter waits for the bands above: bands are small, and several of
// the largest scales' are in work at once, each on a queue of its own.
constexpr int kBandRows = 128;
constexpr std::array kFlights{4, 2};   // bands in work at once, of the largest scales; of the others one
constexpr int kBandUnit = 32;          // bands and rings are multiples of this, as the kernels want them
constexpr int kLinearSlots = 2;        // bands of linear light that a scale may be behind the one that makes them
constexpr int kSmallPixels = 1 << 19;  // pictures up to this size are not cut into bands at all
constexpr int kSlots = 2;              // places for pixels on the device: one being worked on, one on its way
constexpr int kBandsASlot = 2;         // fewer and larger copies
constexpr int64_t kMostPixels = int64_t{1} << 29;  // samples are numbered in 32 bits
constexpr size_t kDeviceAlignment = 256;
constexpr int kStateFloats = kChannels * (kPlanes * kFilterFloats + kSums);  // of a column

int groups(int count, int of) { return (count + of - 1) / of; }

// One scale's place on the device.
struct ScalePlan {
  Size size;
  int stride = 0;    // floats a row of XYB and blurred planes
  int xyb_ring = 0;  // rows of them
  int ring = 0;
  int band_rows = 0;
  bool banded = false;  // worked on band by band, as the scale before makes its rows; else once they are all there
  size_t tiles = 0;     // index of its first tile
  size_t xyb = 0, blurred = 0, state = 0;  // offsets
  size_t linear = 0;  // offset of what the scale before makes, a band in each slot; the first scale has none
  int flights = 1;    // bands whose rows are filtered at once
  // Bands go from queue to queue: pixels are made, rows filtered (each flight on a queue of its own), columns filtered.
  // With one flight all three are the same.
  std::vector<std::unique_ptr<Queue>> queues;
  std::unique_ptr<Event> made;                   // pixels
  std::unique_ptr<Event> filtered;               // by rows
  std::vector<std::unique_ptr<Event>> finished;  // so that rows of the rings may be overwritten; one more than flights
  std::array<std::unique_ptr<Event>, kLinearSlots> used;  // linear light, to be overwritten
  std::unique_ptr<Event> done;                            // all of it

  Queue& pixels() const { return *queues.front(); }
  Queue& columns() const { return *queues.back(); }
  Queue& rows(int band) const { return *queues[flights == 1 ? 0 : static_cast<size_t>(1 + band % flights)]; }
  Event& finished_of(int band) const { return *finished[static_cast<size_t>(band) % finished.size()]; }
  size_t plane_floats(int rows_held) const { return static_cast<size_t>(rows_held) * static_cast<size_t>(stride); }
  int linear_plane() const { return band_rows * size.width; }
  size_t linear_slot_floats() const { return 2 * kChannels * static_cast<size_t>(linear_plane()); }
  size_t linear_of(int band) const {
    return linear + static_cast<size_t>(band % kLinearSlots) * linear_slot_floats() * sizeof(float);
  }
};

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    if (int64_t{setup.width} * setup.height > kMostPixels) {
      return Status(StatusCode::too_big,
                    fmt::format("{}x{} pixels are more than the {} that the kernels can count; use the "
                                "device cpu",
                                setup.width, setup.height, kMostPixels));
    }
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  ~GpuRunner() override {
    // Nothing may be in flight when the memory goes. A failure has been reported by the call it happened in.
    if (copy_) static_cast<void>(copy_->wait());
    for (const ScalePlan& plan : plans_) {
      for (const std::unique_ptr<Queue>& queue : plan.queues) {
        if (queue) static_cast<void>(queue->wait());
      }
    }
  }

  size_t working_bytes() const override {
    size_t bytes = memory_->size() + results_->size();
    for (const Upload& upload : uploads_) bytes += upload.bytes();
    return bytes;
  }

  // The reference's samples stay on the device; making XYB of them again costs less than the memory to keep it would.
  Status prepare(const Rows& reference) override {
    ACUITY_TRY(uploads_[kPrepared].begin(*copy_, reference, setup_.height, 1));
    ACUITY_TRY_ASSIGN(prepared_, uploads_[kPrepared].send(*copy_, reference, 0, setup_.height, 0));
    return copy_->wait();
  }

  void forget() override {}

  Result<std::vector<ScaleErrors>> run(const Rows* reference, const Rows& distorted) override {
    const std::array<const Rows*, 2> pictures{reference, &distorted};
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      ACUITY_TRY(
          uploads_[i].begin(*copy_, *pictures[i], std::min(kBandsASlot * plans_[0].band_rows, setup_.height), kSlots));
    }
    for (int band = 0; band * plans_[0].band_rows < setup_.height; ++band) ACUITY_TRY(run_band(pictures, 0, band));
    Queue& first = plans_[0].columns();
    for (size_t s = 1; s < plans_.size(); ++s) ACUITY_TRY(first.wait_for(*plans_[s].done));
    ACUITY_TRY(first.download(*results_, 0, *memory_, tiles_, results_->size()));
    ACUITY_TRY(first.wait());
    return pool_scales(reinterpret_cast<const TileSums*>(results_->data()), scale_sizes(setup_.width, setup_.height));
  }

  Result<DifferenceMap> map(const Rows*, const Rows&, const std::vector<ScaleErrors>&) override {
    return no_map_on_gpus();
  }

 private:
  enum { kReference, kDistorted, kPrepared };

  explicit GpuRunner(const Metric::Setup& setup)
      : setup_(setup),
        uploads_{Upload(*setup.device, *setup.threads), Upload(*setup.device, *setup.threads),
                 Upload(*setup.device, *setup.threads)} {
    const auto whole_units = [](int rows) { return static_cast<int>(round_up(static_cast<size_t>(rows), kBandUnit)); };
    const std::vector<Size> sizes = scale_sizes(setup.width, setup.height);
    const int band_rows = whole_units(setup.strip_rows > 0 ? setup.strip_rows : kBandRows);
    bool banded = true;
    for (const Size size : sizes) {
      ScalePlan plan;
      const size_t s = plans_.size();
      plan.size = size;
      plan.stride = whole_units(size.width);
      banded = banded && band_rows < size.height;
      plan.banded = banded;
      plan.band_rows = banded ? band_rows : whole_units(size.height);
      const bool several = banded && setup.strip_rows == 0 && s < kFlights.size();
      plan.flights = several ? kFlights[s] : 1;
      // Ten rows of the band above are still looked at.
      plan.ring = plan.flights * plan.band_rows + kBandUnit;
      plan.xyb_ring = plan.ring + (several ? plan.band_rows : 0);
      plan.tiles = tile_total_;
      tile_total_ += tile_count(size.width, size.height);
      plans_.push_back(std::move(plan));
    }
  }

  Status allocate() {
    size_t bytes = 0;
    const auto place = [&bytes](size_t floats) {
      const size_t at = bytes;
      bytes += round_up(floats * sizeof(float), kDeviceAlignment);
      return at;
    };
    for (ScalePlan& plan : plans_) {
      plan.xyb = place(2 * kChannels * plan.plane_floats(plan.xyb_ring));
      plan.blurred = place(kChannels * kPlanes * plan.plane_floats(plan.ring));
      plan.state = place(static_cast<size_t>(kStateFloats) * static_cast<size_t>(plan.stride));
      if (&plan != &plans_[0]) plan.linear = place((plan.banded ? kLinearSlots : 1) * plan.linear_slot_floats());
      ACUITY_TRY(create_queues(plan));
    }
    tiles_ = place(tile_total_ * kChannels * kSums);
    ACUITY_TRY_ASSIGN(memory_, setup_.device->allocate(bytes));
    ACUITY_TRY_ASSIGN(results_, setup_.device->allocate_pinned(tile_total_ * sizeof(TileSums)));
    ACUITY_TRY_ASSIGN(copy_, setup_.device->create_queue());
    for (const KernelInfo& kernel :
         std::initializer_list<KernelInfo>{kernels::make_pixels, kernels::filter_rows, kernels::filter_columns}) {
      ACUITY_TRY(setup_.device->prepare(kernel));
    }
    for (std::unique_ptr<Event>& event : arrived_) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
    for (std::unique_ptr<Event>& event : worked_) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
    return {};
  }

  Status create_queues(ScalePlan& plan) {
    plan.queues.resize(plan.flights == 1 ? 1 : static_cast<size_t>(plan.flights) + 2);
    for (std::unique_ptr<Queue>& queue : plan.queues) ACUITY_TRY_ASSIGN(queue, setup_.device->create_queue());
    plan.finished.resize(static_cast<size_t>(plan.flights) + 1);
    for (std::unique_ptr<Event>& event : plan.finished) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
    ACUITY_TRY_ASSIGN(plan.made, setup_.device->create_event());
    ACUITY_TRY_ASSIGN(plan.filtered, setup_.device->create_event());
    for (std::unique_ptr<Event>& event : plan.used) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
    ACUITY_TRY_ASSIGN(plan.done, setup_.device->create_event());
    return {};
  }

  // Sends what is not on the device already of this band and of those that share its slot.
  Status send_bands(const std::array<const Rows*, 2>& pictures, int band) {
    const int y = band * plans_[0].band_rows;
    const int y_end = std::min(y + kBandsASlot * plans_[0].band_rows, setup_.height);
    const int slot = band / kBandsASlot % kSlots;
    if (band >= kSlots * kBandsASlot) {
      for (int i = 0; i < kBandsASlot; ++i) ACUITY_TRY(copy_->wait_for(worked(band + i)));
    }
    sent_ = {prepared_, prepared_};
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      ACUITY_TRY_ASSIGN(sent_[i], uploads_[i].send(*copy_, *pictures[i], y, y_end, slot));
    }
    return copy_->signal(*arrived_[static_cast<size_t>(slot)]);
  }

  // Signalled when a band's pixels may be overwritten.
  Event& worked(int band) { return *worked_[static_cast<size_t>(band % (kSlots * kBandsASlot))]; }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }

  // A band of a scale, and of those below it the bands that it completes.
  Status run_band(const std::array<const Rows*, 2>& pictures, size_t s, int band) {
    ScalePlan& plan = plans_[s];
    Queue& pixels = plan.pixels();
    const int y = band * plan.band_rows, y_end = std::min(y + plan.band_rows, plan.size.height);
    if (band > plan.flights) ACUITY_TRY(pixels.wait_for(plan.finished_of(band - plan.flights - 1)));
    ScalePlan* const next = s + 1 < plans_.size() ? &plans_[s + 1] : nullptr;
    const int next_band = next != nullptr && next->banded ? y / 2 / next->band_rows : 0;
    if (next_band >= kLinearSlots) {
      ACUITY_TRY(pixels.wait_for(*next->used[static_cast<size_t>(next_band % kLinearSlots)]));
    }
    if (s == 0) {
      if (band % kBandsASlot == 0) ACUITY_TRY(send_bands(pictures, band));
      ACUITY_TRY(pixels.wait_for(*arrived_[static_cast<size_t>(band / kBandsASlot % kSlots)]));
      for (int i = 0; i < 2; ++i) {
        ACUITY_TRY(make_pixels(0, pixels, sent_[static_cast<size_t>(i)], i, 1, y, y_end));
      }
      ACUITY_TRY(pixels.signal(worked(band)));
    } else {
      ACUITY_TRY(make_smaller_pixels(s, band, y, y_end));
    }
    ACUITY_TRY(pixels.signal(*plan.made));
    ACUITY_TRY(filter_band(s, band, y, y_end));
    const bool last = y_end == plan.size.height;
    if (last) ACUITY_TRY(plan.columns().signal(*plan.done));
    if (next == nullptr || !(last || (next->banded && y_end / 2 % next->band_rows == 0))) return {};
    return run_band(pictures, s + 1, next_band);
  }

  // What a kernel that makes pixels is told of the next scale.
  struct Next {
    DeviceArray<float> linear;
    int first = 0, plane = 0;
  };
  Next next_of(size_t s, int y) const {
    if (s + 1 >= plans_.size()) return {};
    const ScalePlan& next = plans_[s + 1];
    const int band = next.banded ? y / 2 / next.band_rows : 0;
    return {array<float>(next.linear_of(band)), band * next.band_rows, next.linear_plane()};
  }

  // XYB and the next scale's light of `images` pictures, `image` the first of them.
  Status make_pixels(size_t s, Queue& queue, const SentPixels& from, int image, int images, int y, int y_end) {
    const ScalePlan& plan = plans_[s];
    const Next next = next_of(s, y);
    return queue.run(kernels::make_pixels, groups(plan.size.width, 64), images * groups(y_end - y, 16), from.samples,
                     from.table, array<float>(plan.xyb), next.linear, from.form, from.extent, image, from.y_first,
                     plan.size.width, plan.size.height, y, y_end, plan.xyb_ring, plan.stride, next.first, next.plane);
  }

  // From the linear light that the latest bands of the scale before made.
  Status make_smaller_pixels(size_t s, int band, int y, int y_end) {
    ScalePlan& plan = plans_[s];
    Queue& queue = plan.pixels();
    ACUITY_TRY(queue.wait_for(*plans_[s - 1].made));
    const SentPixels linear{.samples = array<const unsigned char>(plan.linear_of(band)),
                            .table = {},
                            .form = FORM_PLANES,
                            .extent = plan.linear_plane(),
                            .y_first = y};
    ACUITY_TRY(make_pixels(s, queue, linear, 0, 2, y, y_end));
    return queue.signal(*plan.used[static_cast<size_t>(band % kLinearSlots)]);
  }

  // Both filters and the sums, once the band's XYB is there.
  Status filter_band(size_t s, int band, int y, int y_end) {
    const ScalePlan& plan = plans_[s];
    const bool last = y_end == plan.size.height;
    Queue& rows = plan.rows(band);
    ACUITY_TRY(rows.wait_for(*plan.made));
    if (band >= plan.flights) ACUITY_TRY(rows.wait_for(plan.finished_of(band - plan.flights)));
    ACUITY_TRY(rows.run(kernels::filter_rows, groups(y_end - y, 32), kChannels, array<const float>(plan.xyb),
                        array<float>(plan.blurred), plan.size.width, y, y_end, plan.xyb_ring, plan.ring, plan.stride));
    ACUITY_TRY(rows.signal(*plan.filtered));
    ACUITY_TRY(plan.columns().wait_for(*plan.filtered));
    ACUITY_TRY(plan.columns().run(kernels::filter_columns, groups(plan.size.width, 32), kChannels,
                                  array<const float>(plan.xyb), array<const kernels::real4>(plan.blurred),
                                  array<float>(plan.state), array<float>(tiles_ + plan.tiles * sizeof(TileSums)),
                                  plan.size.width, plan.size.height, y - kAhead,
                                  last ? plan.size.height : y_end - kAhead, plan.xyb_ring, plan.ring, plan.stride));
    return plan.columns().signal(plan.finished_of(band));
  }

  Metric::Setup setup_;
  std::vector<ScalePlan> plans_;
  size_t tile_total_ = 0;
  std::unique_ptr<DeviceMemory> memory_;
  size_t tiles_ = 0;  // offset
  std::unique_ptr<PinnedMemory> results_;
  std::array<Upload, 3> uploads_;
  SentPixels prepared_;             // all rows of the prepared reference
  std::array<SentPixels, 2> sent_;  // the rows last sent
  std::array<std::unique_ptr<Event>, kSlots> arrived_;
  std::array<std::unique_ptr<Event>, kSlots * kBandsASlot> worked_;
  std::unique_ptr<Queue> copy_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) {
  const bool small = setup.strip_rows == 0 && int64_t{setup.width} * setup.height <= kSmallPixels;
  return small ? create_small_gpu_runner(setup) : GpuRunner::create(setup);
}

}  // namespace ssimulacra2
}  // namespace acuity
