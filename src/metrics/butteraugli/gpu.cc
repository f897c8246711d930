// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on a GPU, whichever: the launches. Pixels go up in bands of rows on a queue of their own while the bands
// before them are worked on; the half resolution follows on queues of its own.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/butteraugli/runner.h"
#include "metrics/tiles.h"
#include "metrics/upload.h"

namespace acuity {

extern const KernelFile butteraugli_kernels;
extern const KernelFile butteraugli_compare_kernels;

namespace butteraugli {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &butteraugli_kernels;
#include "metrics/butteraugli/kernels.h"

}  // namespace kernels

namespace compare_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &butteraugli_compare_kernels;
#include "metrics/butteraugli/compare_kernels.h"

}  // namespace compare_kernels

namespace {

using Four = kernel_dialect::real4;

constexpr int kBandRows = 256;
constexpr int kBandUnit = 64;            // bands are multiples of this
constexpr int kRowUnit = 16;             // and rings of this, as the kernels want them
constexpr int kOneBandPixels = 1 << 20;  // pictures up to this size are one band
constexpr int kSlots = 2;                // bands of pixels on the device: one being worked on, one on its way
constexpr int kLightReach = 4;           // rows of light of the band above that are looked at again
constexpr int kRingReach = 80;           // rows of the bands above that a ring holds
constexpr int kMargin = 32;              // columns of zeros on either side of a row
constexpr int kColumnUnit = 128;         // a row has room for a multiple of this
constexpr int kHalfBehind = 16;          // rows that the half resolution waits for longer than it must
constexpr size_t kDeviceAlignment = 256;
constexpr int64_t kMostFloats = int64_t{1} << 31;  // elements are numbered in 31 bits

// The planes of a resolution, a ring each, and which come first.
enum Plane {
  kXyb = 0,  // of both pictures; the middle band in its place later
  kXybRows = 6,
  kHigh = 12,
  kMiddleDifference = 16,
  kMalta = 19,
  kActivity = 25,
  kBlurredActivity = 27,
  kLowDifference = 29,
  kDifference = 30,
  kPlaneCount = 31,
};

int round_to(int count, int unit) { return (count + unit - 1) / unit * unit; }
int groups(int count, int of) { return (count + of - 1) / of; }

struct RowRange {
  int begin = 0;
  int end = 0;
  int count() const { return end - begin; }
  bool empty() const { return end <= begin; }
};

// The rows that a stage makes of a picture: from `first`, `lag` rows behind the light until that is all there, up to
// `beyond` rows behind the last.
struct Stage {
  int first = 0;
  int lag = 0;
  int beyond = 0;
};
constexpr Stage kXybStage{0, 2, 0};
constexpr Stage kXybRowsStage{-16, 2, 16};
constexpr Stage kLowStage{-8, 24, 7};  // 18 would do, but for the whole chunks that the kernel wants
constexpr Stage kMiddleStage{-4, 31, 4};
constexpr Stage kHighStage{-6, 34, 6};
constexpr Stage kActivityStage{0, 40, 0};
constexpr Stage kMapStage{0, 43, 0};

// One resolution's place on the device.
struct LevelPlan {
  Size size;
  int ring = 0;
  int stride = 0;
  int map_stride = 0;
  size_t planes = 0, numbers = 0;  // offsets
  std::unique_ptr<DeviceMemory> map;
  // Bands go through the first stages while those before them go through the last.
  std::unique_ptr<Queue> early, late;
  std::array<std::unique_ptr<Event>, kSlots> early_done, late_done;

