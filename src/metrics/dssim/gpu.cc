// SPDX-License-Identifier: BSD-2-Clause-Patent
// DSSIM on a GPU, whichever: the launches. Pixels go up in bands of rows on a queue of their own while the bands before
// them are worked on. When all are done, the sums come here, and what the errors are to be compared with goes back.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/dssim/runner.h"
#include "metrics/tiles.h"
#include "metrics/upload.h"

namespace acuity {

extern const KernelFile dssim_kernels;

namespace dssim {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &dssim_kernels;
#include "metrics/dssim/kernels.h"

}  // namespace kernels

namespace {

constexpr int kBandRows = 512;           // enough to keep a device busy, few enough to keep memory small
constexpr int kBandPixels = 1 << 21;     // of wider pictures a band has fewer rows
constexpr int kOneBandPixels = 1 << 19;  // pictures up to this size are one band
constexpr int kBandUnit = 64;            // bands are multiples of this: the smallest scale wants a multiple of 16
constexpr int kSlots = 2;                // bands of pixels on the device: one being worked on, one on its way
constexpr int64_t kMostPixels = int64_t{1} << 29;  // samples are numbered in 32 bits
constexpr int64_t kMostFloats = (int64_t{1} << 31) - 1;
constexpr int kLabPlanes = 6;
constexpr int kReadyPlanes = 4;
constexpr size_t kDeviceAlignment = 256;

int groups(int count, int of) { return (count + of - 1) / of; }

Status too_big(const Metric::Setup& setup) {
  return Status(StatusCode::too_big, fmt::format("{}x{} pixels are more than the kernels can count; use the device cpu",
                                                 setup.width, setup.height));
}

// What a kernel is told of the rows of one picture.
struct Sent {
  SentPixels pixels;
  DeviceArray<const unsigned char> alpha;
  int has_alpha = 0;
};

// One picture's way to the device: its colour, and its alpha as a picture of its own.
class PictureUpload {
 public:
  PictureUpload(Device& device, const Threads& threads) : colour_(device, threads), alpha_(device, threads) {}

  Status begin(Queue& queue, const Picture& picture, int rows, int slots) {
    alpha_rows_.reset();
    if (picture.alpha != nullptr) {
      ImageView alpha = *picture.alpha;
      alpha.planes = {picture.alpha->planes[static_cast<size_t>(picture.alpha->channel_count() - 1)]};
      alpha.channels = Channels::grey;
      alpha.colour = {.transfer = Transfer::linear};
      ACUITY_TRY_ASSIGN(alpha_rows_, Rows::create(alpha, {}, std::nullopt));
      ACUITY_TRY(alpha_.begin(queue, *alpha_rows_, rows, slots));
    }
    return colour_.begin(queue, *picture.rows, rows, slots);
  }

  Result<Sent> send(Queue& queue, const Picture& picture, int y, int y_end, int slot) {
    Sent sent;
    ACUITY_TRY_ASSIGN(sent.pixels, colour_.send(queue, *picture.rows, y, y_end, slot));
    if (alpha_rows_) {
      SentPixels alpha;
      ACUITY_TRY_ASSIGN(alpha, alpha_.send(queue, *alpha_rows_, y, y_end, slot));
      sent.alpha = alpha.samples;
      sent.has_alpha = 1;
    }
    return sent;
  }

  size_t bytes() const { return colour_.bytes() + alpha_.bytes(); }

 private:
  Upload colour_, alpha_;
  std::optional<Rows> alpha_rows_;
};

class GpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    if (int64_t{setup.width} * setup.height > kMostPixels) return too_big(setup);
    std::unique_ptr<GpuRunner> runner(new GpuRunner(setup));
    ACUITY_TRY(runner->allocate());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  ~GpuRunner() override {
    // Nothing may be in flight when the memory goes. A failure has been reported by the call it happened in.
    for (const std::unique_ptr<Queue>* queue : {&copy_, &work_}) {
      if (*queue) static_cast<void>((*queue)->wait());
    }
  }

