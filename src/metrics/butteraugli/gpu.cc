// SPDX-License-Identifier: BSD-2-Clause-Patent
// The launches of Butteraugli. Bands of rows are worked on as they arrive; the half resolution follows on queues of its
// own, and makes the norms with the map of the full one, of which only a part exists at a time unless it is wanted.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "device/pixels/feed.h"
#include "device/recordings.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/butteraugli/gpu_reference.h"
#include "metrics/butteraugli/runner.h"
#include "sums/tiles.h"

namespace acuity {

extern const KernelFile butteraugli_kernels;
extern const KernelFile butteraugli_compare_kernels;
extern const KernelFile butteraugli_map_kernels;

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

namespace map_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &butteraugli_map_kernels;
#include "metrics/butteraugli/map_kernels.h"

}  // namespace map_kernels

namespace {

using Four = kernel_dialect::real4;

constexpr int kBandRows = 256;
constexpr int kBandRowsInSteps = 512;    // where recorded work is done in steps, which then are fewer
constexpr int kBandUnit = 64;            // bands are multiples of this
constexpr int kRowUnit = 16;             // and rings of this, as the kernels want them
constexpr int kOneBandPixels = 1 << 20;  // pictures up to this size are one band
constexpr int kSlots = 2;                // bands in flight at each stage, which take turns in rings and events
constexpr int kLightReach = 4;           // rows of light of the band above that are looked at again
constexpr int kReach = 64;               // rows of the bands above that a ring holds
constexpr int kHalfBehind = 16;          // rows that the half resolution waits for longer than it must
constexpr int kManyGroups = 200;         // more hardly find room on the largest devices at once
constexpr int64_t kMostElements = (int64_t{1} << 31) - 1;

constexpr int kXybPlanes = 6;               // of both pictures
constexpr int kLowDifference = kXybPlanes;  // the plane after them

int round_to(int count, int unit) { return (count + unit - 1) / unit * unit; }

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
constexpr Stage kHalfMapStage{0, 48, 0};  // whole tiles of the full resolution
static_assert((kBandUnit / 2) % (kTileHeight / 2) == 0 && (kHalfBehind + kHalfMapStage.lag) % (kTileHeight / 2) == 0);

using Events = std::array<Event*, kSlots>;

struct Ring {
  int rows = 0;
  size_t planes = 0;  // an offset
  int slot(int y) const { return (y + rows) % rows; }
};

// One resolution's place on the device.
struct ScalePlan {
  Size size;
  bool halved = false;
  // What goes from the early to the late stages holds two bands, so that these can work at the same time: XYB, in its
  // place the middle subbands, and the difference of the low subbands. XYB blurred along rows and the planes of PLANE_*
  // hold one.
  Ring xyb, blurred, compared;
  int stride = 0;
  size_t constants = 0;  // an offset
  // A band is made into XYB, each picture on a queue of its own, while that before it is at the other early stages and
  // the one before that at the late ones.
  std::array<Queue*, 2> first{};
  Queue *early = nullptr, *late = nullptr;
  std::array<Events, 2> first_done{};
  Events early_done{}, late_done{};

