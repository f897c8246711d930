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
constexpr int kFarReach = 80;            // rows of the bands above that a ring of two bands holds
constexpr int kNearReach = 64;           // and one of one band
constexpr int kHalfBehind = 16;          // rows that the half resolution waits for longer than it must
constexpr int kManyGroups = 200;         // more hardly find room on the largest devices at once
constexpr size_t kDeviceAlignment = 256;
constexpr int64_t kMostFloats = int64_t{1} << 31;  // elements are numbered in 31 bits

// The planes of a resolution, and which come first. Those that go from the early to the late stages hold two bands, so
// that these can work at the same time, the others one.
enum LongPlane {
  kXyb = 0,  // of both pictures; the middle band in its place later
  kLowDifference = 6,
  kLongPlanes = 7,
};
enum ShortPlane {
  kXybRows = 0,
  kHigh = 6,
  kBlurredActivity = kHigh,  // written when the high bands have been split
  kMiddleDifference = 10,
  kMalta = 11,
  kActivity = 17,
  kDifference = 19,
  kShortPlanes = 20,
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

using Events = std::array<std::unique_ptr<Event>, kSlots>;

struct Ring {
  int rows = 0;
  size_t planes = 0;  // an offset
  int slot(int y) const { return (y + rows) % rows; }
};

// One resolution's place on the device.
struct LevelPlan {
  Size size;
  Ring far, near;  // of planes of two bands, and of one
  int stride = 0;
  int map_stride = 0;
  size_t numbers = 0;  // an offset
  std::unique_ptr<DeviceMemory> map;
  std::unique_ptr<DeviceMemory> low_bands;  // of a prepared reference, 3 x height x width
  // A band is made into XYB, each picture on a queue of its own, while that before it is at the other early stages and
  // the one before that at the late ones.
  std::array<std::unique_ptr<Queue>, 2> first;
  std::unique_ptr<Queue> early, late;
  std::array<Events, 2> first_done;
  Events early_done, late_done;

  int wide_groups() const { return groups(size.width, COLUMN_UNIT); }
  int narrow_groups() const { return groups(size.width, 32); }
  size_t pixels() const { return static_cast<size_t>(size.width) * static_cast<size_t>(size.height); }
  size_t plane_floats(const Ring& ring) const { return static_cast<size_t>(ring.rows) * static_cast<size_t>(stride); }
  // Of column 0 of a plane's first row, in bytes.
  size_t offset(const Ring& ring, int plane) const {
    return (static_cast<size_t>(plane) * plane_floats(ring) + MARGIN) * sizeof(float);
  }
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
    if (std::max(int64_t{6} * full.far.rows * full.stride, int64_t{3} * setup.width * setup.height) >= kMostFloats) {
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
      for (Queue* queue : {plan.first[0].get(), plan.first[1].get(), plan.early.get(), plan.late.get()}) {
        if (queue != nullptr) static_cast<void>(queue->wait());
      }
    }
  }

  size_t working_bytes() const override {
    size_t bytes = memory_->size() + results_->size();
    for (const LevelPlan& plan : plans_) bytes += plan.map->size() + (plan.low_bands ? plan.low_bands->size() : 0);
    if (remembered_) bytes += remembered_->size();
    if (map_rows_) bytes += map_rows_->size();
    for (const Upload& upload : uploads_) bytes += upload.bytes();
    return bytes;
  }

