// SPDX-License-Identifier: BSD-2-Clause-Patent
// zensim on a GPU, whichever: the launches. Bands of rows are worked on as they arrive.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/try.h"
#include "device/recordings.h"
#include "device/workspace.h"
#include "engine/alpha_feed.h"
#include "lang/host.h"
#include "metrics/zensim/pattern.h"
#include "metrics/zensim/runner.h"

namespace acuity {

extern const KernelFile zensim_kernels;
extern const KernelFile zensim_weighted_kernels;

namespace zensim {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &zensim_kernels;
#include "metrics/zensim/kernels.h"

}  // namespace kernels

namespace weighted_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &zensim_weighted_kernels;
#include "metrics/zensim/weighted_kernels.h"

}  // namespace weighted_kernels

namespace {

constexpr int kOneBandPixels = 1 << 20;  // pictures up to this size are one band
constexpr int kBands = 3;                // of others, at least: each walks along all columns, however few its rows
constexpr int kMostBandRows = 1024;      // a large GPU works on all strips of so many at once
constexpr int kBandUnit = 64;            // bands are multiples of this: the smallest scale wants a multiple of 8
constexpr int kReadBehind = 64;          // floats behind the last row that kernels read and do not use
constexpr int kPlanes = 6;

// The reference's samples stay on the device; making planes of them again costs less than the memory to keep these.
class PreparedPicture final : public PreparedReference {
 public:
  PreparedPicture(Input input, Rows rows, float nits) : input_(std::move(input)), rows_(std::move(rows)), nits_(nits) {}
  Picture picture() const { return {&input_, &rows_, input_.view().has_alpha() ? &input_.view() : nullptr, nits_}; }
  size_t bytes() const override { return bytes_of(input_); }