  int wide_groups() const { return groups(size.width, COLUMN_UNIT); }
  int narrow_groups() const { return groups(size.width, 32); }
  Stage map_stage() const { return halved ? kHalfMapStage : kMapStage; }
  size_t plane_floats(const Ring& ring) const { return static_cast<size_t>(ring.rows) * static_cast<size_t>(stride); }
  // Of column 0 of a plane's first row, in bytes.
  size_t offset(const Ring& ring, int plane) const {
    return (static_cast<size_t>(plane) * plane_floats(ring) + MARGIN) * sizeof(float);
  }
  // The rows to make when the light has grown from `before` rows to `after`.
  RowRange rows(const Stage& stage, int before, int after) const {
    const bool last = after == size.height;
    return {before == 0 ? stage.first : std::max(stage.first, before - stage.lag),
            last ? size.height + stage.beyond : after - stage.lag};
  }
};

std::vector<float> constants_of(const Parameters& parameters, Size size) {
  std::vector<float> constants;
  for (const Weights& weights : {parameters.malta_ultra_x, parameters.malta_ultra_y, parameters.malta_high_x,
                                 parameters.malta_high_y, parameters.pixel_high_x, parameters.pixel_high_y}) {
    constants.push_back(weights.symmetric);
    constants.push_back(weights.one_sided);
  }
  for (const Blur blur : {Blur::low, Blur::middle, Blur::high, Blur::mask}) {
    for (const int length : {size.width, size.height}) {
      for (int i = 0; i < length; ++i) constants.push_back(blur_edge_scale(blur, i, length));
    }
  }
  return constants;
}

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, const Parameters& parameters, float p) {
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup, parameters, p));
    const ScalePlan& full = runner->plans_[0];
    // The largest array of a prepared reference, of single floats; the workspace checks all else.
    const int64_t elements = int64_t{3} * setup.height * full.stride;
    if (elements > kMostElements) {
      return Status(StatusCode::too_big,
                    fmt::format("{}x{} pixels need an array of {} elements, and the kernels of butteraugli can number "
                                "{}; use the device cpu",
                                setup.width, setup.height, elements, kMostElements));
    }
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override {
    size_t bytes = workspace_.bytes();
    for (const PooledMemory* map : {&map_, &half_map_, &held_map_}) bytes += *map ? (*map)->size() : 0;
    if (map_rows_) bytes += map_rows_->size();
    for (const std::optional<Feed>& feed : feeds_) bytes += feed->bytes();
    return bytes;
  }

  // All that depends on the reference alone stays on the device. Columns beside the picture are zeros, and stay so.
  Result<std::shared_ptr<const PreparedReference>> prepare(const Light& reference) override {
    making_ = std::make_shared<PreparedScales>();
    for (size_t scale = 0; scale < plans_.size(); ++scale) {
      const ScalePlan& plan = plans_[scale];
      const size_t plane_bytes =
          static_cast<size_t>(plan.stride) * static_cast<size_t>(plan.size.height) * sizeof(float);
      const std::string use = fmt::format("butteraugli reference {}x{}", plan.size.width, plan.size.height);
      for (size_t i = 0; i < kPreparedPlanes.size(); ++i) {
        PooledMemory& part = making_->scales[scale][i];
        ACUITY_TRY_ASSIGN(part, setup_.pool->take(kPreparedPlanes[i] * plane_bytes, use));
        if (part.is_used_again()) continue;
        ACUITY_TRY(maker_->clear(*part, 0, part->size()));
        ACUITY_TRY(maker_->wait());  // whatever fails later, the next holder finds it cleared
      }
    }
    prepared_ = making_.get();
    ACUITY_TRY(begin({&reference, nullptr}));
    ACUITY_TRY(submit_bands(WORK_PREPARE, {&reference, nullptr}, false, false));
    for (const ScalePlan& plan : plans_) ACUITY_TRY(plan.late->wait());
    feeds_[0]->note_wait();
    return std::shared_ptr<const PreparedReference>(std::exchange(making_, nullptr));
  }

  Result<Norms> run(const Light& reference, const Light& distorted, const MapRequest& map) override {
    const bool prepared = reference.prepared != nullptr;
    prepared_ = static_cast<const PreparedScales*>(reference.prepared);
    const bool keep = plans_.size() == 1 || map.hold || map.at_least_held || map.to != nullptr || p_ > 0;
    const int work = prepared ? WORK_PREPARED : WORK_PAIR;
    const Pictures pictures{prepared ? nullptr : &reference, &distorted};
    Queue& queue = *plans_.back().late;
    if (keep) ACUITY_TRY(reserve_maps(map));
    ACUITY_TRY(begin(pictures));
    if (keep) {
      ACUITY_TRY(submit_bands(work, pictures, true, false));
      ACUITY_TRY(pool(queue, map));
      ACUITY_TRY(workspace_.fetch_results(queue, tiles_));
    } else {
      ACUITY_TRY(submit_or_replay(work, pictures));
    }
    if (map.to != nullptr) ACUITY_TRY(queue.download(*map_rows_, 0, *map_, 0, map_rows_->size()));
    ACUITY_TRY(queue.wait());
    if (!prepared) feeds_[0]->note_wait();
    feeds_[1]->note_wait();
    if (map.to != nullptr) copy_map(map.to);
    if (map.hold) std::swap(held_map_, map_);
    const TileNorms* tiles = reinterpret_cast<const TileNorms*>(workspace_.results().data());
    return pool_tiles({tiles, tile_count(setup_.width, setup_.height)}, plans_[0].size, p_);
  }

 private:
  GpuRunner(const Metric::Setup& setup, const Parameters& parameters, float p)
      : setup_(setup), parameters_(parameters), p_(p), workspace_(setup.pool) {
    const bool small = int64_t{setup.width} * setup.height <= kOneBandPixels;
    const int most = replays_in_steps(setup.pool->device().info().backend) ? kBandRowsInSteps : kBandRows;
    const int asked = setup.strip_rows > 0 ? std::min(setup.strip_rows, most) : small ? setup.height : most;
    band_rows_ = round_to(std::min(asked, setup.height), kBandUnit);
    add_plan({setup.width, setup.height}, band_rows_);
    const Size halved = half(plans_[0].size);
    if (large_enough(halved)) {
      add_plan(halved, band_rows_ / 2 + kHalfBehind);
      plans_[1].halved = true;
      halved_ring_ = std::min(round_to(halved.height, kRowUnit), band_rows_ + 2 * kRowUnit);
      const int behind = 2 * (kHalfBehind + kHalfMapStage.lag);
      map_ring_rows_ = std::min(round_to(setup.height, kTileHeight), 2 * band_rows_ + behind);
    }
  }

  void add_plan(Size size, int band_rows) {
    ScalePlan plan;
    plan.size = size;
    const int rows = round_to(size.height, kRowUnit), band = round_to(band_rows, kRowUnit);
    plan.xyb.rows = std::min(rows, 2 * band) + kReach;
    plan.blurred.rows = plan.compared.rows = std::min(rows, band) + kReach;
    plan.stride = kernels::stride_of(size.width);
    plans_.push_back(std::move(plan));
  }

  Status allocate() {
    MemoryLayout layout;
    std::vector<float> constants;
    for (ScalePlan& plan : plans_) {
      const std::vector<float> own = constants_of(parameters_, plan.size);
      constants.resize(round_up(constants.size(), 64));  // where every kernel can read them
      plan.constants = constants.size() * sizeof(float);
      constants.insert(constants.end(), own.begin(), own.end());
    }
    const size_t constants_at = layout.place(constants.size());
    for (ScalePlan& plan : plans_) {
      plan.constants += constants_at;
      plan.xyb.planes = layout.place((kXybPlanes + 1) * plan.plane_floats(plan.xyb));
      plan.blurred.planes = layout.place(kXybPlanes * plan.plane_floats(plan.blurred));
      plan.compared.planes = layout.place(LATE_PLANES * plan.plane_floats(plan.compared));
      for (Queue** queue : {&plan.first[0], &plan.first[1], &plan.early, &plan.late}) {
        ACUITY_TRY_ASSIGN(*queue, workspace_.create_queue());
      }
      for (Events* events : {&plan.first_done[0], &plan.first_done[1], &plan.early_done, &plan.late_done}) {
        ACUITY_TRY(workspace_.create_events(*events));
      }
    }
    if (plans_.size() > 1) {
      const Size size = plans_[1].size;
      halved_light_ = layout.place(6 * static_cast<size_t>(halved_ring_) * static_cast<size_t>(size.width));
      map_ring_ = layout.place(map_bytes({setup_.width, map_ring_rows_}) / sizeof(float));
    }
    const size_t tile_bytes = tile_count(setup_.width, setup_.height) * sizeof(TileNorms);
    tiles_ = layout.place(tile_bytes / sizeof(float));
    ACUITY_TRY(workspace_.allocate(layout, tile_bytes, "butteraugli"));
    ACUITY_TRY(workspace_.prepare({kernels::make_xyb, kernels::blur_low_rows, kernels::split_low,
                                   compare_kernels::split_middle_pair, compare_kernels::split_high_pair,
                                   compare_kernels::blur_activity, map_kernels::combine}));
    ACUITY_TRY_ASSIGN(maker_, workspace_.create_queue());
    ACUITY_TRY_ASSIGN(begun_, workspace_.create_event());
    const int rows = std::min(band_rows_ + kLightReach, setup_.height);
    for (std::optional<Feed>& feed : feeds_) {
      ACUITY_TRY_ASSIGN(feed, Feed::create(workspace_, *maker_, setup_.senders(), rows));
    }
    // The columns beside the picture are never written again.
    ACUITY_TRY(maker_->clear(workspace_.memory(), 0, workspace_.memory().size()));
    return workspace_.send(*maker_, constants_at, constants);
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return workspace_.array<T>(offset);
  }
  // Column 0 of a plane's first row.
  template <typename T>
  DeviceArray<T> plane(const ScalePlan& plan, const Ring& ring, int number = 0) const {
    return array<T>(ring.planes + plan.offset(ring, number));
  }
  // The same of what is prepared.
  template <typename T>
  DeviceArray<T> prepared(const ScalePlan& plan, PreparedPart part) const {
    if (prepared_ == nullptr) return {};
    return {prepared_->scales[plan.halved ? 1 : 0][part]->address() + MARGIN * sizeof(float)};
  }

  using Pictures = std::array<const Light*, 2>;  // one of them may be null

  // The pictures are sent.
  Status begin(const Pictures& pictures) {
    std::vector<Feed*> feeds;
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      DevicePicture picture;
      ACUITY_TRY_ASSIGN(picture, device_picture(pictures[i]->rows->input, pictures[i]->rows->rows, setup_.pool));
      ACUITY_TRY(feeds_[i]->begin(picture));
      feeds.push_back(&*feeds_[i]);
    }
    // By way of the queue that replays what is recorded, so that a replay of small pictures waits for no other.
    return Feed::send(feeds, std::vector(feeds.size(), plans_.back().late), SendOrder::together);
  }

  // All of a score whose maps nobody wants.
  Status submit_or_replay(int work, const Pictures& pictures) {
    Queue& queue = *plans_.back().late;
    const auto submit = [&](bool recorded) -> Status {
      if (recorded) ACUITY_TRY(begin_recording(queue, pictures));
      ACUITY_TRY(submit_bands(work, pictures, false, recorded));
      return workspace_.fetch_results(queue, tiles_);
    };
    Key key{.work = work};
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      if (!feeds_[i]->may_be_recorded()) return submit(false);
      key.pictures[i] = feeds_[i]->key();
      key.nits[i] = pictures[i]->nits;
    }
    if (prepared_ != nullptr) key.prepared = prepared_->numbers();
    return recordings_.run(setup_.pool->device(), queue, key, submit);
  }

  // What comes first in other queues waits for `queue`, as recording wants it.
  Status begin_recording(Queue& queue, const Pictures& pictures) {
    ACUITY_TRY(queue.signal(*begun_));
    bool makes_pixels = false;
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      makes_pixels = makes_pixels || feeds_[i]->makes_pixels();
      ACUITY_TRY(plans_[0].first[i]->wait_for(*begun_));
    }
    return makes_pixels ? maker_->wait_for(*begun_) : Status();
  }

  // The half resolution's part of a band comes last: with the full one's map it makes the norms, unless the maps are
  // kept for that.
  Status submit_bands(int work, const Pictures& pictures, bool keep, bool recorded) {
    for (std::optional<Feed>& feed : feeds_) feed->rewind();
    int band = 0;
    for (int y = 0; y < setup_.height; y += band_rows_, ++band) {
      const int y_end = std::min(y + band_rows_, setup_.height);
      const size_t slot = static_cast<size_t>(band % kSlots);
      ScalePlan& full = plans_[0];
      ACUITY_TRY(run_band(work, full, pictures, y, y_end, band, recorded));
      if (plans_.size() > 1 && band >= kSlots) ACUITY_TRY(full.late->wait_for(*plans_[1].late_done[slot]));
      ACUITY_TRY(finish_band(work, full, y, y_end, band, keep));
      if (plans_.size() == 1) continue;
      ScalePlan& halved = plans_[1];
      const auto half_rows = [&](int rows) {
        return rows == setup_.height ? halved.size.height : std::max(0, rows / 2 - kHalfBehind);
      };
      ACUITY_TRY(run_band(work, halved, pictures, half_rows(y), half_rows(y_end), band, recorded));
      ACUITY_TRY(halved.late->wait_for(*full.late_done[slot]));
      ACUITY_TRY(finish_band(work, halved, half_rows(y), half_rows(y_end), band, keep));
    }
    return {};
  }

  // What can be made of a resolution, but for the map, when its light has grown from `before` rows to `after`. An event
  // of the band before the last one says that its places are free again.
  Status run_band(int work, ScalePlan& plan, const Pictures& pictures, int before, int after, int band, bool recorded) {
    const size_t slot = static_cast<size_t>(band % kSlots);
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] == nullptr) continue;
      Queue& queue = *plan.first[i];
      if (band >= kSlots) ACUITY_TRY(queue.wait_for(*plan.late_done[slot]));
      SentPixels pixels;
      if (!plan.halved) {
        ACUITY_TRY_ASSIGN(pixels, feeds_[i]->take(queue, std::max(0, before - kLightReach), after, recorded));
        if (plans_.size() > 1 && band >= kSlots) ACUITY_TRY(queue.wait_for(*plans_[1].first_done[i][slot]));
      } else {
        ACUITY_TRY(queue.wait_for(*plans_[0].first_done[i][slot]));
        pixels = halved_pixels(i, before);
      }
      ACUITY_TRY(make_xyb(plan, pixels, i, pictures[i]->nits, before, after));
      if (!plan.halved) ACUITY_TRY(feeds_[i]->release(queue));
      ACUITY_TRY(queue.signal(*plan.first_done[i][slot]));
      ACUITY_TRY(plan.early->wait_for(*plan.first_done[i][slot]));
    }
    ACUITY_TRY(split_low(work, plan, before, after));
    ACUITY_TRY(plan.early->signal(*plan.early_done[slot]));
    ACUITY_TRY(plan.late->wait_for(*plan.early_done[slot]));
    return compare(work, plan, before, after);
  }

  Status finish_band(int work, ScalePlan& plan, int before, int after, int band, bool keep) {
    ACUITY_TRY(work == WORK_PREPARE ? prepare_gains(plan, before, after) : make_map(work, plan, before, after, keep));
    return plan.late->signal(*plan.late_done[static_cast<size_t>(band % kSlots)]);
  }

  size_t halved_light_of(size_t picture) const {
    return halved_light_ +
           picture * 3 * static_cast<size_t>(halved_ring_) * static_cast<size_t>(plans_[1].size.width) * sizeof(float);
  }
  // As the kernel is told of them that has rows of light up to `before` behind it.
  SentPixels halved_pixels(size_t picture, int before) const {
    return {.samples = array<const unsigned char>(halved_light_of(picture)),
            .table = {},
            .format = FORMAT_PLANES,
            .table_last = 0,
            .plane_stride = halved_ring_ * plans_[1].size.width,
            .y_first = std::max(0, before - kLightReach) / halved_ring_ * halved_ring_};
  }

  Status make_xyb(const ScalePlan& plan, const SentPixels& from, size_t picture, float nits, int before, int after) {
    const bool halves = !plan.halved && plans_.size() > 1;
    return launch(*plan.first[picture], kernels::make_xyb, plan, plan.narrow_groups(), 32,
                  plan.rows(kXybStage, before, after), plan.xyb, from.samples, from.table,
                  plane<float>(plan, plan.xyb, 3 * static_cast<int>(picture)),
                  array<float>(halves ? halved_light_of(picture) : 0), from.format, from.table_last, from.plane_stride,
                  from.y_first, halves ? halved_ring_ : 0, nits);
  }

  // The rows of a stage: a kernel whose groups go `walk` rows down, and whose last arguments are those of all stages,
  // the ring last.
  template <typename... Parameters, typename... Arguments>
  Status launch(Queue& queue, const Kernel<Parameters...>& kernel, const ScalePlan& plan, int groups_across, int walk,
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

  // From XYB to the middle subbands.
  Status split_low(int work, const ScalePlan& plan, int before, int after) {
    const auto constants = array<const float>(plan.constants);
    const int together = work == WORK_PAIR ? 1 : 2;  // rows, or walks, of a group
    const RowRange blurred = plan.rows(kXybRowsStage, before, after), rows = plan.rows(kLowStage, before, after);
    ACUITY_TRY(launch(*plan.early, kernels::blur_low_rows, plan, plan.wide_groups(), together, blurred, plan.blurred,
                      plane<const Four>(plan, plan.xyb), plane<Four>(plan, plan.blurred), constants, work,
                      plan.xyb.slot(blurred.begin), plan.xyb.rows));
    const int walk = walk_of(plan.narrow_groups(), rows, 64 * together, 32 * together) / together;
    return launch(*plan.early, kernels::split_low, plan, plan.narrow_groups(), together * walk, rows, plan.xyb,
                  plane<const float>(plan, plan.blurred), plane<float>(plan, plan.xyb),
                  plane<float>(plan, plan.xyb, kLowDifference), prepared<float>(plan, kPreparedLow), constants,
                  parameters_.xmul, work, walk, plan.blurred.slot(rows.begin), plan.blurred.rows);
  }

  // From the middle subbands to all that the map is made from. While a reference is prepared, what is made of the other
  // picture means nothing.
  Status compare(int work, const ScalePlan& plan, int before, int after) {
    const auto constants = array<const float>(plan.constants);
    Queue& queue = *plan.late;
    const Ring& ring = plan.compared;
    const int wide = plan.wide_groups();
    const bool prepare = work == WORK_PREPARE, one = work == WORK_PREPARED;
    const RowRange middle = plan.rows(kMiddleStage, before, after), high = plan.rows(kHighStage, before, after),
                   blurred = plan.rows(kActivityStage, before, after);
    const int together = work == WORK_PAIR ? 1 : 2;  // walks of a group that blurs the activity
    // Groups of one picture are half as large, so there should be twice as many.
    const int middle_walk = walk_of(wide, middle, one ? 16 : 32, 8), high_walk = walk_of(wide, high, one ? 8 : 16, 8),
              blurred_walk = walk_of(wide, blurred, 16, 8 * together) / together;
    ACUITY_TRY(launch(queue, one ? compare_kernels::split_middle_one : compare_kernels::split_middle_pair, plan, wide,
                      middle_walk, middle, plan.xyb, plane<const Four>(plan, plan.xyb), plane<Four>(plan, ring),
                      prepared<Four>(plan, kPreparedMiddle), constants, parameters_.xmul, prepare, middle_walk,
                      ring.slot(middle.begin), ring.rows));
    ACUITY_TRY(launch(queue, one ? compare_kernels::split_high_one : compare_kernels::split_high_pair, plan, wide,
                      high_walk, high, ring, plane<const Four>(plan, ring), plane<Four>(plan, ring),
                      prepared<Four>(plan, kPreparedHigh), constants, parameters_.xmul, prepare, high_walk));
    return launch(queue, compare_kernels::blur_activity, plan, wide, together * blurred_walk, blurred, ring,
                  plane<const Four>(plan, ring, PLANE_ACTIVITY),
                  prepare ? prepared<Four>(plan, kPreparedMask) : plane<Four>(plan, ring, PLANE_BLURRED_ACTIVITY),
                  constants, work, blurred_walk, prepare ? blurred.begin : ring.slot(blurred.begin),
                  prepare ? plan.size.height : ring.rows);
  }

  // The mask's gains of a reference that is being prepared.
  Status prepare_gains(const ScalePlan& plan, int before, int after) {
    const RowRange rows = plan.rows(kMapStage, before, after);
    if (rows.empty()) return {};
    return plan.late->run(map_kernels::prepare_gains, plan.wide_groups(), groups(rows.count(), 4),
                          prepared<Four>(plan, kPreparedMask), plan.size.width, plan.size.height, rows.begin, rows.end);
  }

  // The map, or where nobody wants that and this is the half resolution, the norms of tiles.
  Status make_map(int work, const ScalePlan& plan, int before, int after, bool keep) {
    const bool pools = plan.halved && !keep;
    int task = work == WORK_PREPARED ? COMBINE_PREPARED : 0;
    if (pools) {
      task += COMBINE_POOLS + setup_.width % 2 * COMBINE_ODD_WIDTH + setup_.height % 2 * COMBINE_ODD_HEIGHT;
    }
    const DeviceArray<Four> map{!keep ? array<Four>(map_ring_).address : (plan.halved ? half_map_ : map_)->address()};
    return launch(*plan.late, map_kernels::combine, plan, pools ? plan.narrow_groups() : plan.wide_groups(),
                  pools ? kTileHeight / 2 : 4 * COMBINE_ROWS, plan.rows(plan.map_stage(), before, after), plan.compared,
                  plane<const Four>(plan, plan.compared), plane<const Four>(plan, plan.xyb, kLowDifference),
                  work == WORK_PREPARED ? prepared<const Four>(plan, kPreparedMask)
                                        : plane<const Four>(plan, plan.compared, PLANE_BLURRED_ACTIVITY),
                  map, array<const float>(map_ring_), array<float>(tiles_), parameters_.xmul, task,
                  keep ? plan.size.height : map_ring_rows_, plan.xyb.rows);
  }

  // The norms of tiles where somebody wants the map.
  Status pool(Queue& queue, const MapRequest& map) {
    const DeviceArray<const float> held{held_map_ ? held_map_->address() : 0};
    return queue.run(map_kernels::pool, groups(setup_.width, kTileWidth), groups(setup_.height, kTileHeight),
                     DeviceArray<float>{map_->address()},
                     DeviceArray<const float>{half_map_ ? half_map_->address() : 0}, held, array<float>(tiles_),
                     setup_.width, setup_.height, kernels::map_stride_of(setup_.width),
                     half_map_ ? kernels::map_stride_of(plans_[1].size.width) : 0, map.at_least_held,
                     map.hold || map.to != nullptr || p_ > 0, p_);
  }

  // What a recorded score depends on.
  struct Key {
    int work = 0;
    std::array<PixelReader::Key, 2> pictures{};
    std::array<float, 2> nits{};
    std::vector<uint64_t> prepared{};  // numbers of its memory
    bool operator==(const Key&) const = default;
  };

  static size_t map_bytes(Size size) {
    return static_cast<size_t>(kernels::map_stride_of(size.width)) * static_cast<size_t>(size.height) * sizeof(float);
  }
  Status reserve_maps(const MapRequest& map) {
    const auto reserve = [&](PooledMemory& memory, Size size) -> Status {
      if (!memory) ACUITY_TRY_ASSIGN(memory, setup_.pool->take(map_bytes(size), "butteraugli map"));
      return {};
    };
    ACUITY_TRY(reserve(map_, plans_[0].size));
    if (plans_.size() > 1) ACUITY_TRY(reserve(half_map_, plans_[1].size));
    if (map.hold) ACUITY_TRY(reserve(held_map_, plans_[0].size));
    if (map.to != nullptr && !map_rows_) {
      ACUITY_TRY_ASSIGN(map_rows_, setup_.pool->device().allocate_pinned(map_bytes(plans_[0].size)));
    }
    return {};
  }
  void copy_map(float* to) const {
    const size_t width = static_cast<size_t>(setup_.width);
    for (size_t y = 0; y < static_cast<size_t>(setup_.height); ++y) {
      const float* from = reinterpret_cast<const float*>(map_rows_->data()) +
                          y * static_cast<size_t>(kernels::map_stride_of(setup_.width));
      std::copy(from, from + width, to + y * width);
    }
  }

  Metric::Setup setup_;
  Parameters parameters_;
  float p_;
  int band_rows_ = 0;
  std::vector<ScalePlan> plans_;                        // the full resolution, and the half where there is one
  int halved_ring_ = 0;                                 // rows of light of the half resolution
  int map_ring_rows_ = 0;                               // of the map of the full resolution, where it is not kept
  size_t halved_light_ = 0, map_ring_ = 0, tiles_ = 0;  // offsets
  PooledMemory map_, half_map_, held_map_;              // where somebody wants them
  std::unique_ptr<PinnedMemory> map_rows_;              // for the caller
  const PreparedScales* prepared_ = nullptr;            // of the call being made, unless that is of a pair
  std::shared_ptr<PreparedScales> making_;              // while it is being prepared
  std::array<std::optional<Feed>, 2> feeds_;
  Workspace workspace_;         // its queues go before what they work on
  Recordings<Key> recordings_;  // go before the queues
  Queue* maker_ = nullptr;      // of pixels
  Event* begun_ = nullptr;      // all of a recorded score
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Parameters& parameters, float p) {
  return GpuRunner::create(setup, parameters, p);
}

}  // namespace butteraugli
}  // namespace acuity
