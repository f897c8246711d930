// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/gpu.h"

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "device/pixels/reader.h"
#include "device/recordings.h"
#include "device/table.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/cvvdp/gpu_results.h"
#include "sums/tiles.h"

namespace acuity {

extern const KernelFile cvvdp_kernels;

namespace cvvdp {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &cvvdp_kernels;
#include "device/pixels/pixels.h"
#include "metrics/cvvdp/kernels.h"

}  // namespace kernels

namespace {

constexpr int kBandPixels = 1 << 21;     // enough to keep a device busy
constexpr int kOneBandPixels = 1 << 19;  // pictures up to this size are one band
constexpr int kPartRows = 16;            // of tiles that several groups compare
constexpr int kMostBandRows = 1 << 18;   // groups are numbered in 16 bits
constexpr int kRowsAbove = 128;          // of a band, that are still looked at: a row of tiles, blurs, and scales

class StillRunner final : public GpuRunner {
 public:
  StillRunner(const Metric::Setup& setup, const std::vector<Scale>& scales)
      : setup_(setup),
        scales_(scales),
        results_(scales, kStillChannels),
        readers_{PixelReader(setup.pool, setup.senders()), PixelReader(setup.pool, setup.senders())},
        workspace_(setup.pool) {
    const bool small = int64_t{setup.width} * setup.height <= kOneBandPixels;
    const int rows = small ? setup.height : kBandPixels / setup.width;
    band_ = std::clamp(setup.strip_rows > 0 ? setup.strip_rows : rows, 1, std::min(setup.height, kMostBandRows));
    ring_ = std::min(band_ * (2 + groups(kRowsAbove, band_)), setup.height);
  }

  Status allocate() {
    const int width = setup_.width, height = setup_.height, base = static_cast<int>(scales_.size()) - 1;
    const size_t before = planes_before_base(scales_, kStillChannels);
    MemoryLayout layout;
    const bool small = setup_.strip_rows == 0 && band_ == height;
    const size_t squares = small ? layout.place(squares_floats()) : 0;
    planes_ = layout.place(before + results_.floats());
    base_ = planes_ + before * sizeof(float);
    ACUITY_TRY(workspace_.allocate(layout, results_.floats() * sizeof(float), "cvvdp"));
    ACUITY_TRY_ASSIGN(queue_, workspace_.create_queue());
    for (Turn& turn : turns_) {
      ACUITY_TRY_ASSIGN(turn.queue, workspace_.create_queue());
      for (Event** event : {&turn.built, &turn.compared}) ACUITY_TRY_ASSIGN(*event, workspace_.create_event());
    }
    const std::vector<float> tables = sensitivity_fours(scales_, kStillChannels);
    ACUITY_TRY_ASSIGN(sensitivities_, send_table(device(), std::as_bytes(std::span(tables))));
    work_.width = work_.samples_step = width;
    work_.height = height;
    work_.subbands = base;
    work_.sensitivities = sensitivities_->address();
    work_.planes = workspace_.memory().address() + planes_;
    if (small) work_.squares = workspace_.memory().address() + squares;
    work_.sums = workspace_.memory().address() + base_ + results_.base_floats() * sizeof(float);
    return prepare_still_kernels(device(), base);
  }

  size_t bytes() const override {
    return workspace_.bytes() + readers_[0].bytes() + readers_[1].bytes() + sensitivities_->size() +
           (constants_ ? constants_->size() : 0);
  }

  Result<Input> keep(const ShownPicture& reference) override {
    return keep_on_device(reference.input, reference.rows, setup_.pool, *queue_, setup_.senders());
  }

  Result<Differences> run(const ShownPicture& reference, const ShownPicture& distorted) override {
    ACUITY_TRY(send_constants(reference, distorted));
    const std::array<const ShownPicture*, 2> shown{&reference, &distorted};
    for (size_t i = 0; i < 2; ++i) ACUITY_TRY(begin(i, *shown[i]));
    const std::array<PixelReader*, 2> both{&readers_[0], &readers_[1]};
    ACUITY_TRY(PixelReader::send(both, std::array{queue_, queue_}, SendOrder::together, band_));
    work_.eotf = static_cast<int>(reference.photometry.eotf());
    ACUITY_TRY(submit_or_replay());
    ACUITY_TRY(queue_->wait());
    for (PixelReader* reader : both) reader->note_wait();
    return results_.differences(reinterpret_cast<const float*>(workspace_.results().data()));
  }

 private:
  Device& device() const { return setup_.pool->device(); }

  size_t squares_floats() const {
    const int subbands = static_cast<int>(scales_.size()) - 1;
    return static_cast<size_t>(std::max(kernels::squares_before(setup_.width, setup_.height, subbands), 1));
  }

