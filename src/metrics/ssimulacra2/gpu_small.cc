// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 of small pictures on a GPU: three launches on one queue, each for all scales.
#include <array>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/ssimulacra2/runner.h"
#include "metrics/ssimulacra2/scale.h"
#include "metrics/tiles.h"
#include "metrics/upload.h"

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

  size_t working_bytes() const override {
    return planes_->size() + tiles_->size() + results_->size() + prepared_upload_.bytes() + uploads_[0].bytes() +
           uploads_[1].bytes();
  }

  Status prepare(const Rows& reference) override {
    ACUITY_TRY_ASSIGN(prepared_, send(prepared_upload_, reference));
    return queue_->wait();
  }

  void forget() override {}

  Result<std::vector<ScaleErrors>> run(const Rows* reference, const Rows& distorted) override {
    SentPixels a = prepared_, b;
    if (reference != nullptr) ACUITY_TRY_ASSIGN(a, send(uploads_[0], *reference));
    ACUITY_TRY_ASSIGN(b, send(uploads_[1], distorted));
    const int width = setup_.width, height = setup_.height;
    const uint64_t planes = planes_->address();
    ACUITY_TRY(queue_->run(kernels::make_scales, (width + 31) / 32, 2 * ((height + 31) / 32), a.samples, b.samples,
                           a.table, b.table, DeviceArray<float>{planes}, a.form, a.extent, b.form, b.extent, width,
                           height, static_cast<int>(sizes_.size())));
    ACUITY_TRY(queue_->run(kernels::filter_rows_of_scales, end_.row_block, kChannels, DeviceArray<const float>{planes},
                           DeviceArray<float>{planes}, width, height));
    ACUITY_TRY(queue_->run(kernels::filter_columns_of_scales, end_.column, kChannels, DeviceArray<const float>{planes},
                           DeviceArray<const kernels::real4>{planes}, DeviceArray<float>{tiles_->address()}, width,
                           height));
    ACUITY_TRY(queue_->download(*results_, 0, *tiles_, 0, results_->size()));
    ACUITY_TRY(queue_->wait());
    return pool_scales(reinterpret_cast<const TileSums*>(results_->data()), sizes_);
  }

  Result<DifferenceMap> map(const Rows*, const Rows&, const std::vector<ScaleErrors>&) override {
    return no_map_on_gpus();
  }

 private:
  explicit SmallGpuRunner(const Metric::Setup& setup)
      : setup_(setup),
        sizes_(scale_sizes(setup.width, setup.height)),
        uploads_{Upload(*setup.device, *setup.threads), Upload(*setup.device, *setup.threads)},
        prepared_upload_(*setup.device, *setup.threads) {}

  Status allocate() {
    end_ = kernels::place_of_first(setup_.width, setup_.height);
    for (size_t s = 0; s < sizes_.size(); ++s) end_ = kernels::place_after(end_);
    const size_t tile_bytes = static_cast<size_t>(end_.tile) * sizeof(TileSums);
    ACUITY_TRY_ASSIGN(planes_, setup_.device->allocate(static_cast<size_t>(end_.xyb) * sizeof(float)));
    ACUITY_TRY_ASSIGN(tiles_, setup_.device->allocate(tile_bytes));
    ACUITY_TRY_ASSIGN(results_, setup_.device->allocate_pinned(tile_bytes));
    ACUITY_TRY_ASSIGN(queue_, setup_.device->create_queue());
    for (const KernelInfo& kernel : std::initializer_list<KernelInfo>{
             kernels::make_scales, kernels::filter_rows_of_scales, kernels::filter_columns_of_scales}) {
      ACUITY_TRY(setup_.device->prepare(kernel));
    }
    return {};
  }

  Result<SentPixels> send(Upload& upload, const Rows& picture) {
    ACUITY_TRY(upload.begin(*queue_, picture, setup_.height, 1));
    return upload.send(*queue_, picture, 0, setup_.height, 0);
  }

  Metric::Setup setup_;
  std::vector<Size> sizes_;
  kernels::Place end_{};  // behind the last scale
  std::unique_ptr<DeviceMemory> planes_, tiles_;
  std::unique_ptr<PinnedMemory> results_;
  std::array<Upload, 2> uploads_;
  Upload prepared_upload_;
  SentPixels prepared_;
  std::unique_ptr<Queue> queue_;  // goes before the memory, and waits for what is in flight on it
};

}  // namespace

Result<std::unique_ptr<Runner>> create_small_gpu_runner(const Metric::Setup& setup) {
  return SmallGpuRunner::create(setup);
}

}  // namespace ssimulacra2
}  // namespace acuity
