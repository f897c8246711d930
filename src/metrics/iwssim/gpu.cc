// SPDX-License-Identifier: BSD-2-Clause-Patent
// IW-SSIM and MS-SSIM on a GPU, whichever: the launches. The reference is sent first. While the distorted picture
// follows, the reference's products are added up there and become the figures of the weights here; so the losses can be
// worked on from the top down while the last rows are still in flight. A recording ends where the host must wait.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/try.h"
#include "device/pixels/feed.h"
#include "device/recordings.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/iwssim/information.h"
#include "metrics/iwssim/runner.h"

namespace acuity {

extern const KernelFile iwssim_pyramid_kernels;
extern const KernelFile iwssim_kernels;

namespace iwssim {

namespace pyramid {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &iwssim_pyramid_kernels;
#include "metrics/iwssim/pyramid_kernels.h"
}  // namespace pyramid

namespace kernels {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &iwssim_kernels;
#include "metrics/iwssim/kernels.h"
}  // namespace kernels

namespace {

constexpr int kBandPixels = 1 << 20;     // of pixels in flight
constexpr int kOneBandPixels = 1 << 19;  // pictures up to this size are not cut
constexpr int kParts = 6;                // parts in which pictures are worked on
constexpr int kLongestSide = 500'000;    // groups are numbered in 16 bits
constexpr size_t kNumbers = size_t{kWeightedScales} * INFORMATION_FOURS * 4;

size_t index(int i) { return static_cast<size_t>(i); }

// The pyramid of a reference; behind it lie the figures of its weights.
class PreparedPyramid final : public PreparedReference {
 public:
  explicit PreparedPyramid(PooledMemory memory) : memory_(std::move(memory)) {}
  const PooledMemory& memory() const { return memory_; }
  size_t bytes() const override { return memory_->size(); }

 private:
  PooledMemory memory_;
};

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, Kind kind, Enlarge enlarge, Size size) {
    if (std::max(size.width, size.height) > kLongestSide) {
      return Status(StatusCode::too_big,
                    fmt::format("{}x{} pixels have a side longer than {}, the longest that the kernels of iwssim and "
                                "msssim can number; use the device cpu",
                                size.width, size.height, kLongestSide));
    }
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup, kind, enlarge, size));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override {
    size_t bytes = workspace_.bytes() + (pair_ ? pair_->size() : 0);
    for (const auto* memory : {&products_here_, &numbers_here_}) bytes += *memory ? (*memory)->size() : 0;
    for (const std::optional<Feed>& feed : feeds_) bytes += feed->bytes();
    return bytes;
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const InputLuma& reference) override {
    ACUITY_TRY_ASSIGN(making_, create_pyramid());
    ACUITY_TRY(begin(kReference, reference));
    const std::array<Feed*, 1> one{&*feeds_[kReference]};
    ACUITY_TRY(Feed::send(one, std::array{main_}, SendOrder::one_by_one));
    ACUITY_TRY(submit({.reference = true}, *making_, false));
    if (kind_ == Kind::information) {
      ACUITY_TRY(find_weights());
      ACUITY_TRY(send_weights(*making_));
    }
    ACUITY_TRY(main_->wait());
    feeds_[kReference]->note_wait();
    return std::shared_ptr<const PreparedReference>(std::make_shared<PreparedPyramid>(std::move(making_)));
  }

  Result<std::array<ScaleSums, kScales>> run(const ReferencePicture& reference, const InputLuma& distorted) override {
    const bool prepared = reference.prepared != nullptr;
    if (!prepared && !pair_) ACUITY_TRY_ASSIGN(pair_, create_pyramid());
    const PooledMemory& compared = prepared ? static_cast<const PreparedPyramid*>(reference.prepared)->memory() : pair_;
    std::vector<Feed*> feeds;
    std::vector<Queue*> queues;
    if (!prepared) {
      ACUITY_TRY(begin(kReference, *reference.luma));
      feeds.push_back(&*feeds_[kReference]);
      queues.push_back(replays() ? &last() : main_);
    }
    ACUITY_TRY(begin(kDistorted, distorted));
    feeds.push_back(&*feeds_[kDistorted]);
    queues.push_back(replays() ? &last() : distorted_);
    ACUITY_TRY(Feed::send(feeds, queues, SendOrder::one_by_one));
    Stages stages{.reference = !prepared, .distorted = true};
    if (kind_ == Kind::information && !prepared) {
      // The pixels of small pictures are there as soon as those of their references.
      stages.distorted = is_one_band();
      ACUITY_TRY(submit_or_replay(stages, compared));
      ACUITY_TRY(find_weights());
      stages = {.distorted = !stages.distorted, .sends_weights = true};
    }
    stages.losses = true;
    ACUITY_TRY(submit_or_replay(stages, compared));
    ACUITY_TRY(last().wait());
    for (Feed* feed : feeds) feed->note_wait();
    return pool();
  }

