// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/metric.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/image_copy.h"
#include "base/memory.h"
#include "colour/rows.h"
#include "metrics/ssimulacra2/pooling.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity {
namespace ssimulacra2 {
namespace {

// Rows worked on together where the caller does not say: enough to make the hand-over between bands cheap, few enough
// to stay in the cache.
constexpr int kBandRows = 32;

// Vectors are written whole, up to 16 floats beyond the end of a row, and read whole, up to 64 beyond the end of the
// last.
constexpr size_t kRowPadding = 16;
constexpr size_t kPlanePadding = 64;

// libjxl scales its opsin matrix so that 1.0 is 255 nit.
constexpr WorkingSpace kSpace{
    .encoding = WorkingSpace::Encoding::linear, .srgb_curve = WorkingSpace::SrgbCurve::libjxl, .nits_of_one = 255};

size_t plane_stride(Size size) { return round_up(static_cast<size_t>(size.width) + kRowPadding, 16); }
size_t plane_floats(Size size) { return plane_stride(size) * static_cast<size_t>(size.height) + kPlanePadding; }
size_t planes_cost(Size size) { return kChannels * Arena::cost<float>(plane_floats(size)); }

Planes take_planes(Arena& arena, Size size) {
  Planes planes;
  planes.stride = plane_stride(size);
  for (float*& channel : planes.channel) channel = arena.take<float>(plane_floats(size));
  return planes;
}

class Ssimulacra2 final : public Metric {
 public:
  static Result<std::unique_ptr<Metric>> create(const Setup& setup) {
    std::unique_ptr<Ssimulacra2> metric(new Ssimulacra2(setup));
    Result<Arena> arena = Arena::create(metric->arena_bytes());
    if (!arena.ok()) return arena.status();
    metric->arena_ = std::move(*arena);
    metric->lay_out();
    return std::unique_ptr<Metric>(std::move(metric));
  }

  size_t working_bytes() const override {
    return arena_.size() + pair_arena_.size() + (prepared_ ? prepared_->arena.size() : 0) +
           (copied_ ? copied_->memory.size() : 0);
  }

  Status set_reference(const ImageView& reference) override {
    prepared_.reset();
    copied_.reset();
    // A transparent reference is scored over two backgrounds. Two prepared pyramids would take more memory than they
    // are worth.
    if (reference.has_alpha()) {
      Result<ImageCopy> copy = copy_image(reference);
      if (!copy.ok()) return copy.status();
      copied_ = std::move(*copy);
      return {};
    }
    return prepare(reference);
  }

  Result<Measurement> score(const ImageView& distorted) override {
    if (copied_) return score(copied_->view, distorted);
    const std::optional<float> background = distorted.has_alpha() ? std::optional<float>(0.5f) : std::nullopt;
    Result<Rows> rows = Rows::create(distorted, kSpace, background);
    if (!rows.ok()) return rows.status();
    Measurement measured = measure(nullptr, *rows);
    describe(prepared_->description, rows->description(), background, measured);
    return measured;
  }

  // The reference tool looks at the reference's alpha alone: with it, two backgrounds and the lower score; without,
  // mid-grey.
  Result<Measurement> score(const ImageView& reference, const ImageView& distorted) override {
    if (!reference.has_alpha()) return score_over(reference, distorted, 0.5f);
    Result<Measurement> dark = score_over(reference, distorted, 0.1f);
    if (!dark.ok()) return dark;
    Result<Measurement> bright = score_over(reference, distorted, 0.9f);
    if (!bright.ok()) return bright;
    return bright->value < dark->value ? std::move(bright) : std::move(dark);
  }

 private:
  struct Prepared {
    Arena arena;
    std::vector<Planes> xyb;  // for each scale
    std::string description;
  };

  explicit Ssimulacra2(const Setup& setup)
      : setup_(setup),
        sizes_(scale_sizes(setup.width, setup.height)),
        band_rows_(setup.strip_rows > 0 ? setup.strip_rows : kBandRows) {
    band_rows_ = std::min(band_rows_, setup.height + kAhead);
    band_rows_ += band_rows_ % 2;  // the next scale is made from pairs of rows
  }

  size_t block_count() const { return static_cast<size_t>((setup_.width + kBlockColumns - 1) / kBlockColumns); }
  size_t band_count() const { return static_cast<size_t>((setup_.height + kAhead + band_rows_ - 1) / band_rows_); }
  size_t worker_count() const { return std::min(static_cast<size_t>(setup_.threads->count()), band_count()); }
  size_t worker_bytes() const { return round_up(scratch_bytes(band_rows_), kAlignment); }

