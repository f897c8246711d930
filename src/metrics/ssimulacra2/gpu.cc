// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, whichever: the launches. Pixels go up in bands of rows on a queue of their own while the bands
// before them are worked on; the column filter's state stays on the device from band to band.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "device/pinned.h"
#include "lang/host.h"
#include "metrics/ssimulacra2/runner.h"
#include "metrics/ssimulacra2/scale.h"
#include "metrics/tiles.h"

namespace acuity {

extern const KernelFile ssimulacra2_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_kernels;
#include "metrics/ssimulacra2/kernels.h"

}  // namespace kernels

namespace {

constexpr int kBandRows = 512;       // enough rows to keep the row filter busy, few enough to keep memory small
constexpr int kBandUnit = 32;        // bands and rings are multiples of this, as the kernels want them
constexpr int kSlots = 2;            // bands of pixels on the device: one being worked on, one on its way
constexpr int kOwnPixels = 1 << 19;  // scales up to this size have buffers and a queue of their own
constexpr size_t kDeviceAlignment = 256;
constexpr int kStateFloats = kChannels * (kPlanes * kFilterFloats + kSums);  // of a column

int groups(int count, int of) { return (count + of - 1) / of; }

// One scale's place on the device.
struct ScalePlan {
  Size size;
  int stride = 0;  // floats a row of XYB and blurred planes
  int ring = 0;    // rows of them
  int band_rows = 0;
  size_t tiles = 0;  // index of its first tile
  // Small scales have planes and a queue of their own, so that they need not wait for each other; the others take
  // turns.
  bool own = false;
  size_t xyb = 0, blurred = 0, state = 0;  // offsets
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Event> ready, done;

  size_t plane_floats() const { return static_cast<size_t>(ring) * static_cast<size_t>(stride); }
};

// How the samples of one picture travel.
struct Form {
  enum class Kind { bytes, words, linear };
  Kind kind = Kind::linear;
  size_t row_bytes = 0;  // of a row, all channels
  std::span<const float> table;
};

Form form_of(const Rows& rows) {
  const std::span<const float> table = rows.code_table();
  const size_t width = static_cast<size_t>(rows.width());
  if (table.empty()) return {Form::Kind::linear, width * kChannels * sizeof(float), {}};
  if (rows.view().type == SampleType::u8) return {Form::Kind::bytes, width * kChannels, table};
  return {Form::Kind::words, width * kChannels * sizeof(uint16_t), table};
}

// One picture's way to the device: page-locked memory here, room for some of its rows there, and the table of its
// codes.
struct Input {
  std::unique_ptr<PinnedMemory> staging;
  std::unique_ptr<DeviceMemory> pixels;
  std::unique_ptr<PinnedMemory> table_staging;
  std::unique_ptr<DeviceMemory> table;
  std::vector<float> table_content;
  Form form;
};

// Rows of a picture that lie on the device.
struct Resident {
  const Input* input = nullptr;
  size_t offset = 0;  // of row y_first, in bytes
  int y_first = 0;
  int rows = 0;  // of linear planes
};

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  ~GpuRunner() override {
    // Nothing may be in flight when the memory goes. A failure has been reported by the call it happened in.
    if (copy_) static_cast<void>(copy_->wait());
    for (const ScalePlan& plan : plans_) {
      if (plan.queue) static_cast<void>(plan.queue->wait());
    }
    if (compute_) static_cast<void>(compute_->wait());
  }

  size_t working_bytes() const override {
    size_t bytes = memory_->size() + results_->size();
    for (const Input& input : inputs_) {
      if (input.pixels) bytes += input.pixels->size();
      if (input.staging) bytes += input.staging->size();
      if (input.table) bytes += input.table->size() + input.table_staging->size();
    }
    return bytes;
  }

  // The reference's samples stay on the device; making XYB of them again costs less than the memory to keep it would.
  Status prepare(const Rows& reference) override {
    Input& input = inputs_[kPrepared];
    input.form = form_of(reference);
    ACUITY_TRY(reserve(input, rows_bytes(input, setup_.height)));
    ACUITY_TRY(upload_table(input));
    ACUITY_TRY(send(reference, input, 0, 0, setup_.height));
    return copy_->wait();
  }

  void forget() override {}