  Status loss_map(int, float*) override {
    return Status(StatusCode::device, "difference maps are made on the CPU only; use the device cpu");
  }

 private:
  enum : size_t { kReference, kDistorted };

  // What is submitted without waiting for the host in between.
  struct Stages {
    bool reference = false;      // its pyramid, and its products as far as the host
    bool distorted = false;      // its pyramid, and the losses without weights
    bool sends_weights = false;  // from the host
    bool losses = false;         // those with weights, if there are any, and the sums of all
    bool operator==(const Stages&) const = default;
  };
  // What recorded work depends on.
  struct Key {
    Stages stages;
    std::vector<PixelReader::Key> pixels;
    uint64_t reference = 0;  // the number of its pyramid's memory
    bool operator==(const Key&) const = default;
  };

  GpuRunner(const Metric::Setup& setup, Kind kind, Enlarge enlarge, Size size)
      : setup_(setup),
        kind_(kind),
        enlarge_(enlarge),
        size_(size),
        enlarged_(size.width != setup.width || size.height != setup.height),
        workspace_(setup.pool) {
    const bool small = int64_t{setup.width} * setup.height <= kOneBandPixels;
    const int asked = setup.strip_rows > 0 ? setup.strip_rows : small ? setup.height : kBandPixels / setup.width;
    band_ = std::clamp(asked, 1, setup.height);
    static_cast<void>(pyramid_.place(index(kernels::pyramid_floats(size_.width, size_.height))));  // first
    numbers_ = pyramid_.place(kNumbers);
    part_rows_ = small && setup.strip_rows == 0 ? setup.height : groups(setup.height, kParts);
  }

  Status allocate() {
    for (Queue** queue : {&maker_, &main_, &distorted_}) {
      ACUITY_TRY_ASSIGN(*queue, workspace_.create_queue());
    }
    for (Event** event : {&begun_, &reference_made_, &plain_done_})
      ACUITY_TRY_ASSIGN(*event, workspace_.create_event());
    for (Part& part : parts_) ACUITY_TRY_ASSIGN(part.made, workspace_.create_event());
    for (std::optional<Feed>& feed : feeds_) {
      ACUITY_TRY_ASSIGN(feed, Feed::create(workspace_, *maker_, setup_.senders(), band_));
    }

    const auto tiles = index(kernels::tiles_before(size_.width, size_.height, kScales, WINDOW_MARGIN));
    MemoryLayout layout;
    distorted_at_ = layout.place(index(kernels::pyramid_floats(size_.width, size_.height)));
    tiles_ = layout.place(tiles * 3);
    const std::vector<float> tables = make_tables();
    tables_at_ = layout.place(tables.size());
    if (enlarged_) {
      for (size_t& at : sources_) at = layout.place(index(setup_.width) * index(setup_.height));
    }
    if (kind_ == Kind::information) {
      const auto products =
          index(kernels::tiles_before(size_.width, size_.height, kWeightedScales, PRODUCT_MARGIN)) * kValuePairs;
      products_ = layout.place(products);
      ACUITY_TRY_ASSIGN(products_here_, device().allocate_pinned(products * sizeof(float)));
      ACUITY_TRY_ASSIGN(numbers_here_, device().allocate_pinned(kNumbers * sizeof(float)));
    }
    ACUITY_TRY(workspace_.allocate(layout, tiles * sizeof(TileSums), "iwssim"));
    ACUITY_TRY(prepare_kernels());
    ACUITY_TRY(maker_->clear(workspace_.memory(), 0, workspace_.memory().size()));
    return workspace_.send(*maker_, tables_at_, tables);
  }

