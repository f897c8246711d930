// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 of small pictures on a GPU: three launches on one queue, each for all scales.
#include <array>
#include <utility>

#include "base/try.h"
#include "device/pixels/reader.h"
#include "device/recordings.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/ssimulacra2/gpu_reference.h"
#include "metrics/ssimulacra2/runner.h"
#include "metrics/ssimulacra2/scale.h"
#include "sums/tiles.h"

namespace acuity {

extern const KernelFile ssimulacra2_small_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_small_kernels;
#include "metrics/ssimulacra2/small_kernels.h"

}  // namespace kernels

namespace {

class SmallGpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    std::unique_ptr<SmallGpuRunner> runner(new SmallGpuRunner(setup));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override { return workspace_.bytes() + readers_[0].bytes() + readers_[1].bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const InputRows& reference) override {
    Result<InputRows> rows = keep_samples(setup_, *queue_, reference);
    if (!rows.ok()) return rows.status();
    return std::shared_ptr<const PreparedReference>(std::make_shared<PreparedPicture>(std::move(*rows), nullptr));
  }

  Result<std::vector<ScaleErrors>> run(const ReferencePicture& reference, const InputRows& distorted) override {
    const InputRows& original = reference.prepared != nullptr
                                    ? static_cast<const PreparedPicture*>(reference.prepared)->rows()
                                    : *reference.rows;
    ACUITY_TRY(begin(readers_[0], original));
    ACUITY_TRY(begin(readers_[1], distorted));
    const std::array<PixelReader*, 2> both{&readers_[0], &readers_[1]};
    ACUITY_TRY(PixelReader::send(both, std::array{queue_, queue_}, SendOrder::together, setup_.height));
    ACUITY_TRY(submit_or_replay());
    ACUITY_TRY(queue_->wait());
    for (PixelReader* reader : both) reader->note_wait();
    return pool_scales(reinterpret_cast<const TileSums*>(workspace_.results().data()), sizes_);
  }

  Result<DifferenceMap> map(const ReferencePicture&, const InputRows&, const std::vector<ScaleErrors>&) override {
    return no_map_on_gpus();
  }

 private:
  explicit SmallGpuRunner(const Metric::Setup& setup)
      : setup_(setup),
        sizes_(scale_sizes(setup.width, setup.height)),
        readers_{PixelReader(setup.pool, setup.senders()), PixelReader(setup.pool, setup.senders())},
        workspace_(setup.pool) {}

  Status allocate() {
    end_ = kernels::place_of_first(setup_.width, setup_.height);
    for (size_t s = 0; s < sizes_.size(); ++s) end_ = kernels::place_after(end_);
    const size_t tiles = static_cast<size_t>(end_.tile);
    MemoryLayout layout;
    static_cast<void>(layout.place(static_cast<size_t>(end_.xyb)));  // first
    tiles_ = layout.place(tiles * kChannels * kSums);
    ACUITY_TRY(workspace_.allocate(layout, tiles * sizeof(TileSums), "ssimulacra2"));
    ACUITY_TRY_ASSIGN(queue_, workspace_.create_queue());
    return workspace_.prepare(
        {kernels::make_scales, kernels::filter_rows_of_scales, kernels::filter_columns_of_scales});
  }

  Status begin(PixelReader& reader, const InputRows& input) {
    DevicePicture picture;
    ACUITY_TRY_ASSIGN(picture, device_picture(input.input, input.rows, setup_.pool));
    return reader.begin(*queue_, picture, setup_.height, 1);
  }

  Status submit_or_replay() {
    const auto submit_work = [&](bool recorded) { return submit(recorded); };
    if (!readers_[0].may_be_recorded() || !readers_[1].may_be_recorded()) return submit(false);
    const Key key{readers_[0].key(), readers_[1].key()};
    return recordings_.run(setup_.pool->device(), *queue_, key, submit_work, Launches::few);
  }

  Status submit(bool recorded) {
    for (PixelReader& reader : readers_) ACUITY_TRY(read(reader, recorded));
    const SentPixels a = readers_[0].pixels(0, 0), b = readers_[1].pixels(0, 0);
    const int width = setup_.width, height = setup_.height;
    const uint64_t planes = workspace_.memory().address();
    ACUITY_TRY(queue_->run(kernels::make_scales, (width + 31) / 32, 2 * ((height + 31) / 32), a.samples, b.samples,
                           a.table, b.table, DeviceArray<float>{planes}, a.format, a.table_last, a.plane_stride,
                           b.format, b.table_last, b.plane_stride, width, height, static_cast<int>(sizes_.size())));
    ACUITY_TRY(queue_->run(kernels::filter_rows_of_scales, end_.row_group, kChannels, DeviceArray<const float>{planes},
                           DeviceArray<float>{planes}, width, height));
    ACUITY_TRY(queue_->run(kernels::filter_columns_of_scales, end_.column, kChannels, DeviceArray<const float>{planes},
                           DeviceArray<const kernels::real4>{planes}, workspace_.array<float>(tiles_), width, height));
    return workspace_.fetch_results(*queue_, tiles_);
  }

  // All of a picture, for what comes after in the queue.
  Status read(PixelReader& reader, bool recorded) {
    const int height = setup_.height;
    if (!reader.reads_samples()) return reader.make(*queue_, 0, height, 0, 0, recorded);
    return recorded ? reader.record_wait_for_rows(*queue_, height) : reader.wait_for_rows(*queue_, height);
  }

  using Key = std::array<PixelReader::Key, 2>;  // what recorded work depends on

  Metric::Setup setup_;
  std::vector<Size> sizes_;
  kernels::Place end_{};  // behind the last scale
  size_t tiles_ = 0;      // an offset
  std::array<PixelReader, 2> readers_;
  Workspace workspace_;         // its queues go before what they work on
  Recordings<Key> recordings_;  // go before the queues
  Queue* queue_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_small_gpu_runner(const Metric::Setup& setup) {
  return SmallGpuRunner::create(setup);
}

}  // namespace ssimulacra2
}  // namespace acuity
