// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/gpu.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/cambi/pool.h"

namespace acuity {

extern const KernelFile cambi_kernels;

namespace cambi {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &cambi_kernels;
#include "metrics/cambi/kernels.h"

}  // namespace kernels

namespace {

constexpr size_t kBuckets = 2048, kFineCounts = 65536;

int groups(int64_t count, int of) { return static_cast<int>((count + of - 1) / of); }
size_t aligned(size_t bytes) { return round_up(bytes, 256); }

// One of the two frames of a pair: the sizes of its scales, and where they are in the scratch memory.
struct Side {
  View view;
  std::vector<int> places;  // columns and lines that samples are taken from; empty where sizes are the same
  std::array<int, kScales> widths{}, heights{};
  std::array<int64_t, kScales> first{};  // contrasts
  int64_t all = 0;

  Side(const Plan& plan, const View& its_view) : view(its_view) {
    if (view.width != plan.frame_width || view.height != plan.frame_height) {
      places = nearest(plan.frame_width, view.width);
      const std::vector<int> lines = nearest(plan.frame_height, view.height);
      places.insert(places.end(), lines.begin(), lines.end());
    }
    const int step = plan.halved ? 2 : 1;
    int width = (view.width + step - 1) / step, height = (view.height + step - 1) / step;
    for (size_t s = 0; s < kScales; ++s) {
      widths[s] = width;
      heights[s] = height;
      first[s] = all;
      all += samples(s);
      width = (width + 1) / 2;
      height = (height + 1) / 2;
    }
  }

  int64_t samples(size_t scale) const { return int64_t{widths[scale]} * heights[scale]; }
  size_t plane_bytes() const { return aligned(static_cast<size_t>(samples(0)) * sizeof(uint32_t)); }
  size_t contrast_bytes() const { return aligned(static_cast<size_t>(all) * sizeof(float)); }
  /// Two pictures, levels, contrasts, counts.
  size_t scratch_bytes() const { return 3 * plane_bytes() + contrast_bytes() + count_bytes(); }
  static size_t count_bytes() { return (kBuckets + kFineCounts) * kScales * sizeof(uint32_t) + 256; }
};

class Worker final : public DeviceFeatureWorker {
 public:
  Worker(const Plan& plan, const FrameShape& frame, FillValues fill)
      : plan_(plan), frame_(frame), steps_(plan.contrast), fill_(std::move(fill)) {
    sides_.emplace_back(plan, plan.distorted);
    if (plan.full_reference) sides_.emplace_back(plan, plan.reference);
  }

  Status prepare(Device& device) {
    for (const KernelInfo* kernel : std::initializer_list<const KernelInfo*>{
             &kernels::mark_flats, &kernels::filter_modes, &kernels::find_contrasts, &kernels::clear_words,
             &kernels::count_buckets, &kernels::select_buckets, &kernels::sum_above, &kernels::sum_selected}) {
      ACUITY_TRY(device.prepare(*kernel));
    }
    return send_tables(device);
  }