  Device& device() const { return setup_.pool->device(); }

  Status prepare_kernels() {
    std::vector<KernelInfo> used{pyramid::make_luma, kernels::compare_plain};
    if (enlarged_) used.push_back(pyramid::enlarge);
    if (kind_ == Kind::classic) {
      used.push_back(pyramid::halve);
    } else {
      used.insert(used.end(), {pyramid::reduce_twice, pyramid::make_subbands});
    }
    if (kind_ == Kind::information) used.insert(used.end(), {kernels::sum_products, kernels::compare_weighted});
    for (const KernelInfo& kernel : used) ACUITY_TRY(device().prepare(kernel));
    return {};
  }

  // What is the same for all pictures: the half-way cases of luma, then the places of parents, then where the samples
  // of an enlarged picture come from.
  std::vector<float> make_tables() {
    std::vector<float> tables(luma_ties().begin(), luma_ties().end());
    parents_at_ = tables.size();
    if (kind_ == Kind::information) {
      const std::array<Size, kScales> sizes = scale_sizes(size_.width, size_.height);
      for (size_t s = 0; has_parent(static_cast<int>(s)); ++s) {
        const std::array<std::vector<ParentPlace>, 2> sides{parent_places(sizes[s].width, sizes[s + 1].width),
                                                            parent_places(sizes[s].height, sizes[s + 1].height)};
        for (const std::vector<ParentPlace>& side : sides) {
          for (const ParentPlace& place : side) {
            tables.insert(tables.end(), {static_cast<float>(place.first), place.fraction});
          }
        }
      }
    }
    places_at_ = tables.size();
    if (enlarged_) {
      for (const int side : {setup_.width, setup_.height}) {
        for (const Enlarged& place : enlarge_side(enlarge_, side, kMinimumSide)) {
          tables.insert(tables.end(),
                        {static_cast<float>(place.first), static_cast<float>(place.second), place.fraction});
        }
      }
    }
    return tables;
  }

  // Of a reference. What lies between its rows is zero, and stays so.
  Result<PooledMemory> create_pyramid() {
    PooledMemory memory;
    ACUITY_TRY_ASSIGN(memory,
                      setup_.pool->take(pyramid_.bytes(), fmt::format("iwssim reference {}x{} of kind {}", size_.width,
                                                                      size_.height, static_cast<int>(kind_))));
    if (!memory.is_used_again()) {
      ACUITY_TRY(main_->clear(*memory, 0, memory->size()));
      ACUITY_TRY(main_->wait());  // whatever fails later, the next holder finds it cleared
    }
    return memory;
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return workspace_.array<T>(offset);
  }
  DeviceArray<const float> table(size_t place) const { return array<const float>(tables_at_ + place * sizeof(float)); }

  Status begin(size_t i, const InputLuma& input) {
    DevicePicture picture;
    ACUITY_TRY_ASSIGN(picture, device_picture(input.input, input.luma.rows(), setup_.pool));
    return feeds_[i]->begin(picture);
  }

  bool is_one_band() const { return band_ >= setup_.height; }
  Launches launches() const { return launches_of(band_, setup_.height); }
  // The queue that waits for all others in the end, and that replays what is recorded.
  Queue& last() const { return kind_ == Kind::information ? *main_ : *distorted_; }
  bool replays() const { return Recordings<Key>::are_worth_it(device(), launches()); }

  Status submit_or_replay(const Stages& stages, const PooledMemory& reference) {
    const auto submit_work = [&](bool recorded) { return submit(stages, *reference, recorded); };
    std::optional<std::vector<PixelReader::Key>> pixels = Feed::keys(feeds_of(stages));
    if (!pixels) return submit_work(false);
    const Key key{stages, std::move(*pixels), reference.number()};
    ACUITY_TRY(recordings_.run(device(), last(), key, submit_work, launches()));
    if (stages.losses) return {};
    // What comes next may wait for this, be it replayed or not.
    if (stages.distorted) ACUITY_TRY(distorted_->signal(*plain_done_));
    return main_->signal(*reference_made_);
  }

  std::vector<Feed*> feeds_of(const Stages& stages) {
    std::vector<Feed*> feeds;
    if (stages.reference) feeds.push_back(&*feeds_[kReference]);
    if (stages.distorted) feeds.push_back(&*feeds_[kDistorted]);
    return feeds;
  }