  size_t working_bytes() const override {
    size_t bytes = memory_->size() + results_->size();
    for (const PictureUpload& upload : uploads_) bytes += upload.bytes();
    return bytes;
  }

  // The reference's samples stay on the device; making Lab of them again costs less than the memory to keep it would.
  Status prepare(const Picture& reference) override {
    ACUITY_TRY(uploads_[kPrepared].begin(*copy_, reference, setup_.height, 1));
    ACUITY_TRY_ASSIGN(prepared_, uploads_[kPrepared].send(*copy_, reference, 0, setup_.height, 0));
    return copy_->wait();
  }

  void forget() override {}

  Result<Similarities> run(const Picture* reference, const Picture& distorted) override {
    const std::array<const Picture*, 2> pictures{reference, &distorted};
    for (size_t i = 0; i < 2; ++i) {
      if (pictures[i] != nullptr) ACUITY_TRY(uploads_[i].begin(*copy_, *pictures[i], band_, kSlots));
    }
    int number = 0;
    for (int y = 0; y < setup_.height; y += band_, ++number) {
      ACUITY_TRY(run_band(pictures, y, std::min(y + band_, setup_.height), number));
    }
    std::array<double, kScales> sums{};
    ACUITY_TRY(fetch_sums(sums));
    std::array<float, kScales> expected{};
    for (size_t s = 0; s < sizes_.size(); ++s) expected[s] = expected_error(sums[s], sizes_[s], s);
    ACUITY_TRY(work_->run(kernels::sum_deviations, groups(kernels::tiles_across(setup_.width, 0), 4), tile_rows_,
                          array<const float>(errors_), array<float>(tiles_), expected[0], expected[1], expected[2],
                          expected[3], expected[4], setup_.width, setup_.height));
    ACUITY_TRY(fetch_sums(sums));
    Similarities found;
    for (size_t s = 0; s < sizes_.size(); ++s) found.scales.push_back(scale_similarity(sums[s], sizes_[s]));
    return found;
  }

 private:
  enum { kReference, kDistorted, kPrepared };

  explicit GpuRunner(const Metric::Setup& setup)
      : setup_(setup),
        sizes_(scale_sizes(setup.width, setup.height)),
        uploads_{PictureUpload(*setup.device, *setup.threads), PictureUpload(*setup.device, *setup.threads),
                 PictureUpload(*setup.device, *setup.threads)} {
    const bool small = int64_t{setup.width} * setup.height <= kOneBandPixels;
    const int rows = small ? setup.height : std::min(kBandRows, kBandPixels / setup.width);
    const int asked = setup.strip_rows > 0 ? setup.strip_rows : rows;
    band_ = static_cast<int>(round_up(static_cast<size_t>(std::clamp(asked, 1, setup.height)), kBandUnit));
  }

  Status allocate() {
    const int count = static_cast<int>(sizes_.size());
    int64_t plane = 0;
    for (int s = 0; s < count; ++s) {
      plane += int64_t{kernels::ring_of(setup_.height, band_, s)} * kernels::stride_of(setup_.width, s);
      tile_rows_ += kernels::tiles_down(setup_.height, s);
    }
    if (plane * kLabPlanes > kMostFloats) return too_big(setup_);
    size_t bytes = 0;
    const auto place = [&bytes](size_t floats) {
      const size_t at = bytes;
      bytes += round_up(floats * sizeof(float), kDeviceAlignment);
      return at;
    };
    const auto tiles = static_cast<size_t>(kernels::tiles_before(setup_.width, setup_.height, count));
    lab_ = place(static_cast<size_t>(plane) * kLabPlanes);
    ready_ = place(static_cast<size_t>(plane) * kReadyPlanes);
    errors_ = place(static_cast<size_t>(kernels::errors_before(setup_.width, setup_.height, count)));
    tiles_ = place(tiles);
    ACUITY_TRY_ASSIGN(memory_, setup_.device->allocate(bytes));
    ACUITY_TRY_ASSIGN(results_, setup_.device->allocate_pinned(tiles * sizeof(float)));
    ACUITY_TRY_ASSIGN(copy_, setup_.device->create_queue());
    ACUITY_TRY_ASSIGN(work_, setup_.device->create_queue());
    for (const KernelInfo& kernel : std::initializer_list<KernelInfo>{kernels::make_lab, kernels::blur_chroma,
                                                                      kernels::score_tiles, kernels::sum_deviations}) {
      ACUITY_TRY(setup_.device->prepare(kernel));
    }
    for (size_t slot = 0; slot < kSlots; ++slot) {
      for (std::unique_ptr<Event>* event : {&sent_[slot][0], &sent_[slot][1], &worked_[slot]}) {
        ACUITY_TRY_ASSIGN(*event, setup_.device->create_event());
      }
    }
    return {};
  }

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }

