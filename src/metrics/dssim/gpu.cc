// SPDX-License-Identifier: BSD-2-Clause-Patent
// DSSIM on a GPU, whichever: the launches. Bands of rows are worked on as they arrive. When all are done, the sums come
// here, and what the errors are to be compared with goes back.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "device/recordings.h"
#include "device/workspace.h"
#include "engine/alpha_feed.h"
#include "lang/host.h"
#include "metrics/dssim/runner.h"
#include "sums/tiles.h"

namespace acuity {

extern const KernelFile dssim_kernels;
extern const KernelFile dssim_prepared_kernels;

namespace dssim {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &dssim_kernels;
#include "metrics/dssim/kernels.h"

}  // namespace kernels

namespace prepared_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &dssim_prepared_kernels;
#include "metrics/dssim/prepared_kernels.h"

}  // namespace prepared_kernels

namespace {

constexpr int kBandRows = 512;           // enough to keep a device busy, few enough to keep memory small
constexpr int kBandPixels = 1 << 21;     // of wider pictures a band has fewer rows
constexpr int kOneBandPixels = 1 << 19;  // pictures up to this size are one band
constexpr int kBandUnit = 64;            // bands are multiples of this: the smallest scale wants a multiple of 16
constexpr int kLabPlanes = 6;
constexpr int kReadyPlanes = 4;

// What stays on the device of a reference: all that depends on it alone (prepared_kernels.h).
class PreparedPixels final : public PreparedReference {
 public:
  PooledMemory memory;
  size_t samples = 0, means = 0;  // offsets