  Status submit(const Stages& stages, DeviceMemory& reference, bool recorded) {
    const std::vector<Feed*> feeds = feeds_of(stages);
    for (Feed* feed : feeds) feed->rewind();
    if (recorded) ACUITY_TRY(begin_recording(stages, feeds));
    if (stages.reference) ACUITY_TRY(make_reference(reference, recorded));
    if (stages.distorted) {
      // Of recorded work all comes after the reference.
      if (stages.sends_weights && !recorded) ACUITY_TRY(distorted_->wait_for(*reference_made_));
      ACUITY_TRY(make_distorted(reference, stages.reference, recorded));
    }
    if (stages.sends_weights) ACUITY_TRY(send_weights(reference));
    if (!stages.losses) return recorded && stages.distorted ? main_->wait_for(*plain_done_) : Status();
    if (kind_ == Kind::information) ACUITY_TRY(compare_weighted(reference, stages.distorted, recorded));
    return workspace_.fetch_results(last(), tiles_);
  }

  // What comes first in other queues waits for the last one, as recording wants it.
  Status begin_recording(const Stages& stages, const std::vector<Feed*>& feeds) {
    if (is_one_band()) ACUITY_TRY(Feed::record_arrival(feeds, last()));
    ACUITY_TRY(last().signal(*begun_));
    Queue& other = &last() == main_ ? *distorted_ : *main_;
    if (&other == main_ ? stages.reference : stages.distorted) ACUITY_TRY(other.wait_for(*begun_));
    const bool makes = std::any_of(feeds.begin(), feeds.end(), [](const Feed* feed) { return feed->makes_pixels(); });
    return makes ? maker_->wait_for(*begun_) : Status();
  }

  // Luma of a picture, band by band; `made(rows)` is called whenever there are more rows of it.
  template <typename Made>
  Status make_luma(size_t i, Queue& queue, DeviceArray<float> to, bool recorded, const Made& made) {
    const DeviceArray<float> luma = enlarged_ ? array<float>(sources_[i]) : to;
    const int stride = enlarged_ ? setup_.width : pyramid::stride_of(setup_.width, 0);
    for (int y = 0; y < setup_.height; y += band_) {
      const int y_end = std::min(y + band_, setup_.height);
      SentPixels sent;
      ACUITY_TRY_ASSIGN(sent, feeds_[i]->take(queue, y, y_end, recorded));
      ACUITY_TRY(queue.run(pyramid::make_luma, groups(setup_.width, 32), groups(y_end - y, 32), sent.samples,
                           sent.table, table(0), luma, sent.format, sent.table_last, sent.plane_stride, sent.y_first,
                           setup_.width, y, y_end, stride));
      ACUITY_TRY(feeds_[i]->release(queue));
      if (!enlarged_) ACUITY_TRY(made(y_end));
    }
    if (!enlarged_) return {};
    ACUITY_TRY(queue.run(pyramid::enlarge, groups(size_.width, 32), groups(size_.height, 8),
                         array<const float>(sources_[i]), table(places_at_), to, setup_.width, size_.width,
                         size_.height));
    return made(size_.height);
  }

  // Levels and subbands, as far as luma before row `end` allows, where before there was luma before row `begin`.
  Status build(Queue& queue, DeviceArray<float> to, int begin, int end) const {
    const int width = size_.width, height = size_.height;
    const int first = pyramid::levelled_bands(begin, height), last = pyramid::levelled_bands(end, height);
    if (first == last) return {};
    if (kind_ == Kind::classic) {
      constexpr int kOfBand = BAND_ROWS / HALVED_SIDE;
      return queue.run(pyramid::halve, groups(width, HALVED_SIDE),
                       std::min(last * kOfBand, groups(height, HALVED_SIDE)) - first * kOfBand, to, width, height,
                       first * kOfBand);
    }
    // Of the first two levels, a row of groups more than the band has.
    const auto reduce = [&](int s, int first_group, int end_group) {
      const int down = std::min(end_group, groups(pyramid::side_of(height, s + 2), TWICE_SIDE)) - first_group;
      if (down <= 0) return Status();
      return queue.run(pyramid::reduce_twice, groups(pyramid::side_of(width, s + 2), TWICE_SIDE), down, to, width,
                       height, s, first_group);
    };
    constexpr int kOfBand = BAND_ROWS / 4 / TWICE_SIDE;
    ACUITY_TRY(reduce(0, first == 0 ? 0 : first * kOfBand + 1, last * kOfBand + 1));
    ACUITY_TRY(reduce(2, first, last));
    const int split = pyramid::split_bands(begin, height), split_end = pyramid::split_bands(end, height);
    if (split == split_end) return {};
    return queue.run(pyramid::make_subbands, groups(pyramid::side_of(width, 1), 32),
                     (split_end - split) * SUBBAND_GROUPS, to, width, height, split);
  }

