// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, whichever.
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "metrics/ssimulacra2/gpu_bands.h"
#include "metrics/ssimulacra2/runner.h"

namespace acuity::ssimulacra2 {
namespace {

constexpr int64_t kSmallPixels = 1 << 19;          // pictures up to this size are not cut into bands at all
constexpr int64_t kMostPixels = int64_t{1} << 29;  // samples are numbered in 32 bits

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    if (int64_t{setup.width} * setup.height > kMostPixels) {
      return Status(StatusCode::too_big,
                    fmt::format("{}x{} pixels are more than the {} that the kernels can count; use the "
                                "device cpu",
                                setup.width, setup.height, kMostPixels));
    }
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup));
    ACUITY_TRY(runner->pixels_.create());
    ACUITY_TRY_ASSIGN(runner->pairs_, Bands::create(runner->setup_, Bands::Kind::pairs));
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override {
    return pixels_.bytes() + (kept_ ? kept_->bytes() : 0) + (pairs_ ? pairs_->bytes() : 0) +
           (prepared_ ? prepared_->bytes() : 0);
  }

  // Who scores against a prepared reference seldom scores pairs as well, and needs the memory.
  Status prepare(const Rows& reference) override {
    pairs_.reset();
    if (!kept_) ACUITY_TRY_ASSIGN(kept_, KeptReference::create(setup_));
    if (!prepared_) ACUITY_TRY_ASSIGN(prepared_, Bands::create(setup_, Bands::Kind::prepared));
    return kept_->prepare(pixels_, reference);
  }

  void forget() override {}

  Result<std::vector<ScaleErrors>> run(const Rows* reference, const Rows& distorted) override {
    if (reference == nullptr) return prepared_->run(pixels_, {nullptr, &distorted}, kept_.get());
    if (!pairs_) ACUITY_TRY_ASSIGN(pairs_, Bands::create(setup_, Bands::Kind::pairs));
    return pairs_->run(pixels_, {reference, &distorted}, nullptr);
  }

  Result<DifferenceMap> map(const Rows*, const Rows&, const std::vector<ScaleErrors>&) override {
    return no_map_on_gpus();
  }

 private:
  explicit GpuRunner(const Metric::Setup& setup) : setup_(setup), pixels_(setup_) {}

  // What comes later works on the memory of what comes before, and goes first.
  Metric::Setup setup_;
  PixelBands pixels_;
  std::unique_ptr<KeptReference> kept_;
  std::unique_ptr<Bands> pairs_, prepared_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) {
  const bool small = setup.strip_rows == 0 && int64_t{setup.width} * setup.height <= kSmallPixels;
  return small ? create_small_gpu_runner(setup) : GpuRunner::create(setup);
}

}  // namespace acuity::ssimulacra2