  size_t arena_bytes() const {
    size_t bytes = Arena::cost<BlockState>(block_count()) +
                   Arena::cost<TileSums>(tile_count(setup_.width, setup_.height)) +
                   Arena::cost<std::atomic<int>>(band_count() + 1) + worker_count() * worker_bytes();
    return bytes + linear_bytes();
  }

  // Scales take turns in two sets of planes.
  size_t linear_bytes() const {
    size_t bytes = 0;
    for (size_t s = 1; s < std::min<size_t>(sizes_.size(), 3); ++s) bytes += planes_cost(sizes_[s]);
    return bytes;
  }
  void lay_out_linear(Arena& arena, size_t image) {
    for (size_t s = 1; s < std::min<size_t>(sizes_.size(), 3); ++s) {
      linear_[s % 2][image] = take_planes(arena, sizes_[s]);
    }
  }

  void lay_out() {
    blocks_ = arena_.take<BlockState>(block_count());
    tiles_ = arena_.take<TileSums>(tile_count(setup_.width, setup_.height));
    counters_ = arena_.take<std::atomic<int>>(band_count() + 1);
    scratch_ = arena_.take<std::byte>(worker_count() * worker_bytes());
    lay_out_linear(arena_, 1);
  }

  // The linear light of scale s, of the reference (0) or the distorted picture (1). Scales take turns in two sets of
  // planes.
  Planes* linear(size_t s, size_t image) {
    if (s == 0 || s >= sizes_.size()) return nullptr;
    linear_[s % 2][image].stride = plane_stride(sizes_[s]);
    return &linear_[s % 2][image];
  }

  Status prepare(const ImageView& reference) {
    Result<Rows> rows = Rows::create(reference, kSpace, std::nullopt);
    if (!rows.ok()) return rows.status();
    size_t bytes = 0;
    for (const Size size : sizes_) bytes += planes_cost(size);
    Result<Arena> arena = Arena::create(bytes);
    if (!arena.ok()) return arena.status();
    Prepared prepared{std::move(*arena), {}, rows->description()};
    for (size_t s = 0; s < sizes_.size(); ++s) {
      prepared.xyb.push_back(take_planes(prepared.arena, sizes_[s]));
      const Source source{.rows = s == 0 ? &*rows : nullptr, .linear = linear(s, 1), .xyb = nullptr};
      const Planes* next = linear(s + 1, 1);
      std::atomic<int> next_row = 0;
      setup_.threads->run([&](int) {
        for (int y = next_row.fetch_add(kBandRows); y < sizes_[s].height; y = next_row.fetch_add(kBandRows)) {
          prepare_rows(source, sizes_[s].width, sizes_[s].height, y, std::min(y + kBandRows, sizes_[s].height),
                       prepared.xyb[s], next);
        }
      });
    }
    prepared_ = std::move(prepared);
    return {};
  }

  Result<Measurement> score_over(const ImageView& reference, const ImageView& distorted, float background) {
    // Who scores only against a prepared reference never needs these planes.
    if (pair_arena_.size() == 0) {
      Result<Arena> arena = Arena::create(linear_bytes());
      if (!arena.ok()) return arena.status();
      pair_arena_ = std::move(*arena);
      lay_out_linear(pair_arena_, 0);
    }
    Result<Rows> reference_rows = Rows::create(reference, kSpace, background);
    if (!reference_rows.ok()) return reference_rows.status();
    Result<Rows> distorted_rows = Rows::create(distorted, kSpace, background);
    if (!distorted_rows.ok()) return distorted_rows.status();
    Measurement measured = measure(&*reference_rows, *distorted_rows);
    const bool transparent = reference.has_alpha() || distorted.has_alpha();
    describe(reference_rows->description(), distorted_rows->description(),
             transparent ? std::optional<float>(background) : std::nullopt, measured);
    return measured;
  }

  static void describe(const std::string& reference, const std::string& distorted, std::optional<float> background,
                       Measurement& measured) {
    measured.assumptions = {"reference: " + reference, "distorted: " + distorted};
    if (background) {
      measured.assumptions.push_back(fmt::format("alpha: composited over grey {} in the encoded space", *background));
    }
  }