  // What the display makes of samples. It seldom changes.
  Status send_constants(const ShownPicture& reference, const ShownPicture& distorted) {
    const Photometry& light = reference.photometry;
    std::vector<float> constants{light.gamma(),      light.exposure(), light.range(), light.black(),
                                 light.reflection(), light.least(),    light.peak(),  light.hlg_exponent()};
    constants.insert(constants.end(), reference.matrix.begin(), reference.matrix.end());
    constants.resize(CONSTANT_TABLES);
    const std::array tables{reference.table, distorted.table};
    if (constants_ && constants == light_ && tables == tables_) return {};
    light_ = constants;
    tables_ = tables;
    for (size_t i = 0; i < 2; ++i) {
      const bool same = i == 1 && tables[1] == tables[0];
      work_.samples[i].table = same ? work_.samples[0].table : static_cast<int>(constants.size());
      work_.samples[i].table_last = static_cast<int>(tables[i]->size()) - 1;
      if (!same) constants.insert(constants.end(), tables[i]->begin(), tables[i]->end());
    }
    constants_.reset();
    ACUITY_TRY_ASSIGN(constants_, send_table(device(), std::as_bytes(std::span(constants))));
    work_.constants = constants_->address();
    return {};
  }

  Status begin(size_t i, const ShownPicture& shown) {
    DevicePicture picture;
    ACUITY_TRY_ASSIGN(picture, device_picture(shown.input, shown.rows, setup_.pool));
    ACUITY_TRY(readers_[i].begin(*queue_, picture, ring_, 1));
    const SentPixels pixels = readers_[i].pixels(0, 0);
    work_.samples[i].address = pixels.samples.address;
    work_.samples[i].ring = readers_[i].reads_samples() ? setup_.height : ring_;
    work_.samples[i].format = pixels.format == FORMAT_BYTES   ? SAMPLES_BYTES
                              : pixels.format == FORMAT_WORDS ? SAMPLES_WORDS
                              : shown.all_in_table            ? SAMPLES_CODE_PLANES
                                                              : SAMPLES_FLOAT_PLANES;
    return {};
  }

  struct Turn {
    Queue* queue = nullptr;
    Event *built = nullptr, *compared = nullptr;
  };

  // What recorded work depends on.
  struct Key {
    std::array<PixelReader::Key, 2> pixels;
    std::array<StillWork::Samples, 2> samples;
    uint64_t constants = 0;
    int eotf = 0;
    bool operator==(const Key&) const = default;
  };

  Status submit_or_replay() {
    const auto submit = [&](bool recorded) -> Status {
      for (int n = 0; n * band_ < setup_.height; ++n) ACUITY_TRY(run_band(n, recorded));
      return workspace_.fetch_results(*queue_, base_);
    };
    if (!readers_[0].may_be_recorded() || !readers_[1].may_be_recorded()) return submit(false);
    const Key key{{readers_[0].key(), readers_[1].key()}, work_.samples, work_.constants, work_.eotf};
    return recordings_.run(device(), *queue_, key, submit, launches_of(band_, setup_.height));
  }

  // For what comes after in the queue. Rows of pixels that are made lie in a ring.
  Status read_rows(PixelReader& reader, int y, int y_end, bool recorded) {
    if (!reader.reads_samples()) return reader.make(*queue_, y, y_end, 0, y % ring_, recorded);
    return recorded ? reader.record_wait_for_rows(*queue_, y_end) : reader.wait_for_rows(*queue_, y_end);
  }

  // Bands are compared on two queues in turn, so that the next one fills what the end of a launch leaves idle.
  Status run_band(int n, bool recorded) {
    const int y = n * band_, y_end = std::min(y + band_, setup_.height);
    Turn& turn = turns_[static_cast<size_t>(n) % turns_.size()];
    // Rows of pixels in whose place others are made have been looked at.
    if (n >= static_cast<int>(turns_.size())) ACUITY_TRY(queue_->wait_for(*turn.compared));
    for (PixelReader& reader : readers_) ACUITY_TRY(read_rows(reader, y, y_end, recorded));
    ACUITY_TRY(build_band(*queue_, work_, y, y_end));
    if (band_ == setup_.height) return compare_band(*queue_, work_, y, y_end);
    ACUITY_TRY(queue_->signal(*turn.built));
    ACUITY_TRY(turn.queue->wait_for(*turn.built));
    ACUITY_TRY(compare_band(*turn.queue, work_, y, y_end));
    ACUITY_TRY(turn.queue->signal(*turn.compared));
    if (y_end < setup_.height) return {};
    for (const Turn& last : turns_) ACUITY_TRY(queue_->wait_for(*last.compared));
    return {};
  }