  size_t bytes() const override { return memory->size(); }
  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory->address() + offset};
  }
};

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override { return workspace_.bytes() + feeds_[0].bytes() + feeds_[1].bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) override {
    making_ = std::make_shared<PreparedPixels>();
    const auto floats = 4 * static_cast<size_t>(kernels::floats_before(setup_.width, setup_.height, setup_.height,
                                                                       static_cast<int>(sizes_.size())));
    MemoryLayout layout;
    making_->samples = layout.place(floats);
    making_->means = layout.place(floats);
    ACUITY_TRY_ASSIGN(making_->memory, setup_.pool->take(layout.bytes(), "dssim reference"));
    std::vector<Feed*> feeds;
    ACUITY_TRY_ASSIGN(feeds, send({&reference, nullptr}));
    const Work work{.first_picture = 0, .pictures = 1, .prepared = making_.get()};
    ACUITY_TRY(submit_bands(work, false));
    ACUITY_TRY(work_->wait());
    for (Feed* feed : feeds) feed->note_wait();
    return std::shared_ptr<const PreparedReference>(std::exchange(making_, nullptr));
  }

  Result<Similarities> run(const ReferencePicture& reference, const Picture& distorted) override {
    const auto* prepared = static_cast<const PreparedPixels*>(reference.prepared);
    std::vector<Feed*> feeds;
    ACUITY_TRY_ASSIGN(feeds, send({prepared != nullptr ? nullptr : reference.picture, &distorted}));
    Work work;
    if (prepared != nullptr) work = {.first_picture = 1, .pictures = 1, .prepared = prepared};
    ACUITY_TRY(submit_or_replay(work, feeds));
    std::array<double, kScales> sums{};
    ACUITY_TRY(add_sums(sums));
    for (Feed* feed : feeds) feed->note_wait();
    std::array<float, kScales> expected{};
    for (size_t s = 0; s < sizes_.size(); ++s) expected[s] = expected_error(sums[s], sizes_[s], s);
    ACUITY_TRY(work_->run(kernels::sum_deviations, groups(kernels::tiles_across(setup_.width, 0), 4), tile_rows_,
                          array<const float>(errors_), array<float>(tiles_), expected[0], expected[1], expected[2],
                          expected[3], expected[4], setup_.width, setup_.height));
    ACUITY_TRY(workspace_.fetch_results(*work_, tiles_));
    ACUITY_TRY(add_sums(sums));
    Similarities found;
    for (size_t s = 0; s < sizes_.size(); ++s) found.scales.push_back(scale_similarity(sums[s], sizes_[s]));
    return found;
  }

 private:
  // Which of reference and distorted picture become Lab, one after the other, and what is prepared of the reference:
  // read with the distorted picture, made of the reference.
  struct Work {
    int first_picture = 0, pictures = 2;
    const PreparedPixels* prepared = nullptr;
  };
  // What recorded work depends on.
  struct Key {
    std::vector<PixelReader::Key> pixels;
    uint64_t reference = 0;  // the number of its memory
    bool operator==(const Key&) const = default;
  };

  explicit GpuRunner(const Metric::Setup& setup)
      : setup_(setup), sizes_(scale_sizes(setup.width, setup.height)), workspace_(setup.pool) {
    const bool small = int64_t{setup.width} * setup.height <= kOneBandPixels;
    const int rows = small ? setup.height : std::min(kBandRows, kBandPixels / setup.width);
    const int asked = setup.strip_rows > 0 ? setup.strip_rows : rows;
    band_ = static_cast<int>(round_up(static_cast<size_t>(std::clamp(asked, 1, setup.height)), kBandUnit));
  }

  Status allocate() {
    const int count = static_cast<int>(sizes_.size());
    int64_t plane = 0;
    for (int s = 0; s < count; ++s) {
      plane += int64_t{kernels::ring_of(setup_.height, band_, s)} * kernels::stride_of(setup_.width, s);
      tile_rows_ += kernels::tiles_down(setup_.height, s);
    }
    MemoryLayout layout;
    const auto tiles = static_cast<size_t>(kernels::tiles_before(setup_.width, setup_.height, count));
    lab_ = layout.place(static_cast<size_t>(plane) * kLabPlanes);
    ready_ = layout.place(static_cast<size_t>(plane) * kReadyPlanes);
    errors_ = layout.place(static_cast<size_t>(kernels::errors_before(setup_.width, setup_.height, count)));
    tiles_ = layout.place(tiles);
    ACUITY_TRY(workspace_.allocate(layout, tiles * sizeof(float), "dssim"));
    ACUITY_TRY_ASSIGN(maker_, workspace_.create_queue());
    ACUITY_TRY_ASSIGN(work_, workspace_.create_queue());
    ACUITY_TRY_ASSIGN(begun_, workspace_.create_event());
    for (AlphaFeed& feed : feeds_) ACUITY_TRY(feed.create(workspace_, *maker_, setup_.senders(), band_));
    return workspace_.prepare({kernels::make_lab, kernels::blur_chroma, kernels::score_tiles, kernels::sum_deviations});
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return workspace_.array<T>(offset);
  }

  // Those of both pictures that are not null.
  Result<std::vector<Feed*>> send(const std::array<const Picture*, 2>& pictures) {
    std::vector<Feed*> feeds;
    for (size_t i = 0; i < pictures.size(); ++i) {
      if (pictures[i] == nullptr) continue;
      const Picture& picture = *pictures[i];
      ACUITY_TRY(feeds_[i].begin(*picture.input, *picture.rows, picture.alpha, setup_.pool));
      feeds_[i].add_to(feeds);
    }
    ACUITY_TRY(Feed::send(feeds, std::vector(feeds.size(), work_), SendOrder::together));
    return feeds;
  }

  // From pixels to the sums of errors.
  Status submit_or_replay(const Work& work, const std::vector<Feed*>& feeds) {
    const auto submit = [&](bool recorded) -> Status {
      for (Feed* feed : feeds) feed->rewind();
      if (recorded) ACUITY_TRY(begin_recording(feeds));
      ACUITY_TRY(submit_bands(work, recorded));
      return workspace_.fetch_results(*work_, tiles_);
    };
    std::optional<std::vector<PixelReader::Key>> pixels = Feed::keys(feeds);
    if (!pixels) return submit(false);
    const Key key{std::move(*pixels), work.prepared != nullptr ? work.prepared->memory.number() : 0};
    return recordings_.run(setup_.pool->device(), *work_, key, submit, launches_of(band_, setup_.height));
  }

  Status begin_recording(const std::vector<Feed*>& feeds) {
    if (band_ >= setup_.height) ACUITY_TRY(Feed::record_arrival(feeds, *work_));
    if (std::none_of(feeds.begin(), feeds.end(), [](const Feed* feed) { return feed->makes_pixels(); })) return {};
    ACUITY_TRY(work_->signal(*begun_));
    return maker_->wait_for(*begun_);
  }

  Status submit_bands(const Work& work, bool recorded) {
    for (int y = 0; y < setup_.height; y += band_) {
      ACUITY_TRY(run_band(work, y, std::min(y + band_, setup_.height), recorded));
    }
    return {};
  }

  // Rows y .. y_end - 1, through all scales as far as they go.
  Status run_band(const Work& work, int y, int y_end, bool recorded) {
    for (int i = work.first_picture; i < work.first_picture + work.pictures; ++i) {
      AlphaFeed& feed = feeds_[static_cast<size_t>(i)];
      AlphaFeed::Sent sent;
      ACUITY_TRY_ASSIGN(sent, feed.take(*work_, y, y_end, recorded));
      ACUITY_TRY(work_->run(kernels::make_lab, groups(setup_.width, 32), groups(y_end - y, 32), sent.pixels.samples,
                            sent.pixels.table, sent.alpha, array<float>(lab_), sent.pixels.format,
                            sent.pixels.table_last, sent.pixels.plane_stride, sent.has_alpha, sent.pixels.y_first, i,
                            setup_.width, setup_.height, y, y_end, band_));
      ACUITY_TRY(feed.release(*work_));
    }
    int blurs = 0, scores = 0;
    for (int s = 0; s < static_cast<int>(sizes_.size()); ++s) {
      blurs += kernels::blur_groups(y, y_end, setup_.height, work.pictures, s);
      scores += kernels::score_groups(y, y_end, setup_.height, s);
    }
    if (blurs > 0) {
      ACUITY_TRY(work_->run(kernels::blur_chroma, groups(setup_.width, 32), blurs, array<const float>(lab_),
                            array<float>(ready_), setup_.width, setup_.height, y, y_end, band_, work.first_picture,
                            work.pictures));
    }
    return scores > 0 ? run_tiles(work, scores, y, y_end) : Status();
  }

  // From Lab to errors, or to what is prepared of a reference.
  Status run_tiles(const Work& work, int tile_rows, int y, int y_end) {
    using kernel_dialect::real4;
    const int across = groups(setup_.width, 32);
    const PreparedPixels* prepared = work.prepared;
    if (prepared == nullptr) {
      return work_->run(kernels::score_tiles, across, tile_rows, array<const float>(lab_), array<const float>(ready_),
                        array<float>(errors_), array<float>(tiles_), setup_.width, setup_.height, y, y_end, band_);
    }
    if (work.first_picture == 0) {
      return work_->run(prepared_kernels::prepare_reference, across, tile_rows, array<const float>(lab_),
                        array<const float>(ready_), prepared->array<real4>(prepared->samples),
                        prepared->array<real4>(prepared->means), setup_.width, setup_.height, y, y_end, band_);
    }
    return work_->run(prepared_kernels::score_prepared_tiles, across, tile_rows, array<const float>(lab_),
                      array<const float>(ready_), prepared->array<const real4>(prepared->samples),
                      prepared->array<const real4>(prepared->means), array<float>(errors_), array<float>(tiles_),
                      setup_.width, setup_.height, y, y_end, band_);
  }

  // One a scale, when all before is done.
  Status add_sums(std::array<double, kScales>& sums) {
    ACUITY_TRY(work_->wait());
    const float* tiles = reinterpret_cast<const float*>(workspace_.results().data());
    for (size_t s = 0; s < sizes_.size(); ++s) {
      const size_t count = tile_count(sizes_[s].width, sizes_[s].height);
      sums[s] = add_tiles({tiles, count});
      tiles += count;
    }
    return {};
  }

  Metric::Setup setup_;
  std::vector<Size> sizes_;
  int band_ = 0;                                         // rows
  int tile_rows_ = 0;                                    // of all scales
  size_t lab_ = 0, ready_ = 0, errors_ = 0, tiles_ = 0;  // offsets
  std::array<AlphaFeed, 2> feeds_;
  std::shared_ptr<PreparedPixels> making_;  // a reference, while it is being prepared
  Workspace workspace_;                     // its queues go before what they work on
  Recordings<Key> recordings_;              // go before the queues
  Queue *maker_ = nullptr, *work_ = nullptr;
  Event* begun_ = nullptr;  // recorded work
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) { return GpuRunner::create(setup); }

}  // namespace dssim
}  // namespace acuity
