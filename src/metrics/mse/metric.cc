// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/mse/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "colour/rows.h"
#include "metrics/mse/cpu.h"
#include "metrics/mse/gpu.h"
#include "sums/tiles.h"

namespace acuity {
namespace {

constexpr WorkingSpace kSpace{.encoding = WorkingSpace::Encoding::srgb_codes};
constexpr double kPeak = 255;
constexpr double kMaximumPsnr = 100;  // of identical pictures, whose true ratio is infinite
constexpr const char* kAlphaRule = "composited over black and over white; the worse of the two results counts";

double psnr(double error) {
  if (error == 0) return kMaximumPsnr;
  return std::min(10 * exact_log10(kPeak * kPeak / error), kMaximumPsnr);
}

// What one comparison found.
struct Errors {
  std::array<double, 3> channel{};  // mean squared errors of red, green and blue
  double all = 0;                   // of all samples
  DifferenceMap map;
  std::vector<std::string> assumptions;
};

class MeanSquaredError : public Metric {
 public:
  explicit MeanSquaredError(const Setup& setup) : setup_(setup) {}

  // Where there is a device. Memory is kept from call to call.
  Status create_gpu() {
    if (setup_.pool) ACUITY_TRY_ASSIGN(gpu_, mse::GpuSums::create(setup_));
    return {};
  }

  size_t working_bytes() const final {
    return gpu_ ? gpu_->bytes() : tile_count(setup_.width, setup_.height) * sizeof(mse::TileSums);
  }

  // There is nothing to compute ahead. On a device the samples stay where they are.
  Result<std::shared_ptr<const PreparedReference>> prepare(const Input& reference) final {
    Result<InputRows> rows = InputRows::create(reference, kSpace, 0.0f);
    if (!rows.ok()) return rows.status();
    Input prepared;
    ACUITY_TRY_ASSIGN(prepared, gpu_ ? gpu_->keep(*rows) : keep_input(reference));
    return std::shared_ptr<const PreparedReference>(std::make_shared<PreparedInput>(std::move(prepared)));
  }

  Result<Measurement> score(const PreparedReference& reference, const Input& distorted) final {
    return score(static_cast<const PreparedInput&>(reference).input(), distorted);
  }

  Result<Measurement> score(const Input& reference, const Input& distorted) final {
    std::vector<std::optional<float>> backgrounds{std::nullopt};
    if (reference.view().has_alpha() || distorted.view().has_alpha()) backgrounds = {0.0f, 1.0f};
    std::optional<Errors> worst;
    for (const std::optional<float>& background : backgrounds) {
      Result<Errors> errors = compare(reference, distorted, background);
      if (!errors.ok()) return errors.status();
      if (!worst || errors->all > worst->all) worst = std::move(*errors);
    }
    if (backgrounds.size() > 1) worst->assumptions.push_back(std::string("alpha ") + kAlphaRule);
    return measurement(std::move(*worst));
  }

 protected:
  virtual Measurement measurement(Errors errors) const = 0;

 private:
  Result<Errors> compare(const Input& reference, const Input& distorted, std::optional<float> background) {
    Result<InputRows> a = InputRows::create(reference, kSpace, background);
    if (!a.ok()) return a.status();
    Result<InputRows> b = InputRows::create(distorted, kSpace, background);
    if (!b.ok()) return b.status();

    Errors errors;
    const size_t pixels = static_cast<size_t>(setup_.width) * static_cast<size_t>(setup_.height);
    if (setup_.want_map) errors.map = {setup_.width, setup_.height, std::vector<float>(pixels)};
    std::array<double, 3> sums{};
    if (gpu_) {
      ACUITY_TRY_ASSIGN(sums, gpu_->run(*a, *b));
    } else {
      float* map = setup_.want_map ? errors.map.values.data() : nullptr;
      sums = mse::sum_squared_differences(a->rows, b->rows, *setup_.threads, map);
    }
    for (size_t c = 0; c < 3; ++c) errors.channel[c] = sums[c] / static_cast<double>(pixels);
    errors.all = (sums[0] + sums[1] + sums[2]) / (3 * static_cast<double>(pixels));
    errors.assumptions = {"reference: " + a->rows.description(), "distorted: " + b->rows.description()};
    return errors;
  }

  Setup setup_;
  std::unique_ptr<mse::GpuSums> gpu_;  // null: the CPU
};

class Mse final : public MeanSquaredError {
 public:
  using MeanSquaredError::MeanSquaredError;

 private:
  Measurement measurement(Errors errors) const override {
    return {.value = errors.all,
            .outputs = {{"mse_r", errors.channel[0]}, {"mse_g", errors.channel[1]}, {"mse_b", errors.channel[2]}},
            .map = std::move(errors.map),
            .assumptions = std::move(errors.assumptions)};
  }
};

class Psnr final : public MeanSquaredError {
 public:
  using MeanSquaredError::MeanSquaredError;

 private:
  Measurement measurement(Errors errors) const override {
    return {.value = psnr(errors.all),
            .outputs = {{"psnr_r", psnr(errors.channel[0])},
                        {"psnr_g", psnr(errors.channel[1])},
                        {"psnr_b", psnr(errors.channel[2])},
                        {"mse", errors.all},
                        {"mse_r", errors.channel[0]},
                        {"mse_g", errors.channel[1]},
                        {"mse_b", errors.channel[2]}},
            .map = std::move(errors.map),
            .assumptions = std::move(errors.assumptions)};
  }
};

template <typename Kind>
Result<std::unique_ptr<Metric>> create(const Metric::Setup& setup) {
  auto metric = std::make_unique<Kind>(setup);
  ACUITY_TRY(metric->create_gpu());
  return std::unique_ptr<Metric>(std::move(metric));
}

// Neither has anchors: the same figure can be invisible in one picture and ugly in another.
std::string no_meaning(double) { return ""; }

}  // namespace

MetricEntry psnr_entry() {
  return {.info = {.name = "psnr",
                   .version = "1",
                   .title = "peak signal-to-noise ratio of sRGB codes, in dB",
                   .better = Better::higher,
                   .identical = kMaximumPsnr,
                   .minimum_side = 1,
                   .has_map = true,
                   .alpha_rule = kAlphaRule},
          .create = create<Psnr>,
          .meaning = no_meaning,
          .on_gpu = true,
          .cpu_ns = 4};
}

MetricEntry mse_entry() {
  return {.info = {.name = "mse",
                   .version = "1",
                   .title = "mean squared error of sRGB codes",
                   .better = Better::lower,
                   .identical = 0,
                   .minimum_side = 1,
                   .has_map = true,
                   .alpha_rule = kAlphaRule},
          .create = create<Mse>,
          .meaning = no_meaning,
          .on_gpu = true,
          .cpu_ns = 4};
}

}  // namespace acuity