  // Against the prepared reference where `reference` is null.
  Measurement measure(const Rows* reference, const Rows& distorted) {
    std::vector<ScaleErrors> errors;
    for (size_t s = 0; s < sizes_.size(); ++s) {
      run_scale(s, reference, distorted, nullptr, nullptr);
      errors.push_back(pool_tiles({tiles_, tile_count(sizes_[s].width, sizes_[s].height)}, sizes_[s]));
    }
    Measurement measured;
    measured.value = score_of(errors);
    measured.outputs = named_errors(errors);
    if (setup_.want_map) measured.map = make_map(reference, distorted, errors);
    return measured;
  }

  void run_scale(size_t s, const Rows* reference, const Rows& distorted, const MapWeights* weights, float* map) {
    Scale scale;
    scale.width = sizes_[s].width;
    scale.height = sizes_[s].height;
    scale.band_rows = band_rows_;
    if (reference == nullptr) {
      scale.source[0].xyb = &prepared_->xyb[s];
    } else {
      scale.source[0] = {.rows = s == 0 ? reference : nullptr, .linear = linear(s, 0), .xyb = nullptr};
      scale.next[0] = linear(s + 1, 0);
    }
    scale.source[1] = {.rows = s == 0 ? &distorted : nullptr, .linear = linear(s, 1), .xyb = nullptr};
    scale.next[1] = linear(s + 1, 1);
    scale.blocks = blocks_;
    scale.tiles = tiles_;
    scale.next_band = counters_;
    scale.progress = counters_ + 1;
    scale.map_weights = weights;
    scale.map = map;
    for (int i = 0; i <= scale.band_count(); ++i) std::construct_at(counters_ + i, 0);
    setup_.threads->run([&](int worker) {
      if (static_cast<size_t>(worker) < worker_count()) {
        score_scale(scale, scratch_ + static_cast<size_t>(worker) * worker_bytes());
      }
    });
  }

  // A second pass, now that the norms are known which each pixel's error is a share of.
  DifferenceMap make_map(const Rows* reference, const Rows& distorted, const std::vector<ScaleErrors>& errors) {
    DifferenceMap map{setup_.width, setup_.height, {}};
    map.values.assign(static_cast<size_t>(setup_.width) * static_cast<size_t>(setup_.height), 0.0f);
    std::vector<float> scale_map;
    for (size_t s = 0; s < sizes_.size(); ++s) {
      const MapWeights weights = map_weights(errors, static_cast<int>(s));
      scale_map.resize(static_cast<size_t>(sizes_[s].width) * static_cast<size_t>(sizes_[s].height));
      run_scale(s, reference, distorted, &weights, scale_map.data());
      for (int y = 0; y < setup_.height; ++y) {
        const float* from = scale_map.data() + static_cast<size_t>(y >> s) * static_cast<size_t>(sizes_[s].width);
        float* to = map.values.data() + static_cast<size_t>(y) * static_cast<size_t>(setup_.width);
        for (int x = 0; x < setup_.width; ++x) to[x] += from[x >> s];
      }
    }
    return map;
  }

  Setup setup_;
  std::vector<Size> sizes_;
  int band_rows_;
  Arena arena_;
  Arena pair_arena_;
  BlockState* blocks_ = nullptr;
  TileSums* tiles_ = nullptr;
  std::atomic<int>* counters_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::array<std::array<Planes, 2>, 2> linear_;
  std::optional<Prepared> prepared_;
  std::optional<ImageCopy> copied_;
};

// The anchors of the reference's own help text.
std::string meaning(double value) {
  if (value >= 100) return "identical, or differing only where no eye looks";
  if (value >= 90) return "visually lossless: not to be told apart side by side at normal distance";
  if (value >= 70) return "high quality: differences are hard to notice without a flicker test";
  if (value >= 50) return "medium quality: differences are visible but not annoying";
  if (value >= 30) return "low quality: differences are annoying";
  return "very low quality: strong distortion";
}

}  // namespace
}  // namespace ssimulacra2

MetricEntry ssimulacra2_entry() {
  MetricInfo info;
  info.name = "ssimulacra2";
  info.version = "2.1";
  info.title = "SSIMULACRA 2: structural similarity in XYB over six scales, tuned on human ratings";
  info.better = Better::higher;
  info.identical = 100;
  info.minimum_side = ssimulacra2::kMinimumSide;
  info.has_map = true;
  info.alpha_rule = "with a transparent reference, over grey 0.1 and 0.9 and the lower score; otherwise over grey 0.5";
  return {std::move(info), ssimulacra2::Ssimulacra2::create, ssimulacra2::meaning};
}

}  // namespace acuity