  // Rows y .. y_end - 1 of both pictures, through all scales as far as they go.
  Status run_band(const std::array<const Picture*, 2>& pictures, int y, int y_end, int number) {
    const auto slot = static_cast<size_t>(number % kSlots);
    if (number >= kSlots) ACUITY_TRY(copy_->wait_for(*worked_[slot]));
    for (size_t i = 0; i < 2; ++i) {
      Sent sent = prepared_;
      if (pictures[i] != nullptr) {
        ACUITY_TRY_ASSIGN(sent, uploads_[i].send(*copy_, *pictures[i], y, y_end, number % kSlots));
        ACUITY_TRY(copy_->signal(*sent_[slot][i]));
        ACUITY_TRY(work_->wait_for(*sent_[slot][i]));
      }
      ACUITY_TRY(work_->run(kernels::make_lab, groups(setup_.width, 32), groups(y_end - y, 32), sent.pixels.samples,
                            sent.pixels.table, sent.alpha, array<float>(lab_), sent.pixels.form, sent.pixels.extent,
                            sent.has_alpha, sent.pixels.y_first, static_cast<int>(i), setup_.width, setup_.height, y,
                            y_end, band_));
    }
    ACUITY_TRY(work_->signal(*worked_[slot]));
    int blurs = 0, scores = 0;
    for (int s = 0; s < static_cast<int>(sizes_.size()); ++s) {
      blurs += kernels::blur_groups(y, y_end, setup_.height, s);
      scores += kernels::score_groups(y, y_end, setup_.height, s);
    }
    if (blurs > 0) {
      ACUITY_TRY(work_->run(kernels::blur_chroma, groups(setup_.width, 32), blurs, array<const float>(lab_),
                            array<float>(ready_), setup_.width, setup_.height, y, y_end, band_));
    }
    if (scores == 0) return {};
    return work_->run(kernels::score_tiles, groups(setup_.width, 32), scores, array<const float>(lab_),
                      array<const float>(ready_), array<float>(errors_), array<float>(tiles_), setup_.width,
                      setup_.height, y, y_end, band_);
  }

  // One a scale, when all before is done.
  Status fetch_sums(std::array<double, kScales>& sums) {
    ACUITY_TRY(work_->download(*results_, 0, *memory_, tiles_, results_->size()));
    ACUITY_TRY(work_->wait());
    const float* tiles = reinterpret_cast<const float*>(results_->data());
    for (size_t s = 0; s < sizes_.size(); ++s) {
      const size_t count = tile_count(sizes_[s].width, sizes_[s].height);
      sums[s] = add_tiles({tiles, count});
      tiles += count;
    }
    return {};
  }

  Metric::Setup setup_;
  std::vector<Size> sizes_;
  int band_ = 0;       // rows
  int tile_rows_ = 0;  // of all scales
  std::unique_ptr<DeviceMemory> memory_;
  size_t lab_ = 0, ready_ = 0, errors_ = 0, tiles_ = 0;  // offsets
  std::unique_ptr<PinnedMemory> results_;
  std::array<PictureUpload, 3> uploads_;
  Sent prepared_;  // all rows of the prepared reference
  std::array<std::array<std::unique_ptr<Event>, 2>, kSlots> sent_;
  std::array<std::unique_ptr<Event>, kSlots> worked_;
  std::unique_ptr<Queue> copy_, work_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup) { return GpuRunner::create(setup); }

}  // namespace dssim
}  // namespace acuity