 private:
  Input input_;
  Rows rows_;
  float nits_;
};

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, const Layout& layout,
                                                const Wanted& wanted) {
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup, layout, wanted.weighted));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override { return workspace_.bytes() + feeds_[0].bytes() + feeds_[1].bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) override {
    Input samples;
    ACUITY_TRY_ASSIGN(samples,
                      keep_on_device(*reference.input, *reference.rows, setup_.pool, *work_, setup_.senders()));
    Rows rows = reference.rows->of_copy(samples.view());
    return std::shared_ptr<const PreparedReference>(
        std::make_shared<PreparedPicture>(std::move(samples), std::move(rows), reference.nits));
  }

  Result<const PictureSums*> run(const ReferencePicture& reference, const Picture& distorted) override {
    const Picture original = reference.prepared != nullptr
                                 ? static_cast<const PreparedPicture*>(reference.prepared)->picture()
                                 : *reference.picture;
    const Pictures pictures{&original, &distorted};
    std::vector<Feed*> feeds;
    for (size_t i = 0; i < 2; ++i) {
      ACUITY_TRY(feeds_[i].begin(*pictures[i]->input, *pictures[i]->rows, pictures[i]->alpha, setup_.pool));
      feeds_[i].add_to(feeds);
    }
    ACUITY_TRY(Feed::send(feeds, std::vector(feeds.size(), work_), SendOrder::together));
    ACUITY_TRY(submit_or_replay(pictures, feeds));
    ACUITY_TRY(work_->wait());
    for (Feed* feed : feeds) feed->note_wait();
    const auto* strip = reinterpret_cast<const StripSums*>(workspace_.results().data());
    for (size_t s = 0; s < kScales; ++s) {
      for (size_t i = 0; i < sums_[s][0].size(); ++i) {
        for (std::vector<StripSums>& channel : sums_[s]) channel[i] = known_sums(*strip++);
      }
    }
    return &sums_;
  }

  // The engine asks for maps on the CPU only.
  const Maps& maps() const override { return maps_; }

 private:
  using Pictures = std::array<const Picture*, 2>;
  // What recorded work depends on.
  struct Key {
    std::vector<PixelReader::Key> pixels;
    std::array<float, 2> nits{};
    bool operator==(const Key&) const = default;
  };

  GpuRunner(const Metric::Setup& setup, const Layout& layout, bool weighted)
      : setup_(setup), layout_(layout), weighted_(weighted), workspace_(setup.pool) {
    const int height = layout.mirrored.height;
    const bool small = int64_t{layout.mirrored.width} * height <= kOneBandPixels;
    int rows = small || layout.picture.height < kMinimumSide ? height : std::min(groups(height, kBands), kMostBandRows);
    if (setup.strip_rows > 0) rows = std::clamp(setup.strip_rows, 1, rows);
    band_ = std::min(static_cast<int>(round_up(static_cast<size_t>(rows), kBandUnit)), height);
    for (size_t s = 0; s < kScales; ++s) {
      for (std::vector<StripSums>& channel : sums_[s]) {
        channel.resize(static_cast<size_t>(strips_of(layout.sizes[s].height)));
      }
    }
  }

  Status allocate() {
    const int width = layout_.picture.width, height = layout_.picture.height;
    int64_t plane = 0;
    for (int s = 0; s < SCALES; ++s) {
      plane += int64_t{kernels::ring_of(height, band_, s)} * kernels::stride_of(width, s);
    }
    MemoryLayout memory;
    planes_at_ = memory.place(static_cast<size_t>(plane) * kPlanes + kReadBehind);
    pattern_at_ = memory.place(kPattern);
    const size_t sums = static_cast<size_t>(kernels::strips_before(height, SCALES)) * kChannels;
    static_assert(sizeof(StripSums) == (2 * ALL_SUMS + MAXIMA) * sizeof(float));
    sums_at_ = memory.place(sums * sizeof(StripSums) / sizeof(float));
    ACUITY_TRY(workspace_.allocate(memory, sums * sizeof(StripSums), "zensim"));
    ACUITY_TRY_ASSIGN(maker_, workspace_.create_queue());
    ACUITY_TRY_ASSIGN(work_, workspace_.create_queue());
    ACUITY_TRY_ASSIGN(begun_, workspace_.create_event());
    for (AlphaFeed& feed : feeds_) {
      ACUITY_TRY(feed.create(workspace_, *maker_, setup_.senders(), std::min(band_, layout_.picture.height)));
    }
    ACUITY_TRY(workspace_.send(*work_, pattern_at_, {pattern().begin(), pattern().end()}));
    return workspace_.prepare({kernels::make_planes, weighted_ ? KernelInfo(weighted_kernels::sum_weighted_strips)
                                                               : KernelInfo(kernels::sum_strips)});
  }

  // Nobody writes the sums with weights where none are wanted.
  StripSums known_sums(StripSums sums) const {
    if (weighted_) return sums;
    std::fill(sums.high.begin() + BASIC_SUMS, sums.high.end(), 0.0f);
    std::fill(sums.low.begin() + BASIC_SUMS, sums.low.end(), 0.0f);
    return sums;
  }

  Status submit_or_replay(const Pictures& pictures, const std::vector<Feed*>& feeds) {
    const auto submit = [&](bool recorded) -> Status {
      for (Feed* feed : feeds) feed->rewind();
      if (recorded) ACUITY_TRY(begin_recording(feeds));
      for (int y = 0; y < layout_.mirrored.height; y += band_) ACUITY_TRY(run_band(pictures, y, recorded));
      return workspace_.fetch_results(*work_, sums_at_);
    };
    std::optional<std::vector<PixelReader::Key>> pixels = Feed::keys(feeds);
    if (!pixels) return submit(false);
    const Key key{std::move(*pixels), {pictures[0]->nits, pictures[1]->nits}};
    const Launches launches = launches_of(band_, layout_.mirrored.height);
    return recordings_.run(setup_.pool->device(), *work_, key, submit, launches);
  }

  Status begin_recording(const std::vector<Feed*>& feeds) {
    if (band_ >= layout_.mirrored.height) ACUITY_TRY(Feed::record_arrival(feeds, *work_));
    if (std::none_of(feeds.begin(), feeds.end(), [](const Feed* feed) { return feed->makes_pixels(); })) return {};
    ACUITY_TRY(work_->signal(*begun_));
    return maker_->wait_for(*begun_);
  }

  // Rows from y on of both pictures, through all scales as far as they go.
  Status run_band(const Pictures& pictures, int y, bool recorded) {
    const int width = layout_.picture.width, height = layout_.picture.height;
    const int y_end = std::min(y + band_, layout_.mirrored.height);
    const auto slot = [&](int first, int s) { return (first >> s) % kernels::ring_of(height, band_, s); };
    for (size_t i = 0; i < 2; ++i) {
      AlphaFeed::Sent sent;
      // A picture that is mirrored downwards is one band.
      ACUITY_TRY_ASSIGN(sent, feeds_[i].take(*work_, y, std::min(y_end, height), recorded));
      ACUITY_TRY(work_->run(kernels::make_planes, groups(layout_.sizes[0].width, BLOCK), groups(y_end - y, BLOCK),
                            sent.pixels.samples, sent.pixels.table, sent.alpha,
                            workspace_.array<const float>(pattern_at_), workspace_.array<float>(planes_at_),
                            sent.pixels.format, sent.pixels.table_last, sent.pixels.plane_stride, sent.has_alpha,
                            sent.pixels.y_first, static_cast<int>(i), width, height, y, y_end, band_, slot(y, 0),
                            slot(y, 1), slot(y, 2), slot(y, 3), pictures[i]->nits));
      ACUITY_TRY(feeds_[i].release(*work_));
    }
    int strips = 0;
    for (int s = 0; s < SCALES; ++s) {
      strips += kernels::ready_strips(y_end, height, s) - kernels::ready_strips(y, height, s);
    }
    if (strips == 0) return {};
    const auto sum = [&](const auto& kernel) {
      return work_->run(kernel, static_cast<int>(kChannels), strips, workspace_.array<const float>(planes_at_),
                        workspace_.array<float>(sums_at_), width, height, y, y_end, band_);
    };
    return weighted_ ? sum(weighted_kernels::sum_weighted_strips) : sum(kernels::sum_strips);
  }

  Metric::Setup setup_;
  Layout layout_;
  bool weighted_;
  int band_ = 0;                                         // rows
  size_t planes_at_ = 0, pattern_at_ = 0, sums_at_ = 0;  // offsets
  PictureSums sums_;
  Maps maps_;
  std::array<AlphaFeed, 2> feeds_;
  Workspace workspace_;         // its queues go before what they work on
  Recordings<Key> recordings_;  // go before the queues
  Queue *maker_ = nullptr, *work_ = nullptr;
  Event* begun_ = nullptr;  // recorded work
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Layout& layout,
                                                  const Wanted& wanted) {
  return GpuRunner::create(setup, layout, wanted);
}

}  // namespace zensim
}  // namespace acuity