  Metric::Setup setup_;
  std::vector<Scale> scales_;
  DeviceResults results_;
  int band_ = 0, ring_ = 0;       // rows; of pixels that are made, if any are
  size_t planes_ = 0, base_ = 0;  // offsets
  StillWork work_;
  std::vector<float> light_;
  std::array<std::shared_ptr<const std::vector<float>>, 2> tables_;
  std::unique_ptr<DeviceMemory> constants_, sensitivities_;
  std::array<PixelReader, 2> readers_;
  Workspace workspace_;         // its queues go before what they work on
  Recordings<Key> recordings_;  // go before the queues
  Queue* queue_ = nullptr;
  std::array<Turn, 2> turns_;
};

}  // namespace

// Rows of the second scale that a group makes: of small pictures few, so that there are many groups.
int rows_of_group(int width, int height) { return int64_t{width} * height <= kOneBandPixels ? 4 : 8; }

int format_of_channels() { return SAMPLES_LIGHT_PLANES; }

std::vector<float> constants_of_channels() {
  std::vector<float> constants(CONSTANT_TABLES);
  for (size_t i = 0; i < 3; ++i) constants[CONSTANT_MATRIX + 4 * i] = 1;
  return constants;
}

Status prepare_still_kernels(Device& device, int subbands) {
  if (subbands == 0) return device.prepare(kernels::show_pictures);
  for (const KernelInfo& kernel : {KernelInfo(kernels::reduce_pictures), KernelInfo(kernels::reduce_scale),
                                   KernelInfo(kernels::compare_stills), KernelInfo(kernels::sum_squares)}) {
    ACUITY_TRY(device.prepare(kernel));
  }
  return {};
}

Status build_band(Queue& queue, const StillWork& work, int y, int y_end) {
  const int width = work.width, height = work.height, step = work.samples_step, eotf = work.eotf;
  const auto& [a, b] = work.samples;
  const DeviceArray<const unsigned char> reference{a.address}, distorted{b.address};
  const DeviceArray<const float> constants{work.constants};
  if (work.subbands == 0) {
    if (y_end < height) return {};
    return queue.run(kernels::show_pictures, groups(width, 32), groups(height, 4), reference, distorted, constants,
                     DeviceArray<float>{work.planes}, a.format, a.table, a.table_last, a.ring, b.format, b.table,
                     b.table_last, b.ring, step, eotf, width, height);
  }
  const int rows_each = rows_of_group(width, height);
  if (const int down = kernels::reduce_groups(y, y_end, height, rows_each); down > 0) {
    ACUITY_TRY(queue.run(kernels::reduce_pictures, groups(kernels::scale_side(width, 1), REDUCED_COLUMNS), down,
                         reference, distorted, constants, DeviceArray<float>{work.planes}, a.format, a.table,
                         a.table_last, a.ring, b.format, b.table, b.table_last, b.ring, step, eotf, width, height, y,
                         y_end, rows_each));
  }
  for (int s = 1; s < work.subbands; ++s) {
    if (const int down = kernels::reduce_kept_groups(y, y_end, height, s); down > 0) {
      ACUITY_TRY(queue.run(kernels::reduce_scale, groups(kernels::scale_side(width, s + 1), 32), down,
                           DeviceArray<float>{work.planes}, width, height, y, y_end, s));
    }
  }
  return {};
}

Status compare_band(Queue& queue, const StillWork& work, int y, int y_end) {
  const int width = work.width, height = work.height;
  const auto& [a, b] = work.samples;
  int tile_rows = 0;
  for (int s = 0; s < work.subbands; ++s) tile_rows += kernels::compare_groups(y, y_end, height, s);
  if (tile_rows == 0) return {};
  const int part_rows = work.squares != 0 ? kPartRows : kTileHeight;
  ACUITY_TRY(queue.run(kernels::compare_stills, groups(width, COMPARED_COLUMNS), tile_rows * (kTileHeight / part_rows),
                       DeviceArray<const unsigned char>{a.address}, DeviceArray<const unsigned char>{b.address},
                       DeviceArray<const float>{work.constants}, DeviceArray<const kernels::real4>{work.sensitivities},
                       DeviceArray<const float>{work.planes}, DeviceArray<float>{work.sums},
                       DeviceArray<float>{work.squares}, a.format, a.table, a.table_last, a.ring, b.format, b.table,
                       b.table_last, b.ring, work.samples_step, work.eotf, width, height, y, y_end, part_rows));
  if (work.squares == 0) return {};
  return queue.run(kernels::sum_squares, groups(kernels::tiles_across(width, 0), 4), tile_rows * CHANNELS,
                   DeviceArray<const float>{work.squares}, DeviceArray<float>{work.sums}, width, height);
}

Result<std::unique_ptr<GpuRunner>> GpuRunner::create(const Metric::Setup& setup, const std::vector<Scale>& scales) {
  auto runner = std::make_unique<StillRunner>(setup, scales);
  ACUITY_TRY(runner->allocate());
  return std::unique_ptr<GpuRunner>(std::move(runner));
}

}  // namespace cvvdp
}  // namespace acuity
