// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, whichever.
#include <utility>

#include "base/try.h"
#include "metrics/ssimulacra2/gpu_schedule.h"
#include "metrics/ssimulacra2/runner.h"

namespace acuity::ssimulacra2 {
namespace {

constexpr int64_t kSmallPixels = 1 << 19;  // pictures up to this size are not cut into bands at all

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup));
    ACUITY_TRY(runner->samples_.create());
    ACUITY_TRY_ASSIGN(runner->pairs_, Schedule::create(runner->setup_, Schedule::Kind::pairs));
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override {
    return samples_.bytes() + (pairs_ ? pairs_->bytes() : 0) + (prepared_ ? prepared_->bytes() : 0);
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const InputRows& reference) override {
    return prepare_samples(setup_, samples_.queue(), reference);
  }

  // Who scores against a prepared reference seldom scores pairs as well, and needs the memory.
  Result<std::vector<ScaleErrors>> run(const ReferencePicture& reference, const InputRows& distorted) override {
    if (reference.prepared == nullptr) {
      if (!pairs_) ACUITY_TRY_ASSIGN(pairs_, Schedule::create(setup_, Schedule::Kind::pairs));
      return pairs_->run(samples_, *reference.rows, distorted);
    }
    if (!prepared_) {
      pairs_.reset();
      setup_.pool->free_unused();
      ACUITY_TRY_ASSIGN(prepared_, Schedule::create(setup_, Schedule::Kind::prepared));
    }
    return prepared_->run(samples_, static_cast<const PreparedSamples*>(reference.prepared)->rows(), distorted);
  }

  Result<DifferenceMap> map(const ReferencePicture&, const InputRows&, const std::vector<ScaleErrors>&) override {
    return no_map_on_gpus();
  }

 private:
  explicit GpuRunner(const Metric::Setup& setup) : setup_(setup), samples_(setup_) {}

  // What comes later works on the memory of what comes before, and goes first.
  Metric::Setup setup_;
  Samples samples_;
  std::unique_ptr<Schedule> pairs_, prepared_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) {
  const bool small = setup.strip_rows == 0 && int64_t{setup.width} * setup.height <= kSmallPixels;
  return small ? create_small_gpu_runner(setup) : GpuRunner::create(setup);
}

}  // namespace acuity::ssimulacra2