  int wide_groups() const { return groups(size.width, kColumnUnit); }
  int narrow_groups() const { return groups(size.width, 32); }
  int slot(int y) const { return (y + ring) % ring; }
  size_t plane_floats() const { return static_cast<size_t>(ring) * static_cast<size_t>(stride); }
  size_t map_floats() const { return static_cast<size_t>(map_stride) * static_cast<size_t>(size.height); }
  // The rows to make when the light has grown from `before` rows to `after`.
  RowRange rows(const Stage& stage, int before, int after) const {
    const bool last = after == size.height;
    return {before == 0 ? stage.first : std::max(stage.first, before - stage.lag),
            last ? size.height + stage.beyond : after - stage.lag};
  }
};

std::vector<float> numbers_of(const Parameters& parameters, Size size) {
  std::vector<float> numbers;
  for (const Weights& weights : {parameters.malta_ultra_x, parameters.malta_ultra_y, parameters.malta_high_x,
                                 parameters.malta_high_y, parameters.pixel_high_x, parameters.pixel_high_y}) {
    numbers.push_back(weights.symmetric);
    numbers.push_back(weights.one_sided);
  }
  for (const Blur blur : {Blur::low, Blur::middle, Blur::high, Blur::mask}) {
    for (const int length : {size.width, size.height}) {
      for (int i = 0; i < length; ++i) numbers.push_back(blur_edge_scale(blur, i, length));
    }
  }
  return numbers;
}

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, const Parameters& parameters, float p) {
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup, parameters, p));
    const LevelPlan& full = runner->plans_[0];
    if (std::max(int64_t{6} * full.ring * full.stride, int64_t{3} * setup.width * setup.height) >= kMostFloats) {
      return Status(StatusCode::too_big, fmt::format("{}x{} pixels are more than the kernels can count; use the "
                                                     "device cpu",
                                                     setup.width, setup.height));
    }
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  ~GpuRunner() override {
    // Nothing may be in flight when the memory goes. A failure has been reported by the call it happened in.
    if (copy_) static_cast<void>(copy_->wait());
    for (const LevelPlan& plan : plans_) {
      if (plan.early) static_cast<void>(plan.early->wait());
      if (plan.late) static_cast<void>(plan.late->wait());
    }
  }

  size_t working_bytes() const override {
    size_t bytes = memory_->size() + results_->size();
    for (const LevelPlan& plan : plans_) bytes += plan.map->size();
    if (remembered_) bytes += remembered_->size();
    if (map_rows_) bytes += map_rows_->size();
    for (const Upload& upload : uploads_) bytes += upload.bytes();
    return bytes;
  }

  // The reference's samples stay on the device.
  Status prepare(const Light& reference) override {
    ACUITY_TRY(uploads_[kPrepared].begin(*copy_, *reference.rows, setup_.height, 1));
    ACUITY_TRY_ASSIGN(prepared_, uploads_[kPrepared].send(*copy_, *reference.rows, 0, setup_.height, 0));
    return copy_->wait();
  }

  void forget() override {}

  Result<Norms> run(const Light& reference, const Light& distorted, const MapRequest& map) override {
    const std::array<const Light*, 2> pictures{&reference, &distorted};
    if (map.remember && !remembered_) {
      ACUITY_TRY_ASSIGN(remembered_, setup_.device->allocate(plans_[0].map->size()));
    }
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i]->rows == nullptr) continue;
      ACUITY_TRY(
          uploads_[i].begin(*copy_, *pictures[i]->rows, std::min(band_rows_ + kLightReach, setup_.height), kSlots));
    }
    int band = 0;
    for (int y = 0; y < setup_.height; y += band_rows_, ++band) {
      ACUITY_TRY(run_band(pictures, y, std::min(y + band_rows_, setup_.height), band));
    }
    Queue& queue = *plans_[0].late;
    if (plans_.size() > 1) {
      ACUITY_TRY(queue.wait_for(*plans_[1].late_done[static_cast<size_t>((band - 1) % kSlots)]));
    }
    ACUITY_TRY(pool(map));
    ACUITY_TRY(queue.download(*results_, 0, *memory_, tiles_, results_->size()));
    if (map.to != nullptr) {
      ACUITY_TRY(reserve_map_rows());
      ACUITY_TRY(queue.download(*map_rows_, 0, *plans_[0].map, 0, map_rows_->size()));
    }
    ACUITY_TRY(queue.wait());
    if (map.to != nullptr) copy_map(map.to);
    if (map.remember) std::swap(remembered_, plans_[0].map);
    const TileNorms* tiles = reinterpret_cast<const TileNorms*>(results_->data());
    return pool_tiles({tiles, tile_count(setup_.width, setup_.height)}, plans_[0].size, p_);
  }

 private:
  enum { kReference, kDistorted, kPrepared };

  GpuRunner(const Metric::Setup& setup, const Parameters& parameters, float p)
      : setup_(setup),
        parameters_(parameters),
        p_(p),
        uploads_{Upload(*setup.device, *setup.threads), Upload(*setup.device, *setup.threads),
                 Upload(*setup.device, *setup.threads)} {
    const bool small = int64_t{setup.width} * setup.height <= kOneBandPixels;
    const int asked = setup.strip_rows > 0 ? std::min(setup.strip_rows, kBandRows) : small ? setup.height : kBandRows;
    band_rows_ = round_to(std::min(asked, setup.height), kBandUnit);
    add_plan({setup.width, setup.height}, band_rows_);
    const Size halved = half(plans_[0].size);
    if (large_enough(halved)) {
      add_plan(halved, band_rows_ / 2 + kHalfBehind);
      halved_ring_ = std::min(round_to(halved.height, kRowUnit), band_rows_ + 2 * kRowUnit);
    }
  }

  void add_plan(Size size, int band_rows) {
    LevelPlan plan;
    plan.size = size;
    plan.ring = std::min(round_to(size.height, kRowUnit), 2 * round_to(band_rows, kRowUnit)) + kRingReach;
    plan.stride = round_to(size.width, kColumnUnit) + 2 * kMargin;
    plan.map_stride = round_to(size.width, kColumnUnit);
    plans_.push_back(std::move(plan));
  }

  Status allocate() {
    size_t bytes = 0;
    const auto place = [&bytes](size_t floats) {
      const size_t at = bytes;
      bytes += round_up(floats * sizeof(float), kDeviceAlignment);
      return at;
    };
    std::vector<float> numbers;
    for (LevelPlan& plan : plans_) {
      const std::vector<float> own = numbers_of(parameters_, plan.size);
      numbers.resize(round_up(numbers.size(), kDeviceAlignment / sizeof(float)));
      plan.numbers = numbers.size() * sizeof(float);
      numbers.insert(numbers.end(), own.begin(), own.end());
    }
    const size_t numbers_at = place(numbers.size());
    for (LevelPlan& plan : plans_) {
      plan.numbers += numbers_at;
      plan.planes = place(kPlaneCount * plan.plane_floats());
      ACUITY_TRY_ASSIGN(plan.map, setup_.device->allocate(plan.map_floats() * sizeof(float)));
      ACUITY_TRY_ASSIGN(plan.early, setup_.device->create_queue());
      ACUITY_TRY_ASSIGN(plan.late, setup_.device->create_queue());
      for (size_t slot = 0; slot < kSlots; ++slot) {
        ACUITY_TRY_ASSIGN(plan.early_done[slot], setup_.device->create_event());
        ACUITY_TRY_ASSIGN(plan.late_done[slot], setup_.device->create_event());
      }
    }
    if (plans_.size() > 1) {
      halved_light_ = place(6 * static_cast<size_t>(halved_ring_) * static_cast<size_t>(plans_[1].size.width));
    }
    const size_t tile_bytes = tile_count(setup_.width, setup_.height) * sizeof(TileNorms);
    tiles_ = place(tile_bytes / sizeof(float));
    ACUITY_TRY_ASSIGN(memory_, setup_.device->allocate(bytes));
    ACUITY_TRY_ASSIGN(results_, setup_.device->allocate_pinned(tile_bytes));
    ACUITY_TRY_ASSIGN(copy_, setup_.device->create_queue());
    for (std::unique_ptr<Event>* event :
         {&sent_[0], &sent_[1], &worked_[0], &worked_[1], &half_used_[0], &half_used_[1]}) {
      ACUITY_TRY_ASSIGN(*event, setup_.device->create_event());
    }
    for (const KernelInfo& kernel : std::initializer_list<KernelInfo>{
             kernels::make_xyb, kernels::blur_low_rows, kernels::split_low, compare_kernels::split_middle_band,
             compare_kernels::split_high, compare_kernels::blur_activity, compare_kernels::combine,
             compare_kernels::pool}) {
      ACUITY_TRY(setup_.device->prepare(kernel));
    }
    // The columns beside the picture are never written again.
    ACUITY_TRY(copy_->clear(*memory_, 0, memory_->size()));
    std::unique_ptr<PinnedMemory> staging;
    ACUITY_TRY_ASSIGN(staging, setup_.device->allocate_pinned(numbers.size() * sizeof(float)));
    std::memcpy(staging->data(), numbers.data(), staging->size());
    ACUITY_TRY(copy_->upload(*memory_, numbers_at, *staging, 0, staging->size()));
    return copy_->wait();
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }
  // Column 0 of a plane's first row.
  template <typename T>
  DeviceArray<T> plane(const LevelPlan& plan, int number) const {
    return array<T>(plan.planes + (static_cast<size_t>(number) * plan.plane_floats() + kMargin) * sizeof(float));
  }

  // Sends what is not on the device already, and tells where both pictures are.
  Result<std::array<SentPixels, 2>> send_band(const std::array<const Light*, 2>& pictures, int y, int y_end, int band) {
    const size_t slot = static_cast<size_t>(band % kSlots);
    if (band >= kSlots) ACUITY_TRY(copy_->wait_for(*worked_[slot]));
    std::array<SentPixels, 2> sent{prepared_, prepared_};
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i]->rows == nullptr) continue;
      ACUITY_TRY_ASSIGN(sent[i], uploads_[i].send(*copy_, *pictures[i]->rows, std::max(0, y - kLightReach), y_end,
                                                  static_cast<int>(slot)));
    }
    ACUITY_TRY(copy_->signal(*sent_[slot]));
    ACUITY_TRY(plans_[0].early->wait_for(*sent_[slot]));
    return sent;
  }

  // What can be made once rows y .. y_end - 1 of both pictures are there.
  Status run_band(const std::array<const Light*, 2>& pictures, int y, int y_end, int band) {
    const size_t slot = static_cast<size_t>(band % kSlots);
    LevelPlan& full = plans_[0];
    std::array<SentPixels, 2> sent;
    ACUITY_TRY_ASSIGN(sent, send_band(pictures, y, y_end, band));
    const bool halves = plans_.size() > 1;
    if (halves && band >= kSlots) ACUITY_TRY(full.early->wait_for(*half_used_[slot]));
    ACUITY_TRY(begin_early(full, band));
    for (size_t i = 0; i < 2; ++i) ACUITY_TRY(make_xyb(0, sent[i], i, pictures[i]->nits, y, y_end));
    ACUITY_TRY(full.early->signal(*worked_[slot]));
    if (halves) ACUITY_TRY(plans_[1].early->wait_for(*worked_[slot]));
    ACUITY_TRY(finish(full, y, y_end, band));
    if (!halves) return {};
    LevelPlan& halved = plans_[1];
    const auto half_rows = [&](int rows) {
      return rows == setup_.height ? halved.size.height : std::max(0, rows / 2 - kHalfBehind);
    };
    const int before = half_rows(y), after = half_rows(y_end);
    ACUITY_TRY(begin_early(halved, band));
    for (size_t i = 0; i < 2; ++i) {
      ACUITY_TRY(make_xyb(1, halved_pixels(i, before), i, pictures[i]->nits, before, after));
    }
    ACUITY_TRY(halved.early->signal(*half_used_[slot]));
    return finish(halved, before, after, band);
  }

  // Rings have room for two bands.
  Status begin_early(LevelPlan& plan, int band) {
    return band >= kSlots ? plan.early->wait_for(*plan.late_done[static_cast<size_t>(band % kSlots)]) : Status();
  }

  // All stages but the first.
  Status finish(LevelPlan& plan, int before, int after, int band) {
    const size_t slot = static_cast<size_t>(band % kSlots);
    ACUITY_TRY(split_low(plan, before, after));
    ACUITY_TRY(plan.early->signal(*plan.early_done[slot]));
    ACUITY_TRY(plan.late->wait_for(*plan.early_done[slot]));
    ACUITY_TRY(compare(plan, before, after));
    return plan.late->signal(*plan.late_done[slot]);
  }

  size_t halved_light_of(size_t picture) const {
    return halved_light_ +
           picture * 3 * static_cast<size_t>(halved_ring_) * static_cast<size_t>(plans_[1].size.width) * sizeof(float);
  }
  // As the kernel is told of them that has rows of light up to `before` behind it.
  SentPixels halved_pixels(size_t picture, int before) const {
    return {.samples = array<const unsigned char>(halved_light_of(picture)),
            .table = {},
            .form = FORM_PLANES,
            .extent = halved_ring_ * plans_[1].size.width,
            .y_first = std::max(0, before - kLightReach) / halved_ring_ * halved_ring_};
  }

  Status make_xyb(size_t level, const SentPixels& from, size_t picture, float nits, int before, int after) {
    const LevelPlan& plan = plans_[level];
    const bool halves = level == 0 && plans_.size() > 1;
    return launch(*plan.early, kernels::make_xyb, plan, plan.narrow_groups(), 32, plan.rows(kXybStage, before, after),
                  from.samples, from.table, plane<float>(plan, kXyb + 3 * static_cast<int>(picture)),
                  array<float>(halves ? halved_light_of(picture) : 0), from.form, from.extent, from.y_first,
                  halves ? halved_ring_ : 0, nits);
  }

  // The rows of a stage: a kernel whose groups go `walk` rows down, and whose last arguments are those of all stages.
  template <typename... Parameters, typename... Arguments>
  Status launch(Queue& queue, const Kernel<Parameters...>& kernel, const LevelPlan& plan, int groups_across, int walk,
                const RowRange& rows, const Arguments&... arguments) const {
    if (rows.empty()) return {};
    return queue.run(kernel, groups_across, groups(rows.count(), walk), arguments..., plan.size.width, plan.size.height,
                     rows.begin, rows.end, plan.slot(rows.begin), plan.ring, plan.stride);
  }

  // From XYB to the middle bands.
  Status split_low(const LevelPlan& plan, int before, int after) {
    const auto numbers = array<const float>(plan.numbers);
    ACUITY_TRY(launch(*plan.early, kernels::blur_low_rows, plan, plan.wide_groups(), 1,
                      plan.rows(kXybRowsStage, before, after), plane<const Four>(plan, kXyb),
                      plane<Four>(plan, kXybRows), numbers));
    return launch(*plan.early, kernels::split_low, plan, plan.narrow_groups(), LOW_WALK,
                  plan.rows(kLowStage, before, after), plane<const float>(plan, kXybRows), plane<float>(plan, kXyb),
                  plane<float>(plan, kLowDifference), numbers, parameters_.xmul);
  }

  // From the middle bands to the map.
  Status compare(const LevelPlan& plan, int before, int after) {
    const auto numbers = array<const float>(plan.numbers);
    Queue& queue = *plan.late;
    const int wide = plan.wide_groups();
    ACUITY_TRY(launch(queue, compare_kernels::split_middle_band, plan, wide, MIDDLE_WALK,
                      plan.rows(kMiddleStage, before, after), plane<const Four>(plan, kXyb), plane<Four>(plan, kHigh),
                      plane<Four>(plan, kMiddleDifference), plane<Four>(plan, kMalta), numbers));
    ACUITY_TRY(launch(queue, compare_kernels::split_high, plan, wide, HIGH_WALK, plan.rows(kHighStage, before, after),
                      plane<const Four>(plan, kHigh), plane<const Four>(plan, kMiddleDifference),
                      plane<Four>(plan, kActivity), plane<Four>(plan, kDifference), plane<Four>(plan, kMalta), numbers,
                      parameters_.xmul));
    ACUITY_TRY(launch(queue, compare_kernels::blur_activity, plan, wide, MASK_WALK,
                      plan.rows(kActivityStage, before, after), plane<const Four>(plan, kActivity),
                      plane<Four>(plan, kBlurredActivity), numbers));
    return launch(queue, compare_kernels::combine, plan, wide, 8, plan.rows(kMapStage, before, after),
                  plane<const Four>(plan, kMalta), plane<const Four>(plan, kBlurredActivity),
                  plane<const Four>(plan, kDifference), plane<const Four>(plan, kLowDifference),
                  DeviceArray<Four>{plan.map->address()}, parameters_.xmul, plan.map_stride);
  }

  Status pool(const MapRequest& map) {
    const LevelPlan& plan = plans_[0];
    const bool halves = plans_.size() > 1;
    const DeviceArray<const float> remembered{remembered_ ? remembered_->address() : 0};
    ACUITY_TRY(plan.late->run(
        compare_kernels::pool, groups(plan.size.width, kTileWidth), groups(plan.size.height, kTileHeight),
        DeviceArray<float>{plan.map->address()}, DeviceArray<const float>{halves ? plans_[1].map->address() : 0},
        remembered, array<float>(tiles_), plan.size.width, plan.size.height, plan.map_stride,
        halves ? plans_[1].map_stride : 0, map.at_least_remembered, map.remember || map.to != nullptr || p_ > 0, p_));
    return {};
  }

  Status reserve_map_rows() {
    if (map_rows_) return {};
    ACUITY_TRY_ASSIGN(map_rows_, setup_.device->allocate_pinned(plans_[0].map_floats() * sizeof(float)));
    return {};
  }
  void copy_map(float* to) const {
    const size_t width = static_cast<size_t>(setup_.width);
    for (int y = 0; y < setup_.height; ++y) {
      const float* from = reinterpret_cast<const float*>(map_rows_->data()) +
                          static_cast<ptrdiff_t>(y) * static_cast<ptrdiff_t>(plans_[0].map_stride);
      std::copy(from, from + width, to + static_cast<size_t>(y) * width);
    }
  }

  Metric::Setup setup_;
  Parameters parameters_;
  float p_;
  int band_rows_ = 0;
  std::vector<LevelPlan> plans_;  // the full resolution, and the half where there is one
  int halved_ring_ = 0;           // rows of light of the half resolution
  std::unique_ptr<DeviceMemory> memory_;
  size_t halved_light_ = 0, tiles_ = 0;       // offsets
  std::unique_ptr<DeviceMemory> remembered_;  // a map
  std::unique_ptr<PinnedMemory> results_;
  std::unique_ptr<PinnedMemory> map_rows_;  // on its way to the caller
  std::array<Upload, 3> uploads_;
  SentPixels prepared_;  // all rows of the prepared reference
  std::array<std::unique_ptr<Event>, kSlots> sent_, worked_, half_used_;
  std::unique_ptr<Queue> copy_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Parameters& parameters, float p) {
  return GpuRunner::create(setup, parameters, p);
}

}  // namespace butteraugli
}  // namespace acuity
