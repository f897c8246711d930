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

namespace dssim {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &dssim_kernels;
#include "metrics/dssim/kernels.h"

}  // namespace kernels

namespace {

constexpr int kBandRows = 512;           // enough to keep a device busy, few enough to keep memory small
constexpr int kBandPixels = 1 << 21;     // of wider pictures a band has fewer rows
constexpr int kOneBandPixels = 1 << 19;  // pictures up to this size are one band
constexpr int kBandUnit = 64;            // bands are multiples of this: the smallest scale wants a multiple of 16
constexpr int kLabPlanes = 6;
constexpr int kReadyPlanes = 4;

// The reference's samples stay on the device; making Lab of them again costs less than the memory to keep it would.
class PreparedPicture final : public PreparedReference {
 public:
  PreparedPicture(Input input, Rows rows) : input_(std::move(input)), rows_(std::move(rows)) {}
  Picture picture() const { return {&rows_, input_.view().has_alpha() ? &input_.view() : nullptr, &input_}; }
  size_t bytes() const override { return bytes_of(input_); }

 private:
  Input input_;
  Rows rows_;
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
    Input prepared;
    ACUITY_TRY_ASSIGN(prepared,
                      keep_on_device(*reference.input, *reference.rows, setup_.pool, *work_, setup_.senders()));
    return std::shared_ptr<const PreparedReference>(
        std::make_shared<PreparedPicture>(std::move(prepared), *reference.rows));
  }

  Result<Similarities> run(const ReferencePicture& reference, const Picture& distorted) override {
    const Picture original = reference.prepared != nullptr
                                 ? static_cast<const PreparedPicture*>(reference.prepared)->picture()
                                 : *reference.picture;
    std::vector<Feed*> feeds;
    for (size_t i = 0; i < 2; ++i) {
      const Picture& picture = i == 0 ? original : distorted;
      ACUITY_TRY(feeds_[i].begin(*picture.input, *picture.rows, picture.alpha, setup_.pool));
      feeds_[i].add_to(feeds);
    }
    ACUITY_TRY(Feed::send(feeds, std::vector(feeds.size(), work_), SendOrder::together));
    ACUITY_TRY(submit_or_replay(feeds));
    std::array<double, kScales> sums{};
    ACUITY_TRY(add_sums(sums));
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

  // From pixels to the sums of errors.
  Status submit_or_replay(const std::vector<Feed*>& feeds) {
    const auto submit = [&](bool recorded) -> Status {
      for (Feed* feed : feeds) feed->rewind();
      if (recorded) ACUITY_TRY(begin_recording(feeds));
      for (int y = 0; y < setup_.height; y += band_) {
        ACUITY_TRY(run_band(y, std::min(y + band_, setup_.height), recorded));
      }
      return workspace_.fetch_results(*work_, tiles_);
    };
    if (band_ >= setup_.height) return submit(false);  // few launches take no longer than a replay
    std::vector<PixelReader::Key> key;
    for (const Feed* feed : feeds) {
      if (!feed->may_be_recorded()) return submit(false);
      key.push_back(feed->key());
    }
    return recordings_.run(setup_.pool->device(), *work_, key, submit);
  }

  Status begin_recording(const std::vector<Feed*>& feeds) {
    if (std::none_of(feeds.begin(), feeds.end(), [](const Feed* feed) { return feed->makes_pixels(); })) return {};
    ACUITY_TRY(work_->signal(*begun_));
    return maker_->wait_for(*begun_);
  }

  // Rows y .. y_end - 1 of both pictures, through all scales as far as they go.
  Status run_band(int y, int y_end, bool recorded) {
    for (size_t i = 0; i < 2; ++i) {
      AlphaFeed::Sent sent;
      ACUITY_TRY_ASSIGN(sent, feeds_[i].take(*work_, y, y_end, recorded));
      ACUITY_TRY(work_->run(kernels::make_lab, groups(setup_.width, 32), groups(y_end - y, 32), sent.pixels.samples,
                            sent.pixels.table, sent.alpha, array<float>(lab_), sent.pixels.format,
                            sent.pixels.table_last, sent.pixels.plane_stride, sent.has_alpha, sent.pixels.y_first,
                            static_cast<int>(i), setup_.width, setup_.height, y, y_end, band_));
      ACUITY_TRY(feeds_[i].release(*work_));
    }
    int blurs = 0, scores = 0;
    for (int s = 0; s < static_cast<int>(sizes_.size()); ++s) {
      blurs += kernels::blur_groups(y, y_end, setup_.height, s);
      scores += kernels::score_groups(y, y_end, setup_.height, s);
    }
    if (blurs > 0) {
      ACUITY_TRY(work_->run(kernels::blur_chroma, groups(setup_.width, 32), blurs, array<const float>(lab_),
                            array<float>(ready_), setup_.width, setup_.height, y, y_end, band_));
    }
    if (scores == 0) return {};
    return work_->run(kernels::score_tiles, groups(setup_.width, 32), scores, array<const float>(lab_),
                      array<const float>(ready_), array<float>(errors_), array<float>(tiles_), setup_.width,
                      setup_.height, y, y_end, band_);
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
  Workspace workspace_;                                   // its queues go before what they work on
  Recordings<std::vector<PixelReader::Key>> recordings_;  // go before the queues
  Queue *maker_ = nullptr, *work_ = nullptr;
  Event* begun_ = nullptr;  // recorded work
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) { return GpuRunner::create(setup); }

}  // namespace dssim
}  // namespace acuity