  // The reference's pyramid, and its products as far as the host.
  Status make_reference(DeviceMemory& memory, bool recorded) {
    const DeviceArray<float> to{memory.address()};
    int begin = 0;
    const auto made = [&](int rows) -> Status {
      if (rows != size_.height && rows - begin < part_rows_) return {};
      ACUITY_TRY(build(*main_, to, begin, rows));
      if (kind_ == Kind::information) ACUITY_TRY(sum_products(memory, begin, rows));
      begin = rows;
      return {};
    };
    ACUITY_TRY(make_luma(kReference, *main_, to, recorded, made));
    ACUITY_TRY(main_->signal(*reference_made_));
    if (kind_ != Kind::information) return {};
    return main_->download(*products_here_, 0, workspace_.memory(), products_, products_here_->size());
  }

  Status sum_products(const DeviceMemory& reference, int begin, int end) {
    int down = 0;
    for (int s = 0; s < kWeightedScales; ++s) down += kernels::sum_groups(begin, end, size_.height, s);
    if (down == 0) return {};
    return main_->run(kernels::sum_products, kernels::tiles_across(size_.width, 0, PRODUCT_MARGIN), down,
                      DeviceArray<const float>{reference.address()}, table(parents_at_), array<float>(products_),
                      size_.width, size_.height, begin, end);
  }

  // What the weights need of the reference, from the products.
  Status find_weights() {
    ACUITY_TRY(main_->wait());
    const auto* products = reinterpret_cast<const TileProducts*>(products_here_->data());
    const std::array<Size, kScales> sizes = scale_sizes(size_.width, size_.height);
    float* numbers = reinterpret_cast<float*>(numbers_here_->data());
    std::fill(numbers, numbers + kNumbers, 0.0f);
    for (int s = 0; s < kWeightedScales; ++s) {
      const Size places = neighbourhood_size(sizes[index(s)]);
      const size_t count = tile_count(places.width, places.height);
      const Information information = information_of({products, count}, s, sizes[index(s)]);
      std::copy(information.whitening.begin(), information.whitening.end(), numbers);
      std::copy(information.eigenvalues.begin(), information.eigenvalues.end(), numbers + EIGENVALUES_AT);
      numbers += INFORMATION_FOURS * 4;
      products += count;
    }
    return {};
  }

  Status send_weights(DeviceMemory& memory) {
    return main_->upload(memory, numbers_, *numbers_here_, 0, numbers_here_->size());
  }

  // The distorted picture's pyramid, and the losses without weights.
  Status make_distorted(const DeviceMemory& reference, bool wait_for_reference, bool recorded) {
    const DeviceArray<float> to = array<float>(distorted_at_);
    part_count_ = 0;
    int begin = 0;
    const auto made = [&](int rows) -> Status {
      if (rows != size_.height && rows - begin < part_rows_) return {};
      ACUITY_TRY(build(*distorted_, to, begin, rows));
      Part& part = parts_[part_count_++];
      ACUITY_TRY(distorted_->signal(*part.made));
      if (wait_for_reference && begin == 0) ACUITY_TRY(distorted_->wait_for(*reference_made_));
      ACUITY_TRY(compare_plain(reference, begin, rows));
      part.begin = std::exchange(begin, rows);
      part.end = rows;
      return {};
    };
    ACUITY_TRY(make_luma(kDistorted, *distorted_, to, recorded, made));
    return distorted_->signal(*plain_done_);
  }

  int compare_groups(int first_scale, int scales, int begin, int end) const {
    int count = 0;
    for (int s = first_scale; s < scales; ++s) count += kernels::compare_groups(begin, end, size_.height, s);
    return count;
  }