  size_t bytes() const override { return tables_->size(); }
  size_t scratch_bytes() const override {
    size_t most = 0;
    for (const Side& side : sides_) most = std::max(most, side.scratch_bytes());
    return most;
  }
  // The sums, then the contrasts of the distorted frame if maps are made of them.
  size_t result_bytes() const override { return sum_bytes() + (plan_.heatmaps ? sides_[0].contrast_bytes() : 0); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    index_ = window.index;
    for (size_t i = 0; i < sides_.size(); ++i) {
      const DevicePlane& luma = (i == 0 ? window.distorted : window.reference)[0]->front();
      ACUITY_TRY(submit_side(queue, i, luma, window, results));
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> values) override {
    std::array<double, 2> scores{};
    for (size_t i = 0; i < sides_.size(); ++i) {
      std::array<double, kScales> means{};
      for (size_t s = 0; s < kScales; ++s) {
        uint64_t sum = 0;
        std::memcpy(&sum, results.data() + (i * kScales + s) * sizeof sum, sizeof sum);
        means[s] = mean_of(sum, pooled(plan_, sides_[i].samples(s)));
      }
      scores[i] = score_of(means, sides_[i].view.window);
    }
    fill_(scores[0], scores[1], values);
    return plan_.heatmaps ? write_maps(results.subspan(sum_bytes())) : Status();
  }

 private:
  size_t sum_bytes() const { return sides_.size() * kScales * sizeof(uint64_t); }

  Status write_maps(std::span<const std::byte> contrasts) {
    const Side& side = sides_[0];
    for (size_t s = 0; s < kScales; ++s) {
      const auto* first = reinterpret_cast<const float*>(contrasts.data()) + side.first[s];
      const auto count = static_cast<size_t>(side.samples(s));
      const int scale = static_cast<int>(s);
      ACUITY_TRY(
          plan_.heatmaps->write(scale, index_ * side.samples(s), {first, count}, map_factor(plan_, side.view.window)));
      ACUITY_TRY(plan_.heatmaps->flush(scale));
    }
    return {};
  }

  // Reciprocals, then steps, then for each side its scales and places.
  Status send_tables(Device& device) {
    std::vector<int32_t> words(kMostInWindow + 1);
    std::memcpy(words.data(), reciprocals(), words.size() * sizeof(float));
    const auto begin = [&] {
      words.resize(round_up(words.size(), 64));
      return words.size() * sizeof(int32_t);
    };
    steps_at_ = begin();
    for (const Steps::Group& group : steps_.groups) {
      for (size_t s = 0; s < 4; ++s) words.insert(words.end(), {group.weights[s], group.lowest[s], group.count[s]});
    }
    for (const Side& side : sides_) {
      scales_at_.push_back(begin());
      for (size_t s = 0; s < kScales; ++s) {
        words.insert(words.end(), {static_cast<int32_t>(side.first[s]), static_cast<int32_t>(side.samples(s)),
                                   static_cast<int32_t>(pooled(plan_, side.samples(s)))});
      }
      places_at_.push_back(begin());
      words.insert(words.end(), side.places.begin(), side.places.end());
    }
    begin();
    const size_t bytes = words.size() * sizeof(int32_t);
    std::unique_ptr<PinnedMemory> here;
    std::unique_ptr<Queue> queue;
    ACUITY_TRY_ASSIGN(tables_, device.allocate(bytes));
    ACUITY_TRY_ASSIGN(here, device.allocate_pinned(bytes));
    ACUITY_TRY_ASSIGN(queue, device.create_queue());
    std::memcpy(here->data(), words.data(), bytes);
    ACUITY_TRY(queue->upload(*tables_, 0, *here, 0, bytes));
    return queue->wait();
  }

  Status submit_side(Queue& queue, size_t number, const DevicePlane& luma, const DeviceWindow& window,
                     uint64_t results) {
    const Side& side = sides_[number];
    const int step = plan_.halved ? 2 : 1;
    uint64_t image = window.scratch, next = image + side.plane_bytes();
    const uint64_t levels = next + side.plane_bytes(), scratch_contrasts = levels + side.plane_bytes();
    const uint64_t contrasts = plan_.heatmaps && number == 0 ? results + sum_bytes() : scratch_contrasts;
    const uint64_t counts = scratch_contrasts + side.contrast_bytes();
    const uint64_t fine = counts + kBuckets * kScales * sizeof(uint32_t);
    const uint64_t sums = results + number * kScales * sizeof(uint64_t);
    const uint64_t selected = fine + kFineCounts * kScales * sizeof(uint32_t);
    const DeviceArray<const int32_t> scales{tables_->address() + scales_at_[number]};
    ACUITY_TRY(queue.run(kernels::mark_flats, groups(side.view.width, 32), groups(side.view.height, 16),
                         DeviceArray<const unsigned char>{luma.address},
                         DeviceArray<const int32_t>{tables_->address() + places_at_[number]},
                         DeviceArray<uint32_t>{image}, luma.row_bytes, window.depth == 8 ? 8 : 16,
                         frame_.depth - window.depth, frame_.depth, side.view.width, side.view.height,
                         side.places.empty() ? 0 : 1, plan_.smooth ? 1 : 0, step,
                         flat_limit(side.view.width, side.view.height)));
    for (size_t s = 0; s < kScales; ++s) {
      const int width = side.widths[s], height = side.heights[s];
      const Levels& range = steps_.levels;
      ACUITY_TRY(queue.run(kernels::filter_modes, groups(width, 32), groups(height, 32),
                           DeviceArray<const uint32_t>{image}, DeviceArray<uint32_t>{next},
                           DeviceArray<uint32_t>{levels}, width, height, static_cast<uint32_t>(range.first),
                           static_cast<uint32_t>(range.count), static_cast<uint32_t>(range.first_level),
                           static_cast<uint32_t>(range.none), s + 1 < kScales ? 1 : 0));
      ACUITY_TRY(queue.run(
          kernels::find_contrasts, groups(width, 32), groups(height, 32), DeviceArray<const uint32_t>{levels},
          DeviceArray<const int32_t>{tables_->address() + steps_at_}, DeviceArray<const float>{tables_->address()},
          DeviceArray<float>{contrasts + static_cast<uint64_t>(side.first[s]) * sizeof(float)}, width, height,
          side.view.window / 2, static_cast<int>(4 * steps_.groups.size()), steps_.lowest, steps_.highest));
      std::swap(image, next);
    }
    constexpr int kWords = static_cast<int>((kBuckets + kFineCounts) * kScales), kPart = 4096;
    ACUITY_TRY(queue.run(kernels::clear_words, groups(kWords, 256), 1, DeviceArray<uint32_t>{counts}, kWords));
    ACUITY_TRY(queue.run(kernels::count_buckets, groups(side.samples(0), kPart), kScales,
                         DeviceArray<const float>{contrasts}, scales, DeviceArray<uint32_t>{counts}));
    ACUITY_TRY(queue.run(kernels::select_buckets, kScales, 1, DeviceArray<const uint32_t>{counts}, scales,
                         DeviceArray<int32_t>{selected}));
    ACUITY_TRY(queue.run(kernels::sum_above, groups(side.samples(0), kPart), kScales,
                         DeviceArray<const float>{contrasts}, scales, DeviceArray<const int32_t>{selected},
                         DeviceArray<uint32_t>{fine}, DeviceArray<int64_t>{sums}));
    return queue.run(kernels::sum_selected, kScales, 1, DeviceArray<const uint32_t>{fine},
                     DeviceArray<const int32_t>{selected}, DeviceArray<int64_t>{sums});
  }

  const Plan plan_;
  const FrameShape frame_;
  const Steps steps_;
  const FillValues fill_;
  std::vector<Side> sides_;  // the distorted one first
  std::unique_ptr<DeviceMemory> tables_;
  size_t steps_at_ = 0;
  std::vector<size_t> scales_at_, places_at_;
  int64_t index_ = 0;  // of the frame in flight
};

}  // namespace

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const Plan& plan,
                                                                  const FrameShape& frame, FillValues fill) {
  auto worker = std::make_unique<Worker>(plan, frame, std::move(fill));
  ACUITY_TRY(worker->prepare(device));
  return std::unique_ptr<DeviceFeatureWorker>(std::move(worker));
}

}  // namespace cambi
}  // namespace acuity