  Result<std::vector<ScaleErrors>> run(const Rows* reference, const Rows& distorted) override {
    const std::array<const Rows*, 2> pictures{reference, &distorted};
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      inputs_[i].form = form_of(*pictures[i]);
      ACUITY_TRY(reserve(inputs_[i], kSlots * slot_bytes(inputs_[i])));
      ACUITY_TRY(upload_table(inputs_[i]));
    }
    int band = 0;
    for (int y = 0; y < setup_.height; y += plans_[0].band_rows, ++band) {
      const int y_end = std::min(y + plans_[0].band_rows, setup_.height);
      ACUITY_TRY(send_band(pictures, y, y_end, band));
      for (size_t i = 0; i < 2; ++i) ACUITY_TRY(make_pixels(resident(pictures, i, y, band), i, y, y_end));
      ACUITY_TRY(filter_band(0, y, y_end));
      ACUITY_TRY(compute_->signal(*worked_[static_cast<size_t>(band % kSlots)]));
    }
    for (size_t s = 1; s < plans_.size(); ++s) ACUITY_TRY(run_smaller_scale(s));
    for (ScalePlan& plan : plans_) {
      if (plan.own) ACUITY_TRY(compute_->wait_for(*plan.done));
    }
    ACUITY_TRY(compute_->download(*results_, 0, *memory_, tiles_, results_->size()));
    ACUITY_TRY(compute_->wait());
    return pool();
  }

  Result<DifferenceMap> map(const Rows*, const Rows&, const std::vector<ScaleErrors>&) override {
    return Status(StatusCode::device, "difference maps are made on the CPU only; ask for the device cpu");
  }

 private:
  enum { kReference, kDistorted, kPrepared, kInputs };

  explicit GpuRunner(const Metric::Setup& setup) : setup_(setup) {
    size_t tiles = 0;
    size_t plane_floats = 0;
    for (const Size size : scale_sizes(setup.width, setup.height)) {
      ScalePlan plan;
      plan.size = size;
      plan.stride = static_cast<int>(round_up(static_cast<size_t>(size.width), 32));
      const auto whole_units = [](int rows) {
        return static_cast<int>(round_up(static_cast<size_t>(rows), kBandUnit));
      };
      if (plans_.empty()) {
        plan.band_rows =
            std::min(whole_units(setup.strip_rows > 0 ? setup.strip_rows : kBandRows), whole_units(size.height));
        plan.ring = plan.band_rows + kBandUnit;  // ten rows of the band above are still looked at
        plane_floats = static_cast<size_t>(plan.ring) * static_cast<size_t>(plan.stride);
      } else {
        // Narrower rows leave room for more of them.
        plan.ring = std::min(whole_units(size.height) + kBandUnit,
                             static_cast<int>(plane_floats / static_cast<size_t>(plan.stride)) / kBandUnit * kBandUnit);
        plan.band_rows = plan.ring - kBandUnit;
      }
      plan.tiles = tiles;
      tiles += tile_count(size.width, size.height);
      plan.own = plan.band_rows >= size.height && size.width * size.height <= kOwnPixels;
      plans_.push_back(std::move(plan));
    }
    tile_total_ = tiles;
  }

  int next_stride(size_t s) const { return s < plans_.size() ? plans_[s].size.width : 0; }
  int next_plane(size_t s) const { return s < plans_.size() ? plans_[s].size.width * plans_[s].size.height : 0; }

  Status allocate() {
    size_t bytes = 0;
    const auto place = [&bytes](size_t floats) {
      const size_t at = bytes;
      bytes += round_up(floats * sizeof(float), kDeviceAlignment);
      return at;
    };
    ScalePlan* shared = nullptr;
    for (ScalePlan& plan : plans_) {
      if (!plan.own && shared != nullptr) {
        plan.xyb = shared->xyb;
        plan.blurred = shared->blurred;
        plan.state = shared->state;
        continue;
      }
      if (!plan.own) shared = &plan;
      plan.xyb = place(2 * kChannels * plan.plane_floats());
      plan.blurred = place(kChannels * kPlanes * plan.plane_floats());
      plan.state = place(static_cast<size_t>(kStateFloats) * static_cast<size_t>(plan.stride));
    }
    tiles_ = place(tile_total_ * kChannels * kSums);
    // Scales take turns in two sets of planes.
    for (size_t s = 1; s < std::min<size_t>(plans_.size(), 3); ++s) {
      linear_[s % 2] = place(2 * kChannels * static_cast<size_t>(next_plane(s)));
    }
    ACUITY_TRY_ASSIGN(memory_, setup_.device->allocate(bytes));
    ACUITY_TRY_ASSIGN(results_, setup_.device->allocate_pinned(tile_total_ * sizeof(TileSums)));
    ACUITY_TRY_ASSIGN(compute_, setup_.device->create_queue());
    ACUITY_TRY_ASSIGN(copy_, setup_.device->create_queue());
    for (ScalePlan& plan : plans_) {
      if (!plan.own) continue;
      ACUITY_TRY_ASSIGN(plan.queue, setup_.device->create_queue());
      ACUITY_TRY_ASSIGN(plan.ready, setup_.device->create_event());
      ACUITY_TRY_ASSIGN(plan.done, setup_.device->create_event());
    }
    for (size_t slot = 0; slot < kSlots; ++slot) {
      ACUITY_TRY_ASSIGN(sent_[slot], setup_.device->create_event());
      ACUITY_TRY_ASSIGN(worked_[slot], setup_.device->create_event());
    }
    return {};
  }

  Status reserve(Input& input, size_t device_bytes) {
    if (!input.pixels || input.pixels->size() < device_bytes) {
      input.pixels.reset();
      ACUITY_TRY_ASSIGN(input.pixels, setup_.device->allocate(device_bytes));
    }
    return {};
  }

  // Kernels read whole words.
  static size_t rows_bytes(const Input& input, int rows) {
    return round_up(input.form.row_bytes * static_cast<size_t>(rows), kDeviceAlignment);
  }

  Status upload_table(Input& input) {
    const std::span<const float> table = input.form.table;
    if (std::equal(table.begin(), table.end(), input.table_content.begin(), input.table_content.end())) return {};
    const size_t bytes = table.size_bytes();
    if (!input.table || input.table->size() < bytes) {
      input.table.reset();
      ACUITY_TRY_ASSIGN(input.table, setup_.device->allocate(bytes));
      ACUITY_TRY_ASSIGN(input.table_staging, setup_.device->allocate_pinned(bytes));
    }
    std::memcpy(input.table_staging->data(), table.data(), bytes);
    ACUITY_TRY(copy_->upload(*input.table, 0, *input.table_staging, 0, bytes));
    input.table_content.assign(table.begin(), table.end());
    return {};
  }

  // Rows y .. y_end - 1 into page-locked memory, at the place of row y: packed codes, or three planes of linear light.
  void stage(const Rows& rows, const Input& input, int y, int y_end) const {
    std::byte* to = input.staging->data() + static_cast<size_t>(y) * input.form.row_bytes;
    const size_t plane = static_cast<size_t>(y_end - y) * static_cast<size_t>(rows.width());
    std::atomic<int> next = y;
    constexpr int kTogether = 32;
    setup_.threads->run([&](int) {
      for (int begin = next.fetch_add(kTogether); begin < y_end; begin = next.fetch_add(kTogether)) {
        for (int row = begin; row < std::min(begin + kTogether, y_end); ++row) {
          if (input.form.kind == Form::Kind::linear) {
            float* out =
                reinterpret_cast<float*>(to) + static_cast<size_t>(row - y) * static_cast<size_t>(rows.width());
            rows.read(row, 0, rows.width(), out, out + plane, out + 2 * plane);
          } else {
            const ImageView& view = rows.view();
            std::memcpy(to + static_cast<size_t>(row - y) * input.form.row_bytes,
                        view.planes[0] + row * view.row_stride, input.form.row_bytes);
          }
        }
      }
    });
  }

  size_t slot_bytes(const Input& input) const { return rows_bytes(input, plans_[0].band_rows); }
  size_t slot_offset(const Input& input, int band) const {
    return static_cast<size_t>(band % kSlots) * slot_bytes(input);
  }

  // Rows y .. y_end - 1 to the device: straight from the caller's memory where that is page-locked, else by way of
  // ours.
  Status send(const Rows& rows, Input& input, size_t offset, int y, int y_end) {
    const size_t bytes = static_cast<size_t>(y_end - y) * input.form.row_bytes;
    const ImageView& view = rows.view();
    if (input.form.kind != Form::Kind::linear && view.row_stride == static_cast<ptrdiff_t>(input.form.row_bytes)) {
      const PinnedPlace place = find_pinned(*setup_.device, view.planes[0] + y * view.row_stride, bytes);
      if (place.memory) return copy_->upload(*input.pixels, offset, *place.memory, place.offset, bytes);
    }
    if (!input.staging || input.staging->size() < rows_bytes(input, setup_.height)) {
      input.staging.reset();
      ACUITY_TRY_ASSIGN(input.staging, setup_.device->allocate_pinned(rows_bytes(input, setup_.height)));
    }
    stage(rows, input, y, y_end);
    return copy_->upload(*input.pixels, offset, *input.staging, static_cast<size_t>(y) * input.form.row_bytes, bytes);
  }

  // Sends what is not on the device already.
  Status send_band(const std::array<const Rows*, 2>& pictures, int y, int y_end, int band) {
    const size_t slot = static_cast<size_t>(band % kSlots);
    if (band >= kSlots) ACUITY_TRY(copy_->wait_for(*worked_[slot]));
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      ACUITY_TRY(send(*pictures[i], inputs_[i], slot_offset(inputs_[i], band), y, y_end));
    }
    ACUITY_TRY(copy_->signal(*sent_[slot]));
    return compute_->wait_for(*sent_[slot]);
  }

  Resident resident(const std::array<const Rows*, 2>& pictures, size_t i, int y, int band) const {
    if (pictures[i] == nullptr) return {&inputs_[kPrepared], 0, 0, setup_.height};
    const int rows = std::min(plans_[0].band_rows, setup_.height - y);
    return {&inputs_[i], slot_offset(inputs_[i], band), y, rows};
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }

  Status make_pixels(const Resident& from, size_t image, int y, int y_end) {
    const ScalePlan& plan = plans_[0];
    const uint64_t pixels = from.input->pixels->address() + from.offset;
    const int across = groups(plan.size.width, 64), down = groups(y_end - y, 16);
    const DeviceArray<float> xyb = array<float>(plan.xyb), next = array<float>(linear_[1]);
    const auto codes = [&](const auto& kernel, auto handle) {
      return compute_->run(kernel, across, down, handle, DeviceArray<const float>{from.input->table->address()}, xyb,
                           next, static_cast<int>(from.input->form.table.size()) - 1, static_cast<int>(image),
                           from.y_first, plan.size.width, plan.size.height, y, y_end, plan.ring, plan.stride,
                           next_stride(1), next_plane(1));
    };
    switch (from.input->form.kind) {
      case Form::Kind::bytes:
        return codes(kernels::pixels_from_bytes, DeviceArray<const unsigned char>{pixels});
      case Form::Kind::words:
        return codes(kernels::pixels_from_words, DeviceArray<const unsigned short>{pixels});
      case Form::Kind::linear:
        break;
    }
    return compute_->run(kernels::pixels_from_linear, across, down, DeviceArray<const float>{pixels}, xyb, next,
                         from.rows * plan.size.width, plan.size.width, static_cast<int>(image), from.y_first,
                         plan.size.width, plan.size.height, y, y_end, plan.ring, plan.stride, next_stride(1),
                         next_plane(1));
  }

  // Both filters and the sums, once the band's XYB is there.
  Status filter_band(size_t s, int y, int y_end) {
    ScalePlan& plan = plans_[s];
    Queue& queue = plan.own ? *plan.queue : *compute_;
    const bool last = y_end == plan.size.height;
    if (plan.own) {
      ACUITY_TRY(compute_->signal(*plan.ready));
      ACUITY_TRY(queue.wait_for(*plan.ready));
    }
    ACUITY_TRY(queue.run(kernels::filter_rows, groups(y_end - y, 32), kChannels * kPlanes, array<const float>(plan.xyb),
                         array<float>(plan.blurred), plan.size.width, y, y_end, plan.ring, plan.stride));
    ACUITY_TRY(queue.run(kernels::filter_columns, groups(plan.size.width, 32), kChannels, array<const float>(plan.xyb),
                         array<const float>(plan.blurred), array<float>(plan.state),
                         array<float>(tiles_ + plan.tiles * sizeof(TileSums)), plan.size.width, plan.size.height,
                         y - kAhead, last ? plan.size.height : y_end - kAhead, plan.ring, plan.stride));
    return plan.own ? queue.signal(*plan.done) : Status();
  }

  Status run_smaller_scale(size_t s) {
    const ScalePlan& plan = plans_[s];
    const int width = plan.size.width, height = plan.size.height;
    for (int y = 0; y < height; y += plan.band_rows) {
      const int y_end = std::min(y + plan.band_rows, height);
      ACUITY_TRY(compute_->run(kernels::pixels_from_linear, groups(width, 64), 2 * groups(y_end - y, 16),
                               array<const float>(linear_[s % 2]), array<float>(plan.xyb),
                               array<float>(linear_[(s + 1) % 2]), next_plane(s), width, 0, 0, width, height, y, y_end,
                               plan.ring, plan.stride, next_stride(s + 1), next_plane(s + 1)));
      ACUITY_TRY(filter_band(s, y, y_end));
    }
    return {};
  }

  std::vector<ScaleErrors> pool() const {
    const TileSums* tiles = reinterpret_cast<const TileSums*>(results_->data());
    std::vector<ScaleErrors> errors;
    for (const ScalePlan& plan : plans_) {
      errors.push_back(pool_tiles({tiles + plan.tiles, tile_count(plan.size.width, plan.size.height)}, plan.size));
    }
    return errors;
  }

  Metric::Setup setup_;
  std::vector<ScalePlan> plans_;
  size_t tile_total_ = 0;
  std::unique_ptr<DeviceMemory> memory_;
  size_t tiles_ = 0;  // offset
  std::array<size_t, 2> linear_{};
  std::unique_ptr<PinnedMemory> results_;
  std::array<Input, kInputs> inputs_;
  std::array<std::unique_ptr<Event>, kSlots> sent_, worked_;
  std::unique_ptr<Queue> compute_, copy_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) { return GpuRunner::create(setup); }

}  // namespace ssimulacra2
}  // namespace acuity
