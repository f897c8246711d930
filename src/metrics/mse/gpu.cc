// SPDX-License-Identifier: BSD-2-Clause-Patent
// The launches. Some rows of tiles are worked on while the next rows of the pictures are in flight.
#include "metrics/mse/gpu.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.h"
#include "device/pixels/feed.h"
#include "device/recordings.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/mse/cpu.h"
#include "sums/tiles.h"

namespace acuity {

extern const KernelFile mse_kernels;

namespace mse {
namespace {

namespace kernels {
// Including the kernels here declares `sum_tiles`, with its argument types, for Queue::run.
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &mse_kernels;
#include "metrics/mse/kernels.h"
}  // namespace kernels

constexpr int kBandRows = 4 * kTileHeight;
constexpr int kFewBands = 4;  // pictures of up to so many are few launches

class Runner final : public GpuSums {
 public:
  explicit Runner(const Metric::Setup& setup) : setup_(setup), workspace_(setup.pool) {
    const int rows = setup.strip_rows > 0 ? groups(setup.strip_rows, kTileHeight) * kTileHeight : kBandRows;
    band_rows_ = std::min(rows, setup.height);
  }

  Status allocate() {
    MemoryLayout layout;
    const size_t tiles = tile_count(setup_.width, setup_.height);
    sums_ = layout.place(tiles * 3);
    ACUITY_TRY(workspace_.allocate(layout, tiles * sizeof(TileSums), "mse"));
    ACUITY_TRY(workspace_.prepare({kernels::sum_tiles}));
    ACUITY_TRY_ASSIGN(queue_, workspace_.create_queue());
    ACUITY_TRY_ASSIGN(reference_, Feed::create(workspace_, *queue_, setup_.senders(), band_rows_));
    ACUITY_TRY_ASSIGN(distorted_, Feed::create(workspace_, *queue_, setup_.senders(), band_rows_));
    return {};
  }

  size_t bytes() const override { return workspace_.bytes() + reference_->bytes() + distorted_->bytes(); }

  Result<Input> keep(const InputRows& reference) override {
    return keep_on_device(reference.input, reference.rows, setup_.pool, *queue_, setup_.senders());
  }

  Result<std::array<double, 3>> run(const InputRows& reference, const InputRows& distorted) override {
    ACUITY_TRY(begin(*reference_, reference));
    ACUITY_TRY(begin(*distorted_, distorted));
    const std::array<Feed*, 2> both{&*reference_, &*distorted_};
    ACUITY_TRY(Feed::send(both, std::array{queue_, queue_}, SendOrder::together));
    ACUITY_TRY(submit_or_replay(both));
    ACUITY_TRY(queue_->wait());
    for (Feed* feed : both) feed->note_wait();
    return add_tiles(
        {reinterpret_cast<const TileSums*>(workspace_.results().data()), tile_count(setup_.width, setup_.height)});
  }

 private:
  Status begin(Feed& feed, const InputRows& input) {
    DevicePicture picture;
    ACUITY_TRY_ASSIGN(picture, device_picture(input.input, input.rows, setup_.pool));
    return feed.begin(picture);
  }

  Status submit_or_replay(const std::array<Feed*, 2>& both) {
    const auto submit_work = [&](bool recorded) { return submit(both, recorded); };
    const std::optional<Key> key = Feed::keys(both);
    if (!key) return submit_work(false);
    const Launches launches = launches_of(kFewBands * band_rows_, setup_.height);
    return recordings_.run(setup_.pool->device(), *queue_, *key, submit_work, launches);
  }

  Status submit(const std::array<Feed*, 2>& both, bool recorded) {
    const int width = setup_.width, height = setup_.height;
    for (Feed* feed : both) feed->rewind();
    for (int y = 0; y < height; y += band_rows_) {
      const int y_end = std::min(y + band_rows_, height);
      SentPixels a, b;
      ACUITY_TRY_ASSIGN(a, both[0]->take(*queue_, y, y_end, recorded));
      ACUITY_TRY_ASSIGN(b, both[1]->take(*queue_, y, y_end, recorded));
      ACUITY_TRY(queue_->run(kernels::sum_tiles, groups(width, kTileWidth), groups(y_end - y, kTileHeight), a.samples,
                             b.samples, a.table, b.table, workspace_.array<float>(sums_), a.format, a.table_last,
                             a.plane_stride, a.y_first, b.format, b.table_last, b.plane_stride, b.y_first, width, y,
                             y_end));
      for (Feed* feed : both) ACUITY_TRY(feed->release(*queue_));
    }
    return workspace_.fetch_results(*queue_, sums_);
  }

  using Key = std::vector<PixelReader::Key>;  // what recorded work depends on

  Metric::Setup setup_;
  int band_rows_ = 0;
  size_t sums_ = 0;  // an offset
  std::optional<Feed> reference_, distorted_;
  Workspace workspace_;         // its queues go before what they work on
  Recordings<Key> recordings_;  // go before the queues
  Queue* queue_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<GpuSums>> GpuSums::create(const Metric::Setup& setup) {
  auto runner = std::make_unique<Runner>(setup);
  ACUITY_TRY(runner->allocate());
  return std::unique_ptr<GpuSums>(std::move(runner));
}

}  // namespace mse
}  // namespace acuity
