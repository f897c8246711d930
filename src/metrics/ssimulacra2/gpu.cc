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
    size_t bytes = samples_.bytes();
    for (const std::unique_ptr<Schedule>* schedule : {&pairs_, &samples_there_, &planes_there_}) {
      bytes += *schedule ? (*schedule)->bytes() : 0;
    }
    return bytes;
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const InputRows& reference) override {
    release_pairs();
    Result<InputRows> rows = keep_samples(setup_, samples_.queue(), reference);
    if (!rows.ok()) return rows.status();
    ACUITY_TRY_ASSIGN(making_, ReferencePlanes::create(setup_));
    if (making_) ACUITY_TRY(making_->make(setup_, samples_, *rows));
    return std::shared_ptr<const PreparedReference>(
        std::make_shared<PreparedPicture>(std::move(*rows), std::move(making_)));
  }

  Result<std::vector<ScaleErrors>> run(const ReferencePicture& reference, const InputRows& distorted) override {
    const auto* prepared = static_cast<const PreparedPicture*>(reference.prepared);
    if (prepared != nullptr && prepared->planes() != nullptr) {
      ACUITY_TRY(make_ready(planes_there_, Schedule::Kind::planes));
      return planes_there_->run(samples_, *prepared->planes(), distorted);
    }
    const InputRows& rows = prepared != nullptr ? prepared->rows() : *reference.rows;
    const bool is_there = prepared != nullptr || is_on_device(rows.input, setup_.pool);
    std::unique_ptr<Schedule>& schedule = is_there ? samples_there_ : pairs_;
    ACUITY_TRY(make_ready(schedule, is_there ? Schedule::Kind::samples : Schedule::Kind::pairs));
    return schedule->run(samples_, rows, distorted);
  }

  Result<DifferenceMap> map(const ReferencePicture&, const InputRows&, const std::vector<ScaleErrors>&) override {
    return no_map_on_gpus();
  }

 private:
  explicit GpuRunner(const Metric::Setup& setup) : setup_(setup), samples_(setup_) {}

  // Whoever scores against a reference on the device seldom scores pairs as well, and needs the memory.
  void release_pairs() {
    if (!pairs_) return;
    pairs_.reset();
    setup_.pool->free_unused();
  }

  Status make_ready(std::unique_ptr<Schedule>& schedule, Schedule::Kind kind) {
    if (schedule) return {};
    if (kind != Schedule::Kind::pairs) release_pairs();
    ACUITY_TRY_ASSIGN(schedule, Schedule::create(setup_, kind));
    return {};
  }

  // What comes later works on the memory of what comes before, and goes first.
  Metric::Setup setup_;
  std::unique_ptr<ReferencePlanes> making_;  // while they are being made
  Samples samples_;
  std::unique_ptr<Schedule> pairs_, samples_there_, planes_there_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) {
  const bool small = setup.strip_rows == 0 && int64_t{setup.width} * setup.height <= kSmallPixels;
  return small ? create_small_gpu_runner(setup) : GpuRunner::create(setup);
}

}  // namespace acuity::ssimulacra2