  // The reference's samples stay on the device, and its low bands. What else depends on it alone would take more memory
  // than the rest of the work.
  Status prepare(const Light& reference) override {
    for (LevelPlan& plan : plans_) {
      if (plan.low_bands) continue;
      ACUITY_TRY_ASSIGN(plan.low_bands, setup_.device->allocate(3 * plan.pixels() * sizeof(float)));
    }
    ACUITY_TRY(uploads_[kPrepared].begin(*copy_, *reference.rows, setup_.height, 1));
    ACUITY_TRY_ASSIGN(prepared_, uploads_[kPrepared].send(*copy_, *reference.rows, 0, setup_.height, 0));
    ACUITY_TRY(copy_->wait());
    const Light kept{nullptr, reference.nits};
    ACUITY_TRY(run_bands(WORK_PREPARE, {&kept, nullptr}));
    for (const LevelPlan& plan : plans_) ACUITY_TRY(plan.early->wait());
    return {};
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
    ACUITY_TRY(run_bands(reference.rows != nullptr ? WORK_PAIR : WORK_PREPARED, pictures));
    Queue& queue = *plans_[0].late;
    if (plans_.size() > 1) {
      const int last_band = groups(setup_.height, band_rows_) - 1;
      ACUITY_TRY(queue.wait_for(*plans_[1].late_done[static_cast<size_t>(last_band % kSlots)]));
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
    const int rows = round_to(size.height, kRowUnit), band = round_to(band_rows, kRowUnit);
    plan.far.rows = std::min(rows, 2 * band) + kFarReach;
    plan.near.rows = std::min(rows, band) + kNearReach;
    plan.stride = kernels::stride_of(size.width);
    plan.map_stride = round_to(size.width, COLUMN_UNIT);
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
      plan.far.planes = place(kLongPlanes * plan.plane_floats(plan.far));
      plan.near.planes = place(kShortPlanes * plan.plane_floats(plan.near));
      ACUITY_TRY_ASSIGN(plan.map, setup_.device->allocate(plan.map_floats() * sizeof(float)));
      ACUITY_TRY_ASSIGN(plan.first[0], setup_.device->create_queue());
      ACUITY_TRY_ASSIGN(plan.first[1], setup_.device->create_queue());
      ACUITY_TRY_ASSIGN(plan.early, setup_.device->create_queue());
      ACUITY_TRY_ASSIGN(plan.late, setup_.device->create_queue());
      for (Events* events : {&plan.first_done[0], &plan.first_done[1], &plan.early_done, &plan.late_done}) {
        ACUITY_TRY(create_events(*events));
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
    for (Events& events : sent_) ACUITY_TRY(create_events(events));
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

  Status create_events(Events& events) {
    for (std::unique_ptr<Event>& event : events) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
    return {};
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }
  // Column 0 of a plane's first row.
  template <typename T>
  DeviceArray<T> plane(const LevelPlan& plan, LongPlane number) const {
    return array<T>(plan.far.planes + plan.offset(plan.far, number));
  }
  template <typename T>
  DeviceArray<T> plane(const LevelPlan& plan, ShortPlane number) const {
    return array<T>(plan.near.planes + plan.offset(plan.near, number));
  }
  template <typename T>
  DeviceArray<T> low_bands(const LevelPlan& plan) const {
    return {plan.low_bands ? plan.low_bands->address() : 0};
  }

  Status run_bands(int work, const std::array<const Light*, 2>& pictures) {
    int band = 0;
    for (int y = 0; y < setup_.height; y += band_rows_, ++band) {
      const int y_end = std::min(y + band_rows_, setup_.height);
      ACUITY_TRY(run_band(work, plans_[0], pictures, y, y_end, band));
      if (plans_.size() == 1) continue;
      const auto half_rows = [&](int rows) {
        return rows == setup_.height ? plans_[1].size.height : std::max(0, rows / 2 - kHalfBehind);
      };
      ACUITY_TRY(run_band(work, plans_[1], pictures, half_rows(y), half_rows(y_end), band));
    }
    return {};
  }

  // What can be made of a resolution when its light has grown from `before` rows to `after`. An event of the band
  // before the last one says that its places are free again.
  Status run_band(int work, LevelPlan& plan, const std::array<const Light*, 2>& pictures, int before, int after,
                  int band) {
    const size_t slot = static_cast<size_t>(band % kSlots);
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      Queue& queue = *plan.first[i];
      if (band >= kSlots) ACUITY_TRY(queue.wait_for(*plan.late_done[slot]));
      SentPixels pixels;
      if (&plan == &plans_[0]) {
        ACUITY_TRY_ASSIGN(pixels, send(*pictures[i], i, before, after, band));
        if (plans_.size() > 1 && band >= kSlots) ACUITY_TRY(queue.wait_for(*plans_[1].first_done[i][slot]));
      } else {
        ACUITY_TRY(queue.wait_for(*plans_[0].first_done[i][slot]));
        pixels = halved_pixels(i, before);
      }
      ACUITY_TRY(make_xyb(work, plan, pixels, i, pictures[i]->nits, before, after));
      ACUITY_TRY(queue.signal(*plan.first_done[i][slot]));
      ACUITY_TRY(plan.early->wait_for(*plan.first_done[i][slot]));
    }
    ACUITY_TRY(split_low(work, plan, before, after));
    if (work == WORK_PREPARE) return plan.early->signal(*plan.late_done[slot]);
    ACUITY_TRY(plan.early->signal(*plan.early_done[slot]));
    ACUITY_TRY(plan.late->wait_for(*plan.early_done[slot]));
    ACUITY_TRY(compare(plan, before, after));
    return plan.late->signal(*plan.late_done[slot]);
  }

  // Sends rows of a picture that are not on the device already, and tells where they are.
  Result<SentPixels> send(const Light& light, size_t picture, int y, int y_end, int band) {
    if (light.rows == nullptr) return prepared_;
    const size_t slot = static_cast<size_t>(band % kSlots);
    if (band >= kSlots) ACUITY_TRY(copy_->wait_for(*plans_[0].first_done[picture][slot]));
    SentPixels sent;
    ACUITY_TRY_ASSIGN(
        sent, uploads_[picture].send(*copy_, *light.rows, std::max(0, y - kLightReach), y_end, static_cast<int>(slot)));
    ACUITY_TRY(copy_->signal(*sent_[picture][slot]));
    ACUITY_TRY(plans_[0].first[picture]->wait_for(*sent_[picture][slot]));
    return sent;
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

  Status make_xyb(int work, const LevelPlan& plan, const SentPixels& from, size_t picture, float nits, int before,
                  int after) {
    const bool halves = &plan == &plans_[0] && plans_.size() > 1;
    const bool less_low = work == WORK_PREPARED && picture == kReference;
    return launch(*plan.first[picture], kernels::make_xyb, plan, plan.narrow_groups(), 32,
                  plan.rows(kXybStage, before, after), plan.far, from.samples, from.table, low_bands<const float>(plan),
                  plane<float>(plan, static_cast<LongPlane>(kXyb + 3 * static_cast<int>(picture))),
                  array<float>(halves ? halved_light_of(picture) : 0), from.form + (less_low ? LESS_LOW : 0),
                  from.extent, from.y_first, halves ? halved_ring_ : 0, nits);
  }

  // The rows of a stage: a kernel whose groups go `walk` rows down, and whose last arguments are those of all stages,
  // the ring last.
  template <typename... Parameters, typename... Arguments>
  Status launch(Queue& queue, const Kernel<Parameters...>& kernel, const LevelPlan& plan, int groups_across, int walk,
                const RowRange& rows, const Ring& ring, const Arguments&... arguments) const {
    if (rows.empty()) return {};
    return queue.run(kernel, groups_across, groups(rows.count(), walk), arguments..., plan.size.width, plan.size.height,
                     rows.begin, rows.end, ring.slot(rows.begin), ring.rows);
  }

  // How far the groups of a stage walk: `most` rows, or less where there would be too few groups for a large device.
  static int walk_of(int groups_across, const RowRange& rows, int most, int least) {
    int walk = most;
    while (walk > least && groups_across * groups(rows.count(), walk) < kManyGroups) walk /= 2;
    return walk;
  }

  // From XYB to the middle bands.
  Status split_low(int work, const LevelPlan& plan, int before, int after) {
    const auto numbers = array<const float>(plan.numbers);
    const int together = work == WORK_PAIR ? 1 : 2;  // rows, or walks, of a group
    const RowRange blurred = plan.rows(kXybRowsStage, before, after), rows = plan.rows(kLowStage, before, after);
    ACUITY_TRY(launch(*plan.early, kernels::blur_low_rows, plan, plan.wide_groups(), together, blurred, plan.near,
                      plane<const Four>(plan, kXyb), plane<Four>(plan, kXybRows), numbers, work,
                      plan.far.slot(blurred.begin), plan.far.rows));
    const int walk = walk_of(plan.narrow_groups(), rows, 64 * together, 32 * together) / together;
    return launch(*plan.early, kernels::split_low, plan, plan.narrow_groups(), together * walk, rows, plan.far,
                  plane<const float>(plan, kXybRows), plane<float>(plan, kXyb), plane<float>(plan, kLowDifference),
                  low_bands<float>(plan), numbers, parameters_.xmul, work, walk, plan.near.slot(rows.begin),
                  plan.near.rows);
  }

  // From the middle bands to the map.
  Status compare(const LevelPlan& plan, int before, int after) {
    const auto numbers = array<const float>(plan.numbers);
    Queue& queue = *plan.late;
    const int wide = plan.wide_groups();
    const RowRange middle = plan.rows(kMiddleStage, before, after), high = plan.rows(kHighStage, before, after),
                   activity = plan.rows(kActivityStage, before, after), map = plan.rows(kMapStage, before, after);
    const int middle_walk = walk_of(wide, middle, 32, 8), high_walk = walk_of(wide, high, 16, 8),
              activity_walk = walk_of(wide, activity, 16, 8);
    ACUITY_TRY(launch(queue, compare_kernels::split_middle_band, plan, wide, middle_walk, middle, plan.far,
                      plane<const Four>(plan, kXyb), plane<Four>(plan, kHigh), plane<Four>(plan, kMiddleDifference),
                      plane<Four>(plan, kMalta), numbers, parameters_.xmul, middle_walk, plan.near.slot(middle.begin),
                      plan.near.rows));
    ACUITY_TRY(launch(queue, compare_kernels::split_high, plan, wide, high_walk, high, plan.near,
                      plane<const Four>(plan, kHigh), plane<const Four>(plan, kMiddleDifference),
                      plane<Four>(plan, kActivity), plane<Four>(plan, kDifference), plane<Four>(plan, kMalta), numbers,
                      parameters_.xmul, high_walk));
    ACUITY_TRY(launch(queue, compare_kernels::blur_activity, plan, wide, activity_walk, activity, plan.near,
                      plane<const Four>(plan, kActivity), plane<Four>(plan, kBlurredActivity), numbers, activity_walk));
    return launch(queue, compare_kernels::combine, plan, wide, 4 * COMBINE_ROWS, map, plan.near,
                  plane<const Four>(plan, kMalta), plane<const Four>(plan, kBlurredActivity),
                  plane<const Four>(plan, kDifference), plane<const Four>(plan, kLowDifference),
                  DeviceArray<Four>{plan.map->address()}, parameters_.xmul, plan.map_stride, plan.far.slot(map.begin),
                  plan.far.rows);
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
  std::array<Events, 2> sent_;
  std::unique_ptr<Queue> copy_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Parameters& parameters, float p) {
  return GpuRunner::create(setup, parameters, p);
}

}  // namespace butteraugli
}  // namespace acuity