  Status compare_plain(const DeviceMemory& reference, int begin, int end) {
    const int first_scale = kind_ == Kind::information ? kWeightedScales : 0;
    const int down = compare_groups(first_scale, kScales, begin, end);
    if (down == 0) return {};
    return distorted_->run(kernels::compare_plain, kernels::tiles_across(size_.width, first_scale, WINDOW_MARGIN), down,
                           DeviceArray<const kernels::real4>{reference.address()},
                           array<const kernels::real4>(distorted_at_), array<float>(tiles_), first_scale,
                           kind_ == Kind::classic ? 1 : 0, 2 * middle_of(kind_), size_.width, size_.height, begin, end);
  }

  // `follows`: the distorted picture is part of what is submitted.
  Status compare_weighted(const DeviceMemory& reference, bool follows, bool recorded) {
    if (!follows) ACUITY_TRY(recorded ? main_->wait_for_outside(*plain_done_) : main_->wait_for(*plain_done_));
    for (size_t i = 0; i < part_count_; ++i) {
      const Part& part = parts_[i];
      if (follows) ACUITY_TRY(main_->wait_for(*part.made));
      const int down = compare_groups(0, kWeightedScales, part.begin, part.end);
      if (down == 0) continue;
      ACUITY_TRY(main_->run(kernels::compare_weighted, kernels::tiles_across(size_.width, 0, WINDOW_MARGIN), down,
                            DeviceArray<const kernels::real4>{reference.address()},
                            array<const kernels::real4>(distorted_at_), DeviceArray<const float>{reference.address()},
                            array<const float>(distorted_at_), table(parents_at_),
                            DeviceArray<const kernels::real4>{reference.address() + numbers_}, array<float>(tiles_),
                            size_.width, size_.height, part.begin, part.end));
    }
    return follows ? main_->wait_for(*plain_done_) : Status();
  }

  std::array<ScaleSums, kScales> pool() const {
    const auto* tiles = reinterpret_cast<const TileSums*>(workspace_.results().data());
    const std::array<Size, kScales> sizes = scale_sizes(size_.width, size_.height);
    std::array<ScaleSums, kScales> sums;
    for (size_t s = 0; s < kScales; ++s) {
      const Size losses = loss_size(sizes[s]);
      const size_t count = tile_count(losses.width, losses.height);
      sums[s] = add_tiles({tiles, count});
      tiles += count;
    }
    return sums;
  }

  // A part of the distorted picture: what can be compared when there is luma before row `end`, and could not be when
  // it was before row `begin`.
  struct Part {
    int begin = 0, end = 0;
    Event* made = nullptr;
  };

  Metric::Setup setup_;
  Kind kind_;
  Enlarge enlarge_;
  Size size_;  // of the pictures, a small one enlarged
  bool enlarged_;
  int band_ = 0;       // rows
  int part_rows_ = 0;  // at least, but for the last
  std::array<Part, kParts> parts_;
  size_t part_count_ = 0;
  size_t distorted_at_ = 0, tiles_ = 0, tables_at_ = 0, products_ = 0;  // offsets
  std::array<size_t, 2> sources_{};                                     // luma of small pictures
  size_t parents_at_ = 0, places_at_ = 0;                               // in the tables
  PooledMemory pair_;                                                   // a reference's pyramid
  PooledMemory making_;                                                 // another, while it is being prepared
  MemoryLayout pyramid_;                                                // of such
  size_t numbers_ = 0;                                                  // offset in those
  std::unique_ptr<PinnedMemory> products_here_, numbers_here_;
  std::array<std::optional<Feed>, 2> feeds_;
  Workspace workspace_;         // its queues go before what they work on
  Recordings<Key> recordings_;  // go before the queues
  Event *begun_ = nullptr, *reference_made_ = nullptr, *plain_done_ = nullptr;
  // Of pixels; of the reference, and then of the losses with weights; of the rest.
  Queue *maker_ = nullptr, *main_ = nullptr, *distorted_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, Kind kind, Enlarge enlarge, Size size) {
  return GpuRunner::create(setup, kind, enlarge, size);
}

}  // namespace iwssim
}  // namespace acuity
