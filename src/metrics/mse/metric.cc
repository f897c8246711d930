// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/mse/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/image_copy.h"
#include "base/powers.h"
#include "base/try.h"
#include "colour/rows.h"
#include "metrics/mse/cpu.h"
#include "metrics/mse/gpu.h"
#include "metrics/tiles.h"

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

  size_t working_bytes() const final {
    return reference_.memory.size() + tile_count(setup_.width, setup_.height) * sizeof(mse::TileSums);
  }

  Status set_reference(const ImageView& reference) final {
    Result<ImageCopy> copy = copy_image(reference);
    if (!copy.ok()) return copy.status();
    reference_ = std::move(*copy);
    return {};
  }

  Result<Measurement> score(const ImageView& distorted) final { return score(reference_.view, distorted); }

  Result<Measurement> score(const ImageView& reference, const ImageView& distorted) final {
    std::vector<std::optional<float>> backgrounds{std::nullopt};
    if (reference.has_alpha() || distorted.has_alpha()) backgrounds = {0.0f, 1.0f};
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
  Result<Errors> compare(const ImageView& reference, const ImageView& distorted, std::optional<float> background) {
    Result<Rows> a = Rows::create(reference, kSpace, background);
    if (!a.ok()) return a.status();
    Result<Rows> b = Rows::create(distorted, kSpace, background);
    if (!b.ok()) return b.status();

    Errors errors;
    const size_t pixels = static_cast<size_t>(setup_.width) * static_cast<size_t>(setup_.height);
    if (setup_.want_map) errors.map = {setup_.width, setup_.height, std::vector<float>(pixels)};
    std::array<double, 3> sums{};
    if (setup_.device != nullptr) {
      ACUITY_TRY_ASSIGN(sums, mse::sum_on_device(*setup_.device, *setup_.threads, *a, *b));
    } else {
      float* map = setup_.want_map ? errors.map.values.data() : nullptr;
      sums = mse::sum_squared_differences(*a, *b, *setup_.threads, map);
    }
    for (size_t c = 0; c < 3; ++c) errors.channel[c] = sums[c] / static_cast<double>(pixels);
    errors.all = (sums[0] + sums[1] + sums[2]) / (3 * static_cast<double>(pixels));
    errors.assumptions = {"reference: " + a->description(), "distorted: " + b->description()};
    return errors;
  }

  Setup setup_;
  ImageCopy reference_;
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
  return std::unique_ptr<Metric>(std::make_unique<Kind>(setup));
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
