// SPDX-License-Identifier: BSD-2-Clause-Patent
// Colour differences by CIEDE2000.
#include "metrics/ciede2000/feature.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "base/powers.h"
#include "base/try.h"
#include "metrics/ciede2000/few_colours.h"
#include "metrics/ciede2000/gpu.h"
#include "metrics/ciede2000/rows.h"
#include "frames/frame_checks.h"

namespace acuity {
namespace ciede2000 {
namespace {

constexpr int kPlanes = 3;

// Identical frames would be infinitely good, which is no score. It is 245 at most, and that of one step in one sample
// is below.
double decibels(double sum, const FrameShape& frame) {
  const double mean = sum / (static_cast<double>(frame.width) * frame.height);
  return 45.0 - 20.0 * libm_log10(std::max(mean, 1e-10));
}

size_t padded(int width) { return round_up(static_cast<size_t>(width), 16); }

template <typename Code>
void read_row(const FrameView& frame, int plane, int y, float* out) {
  const auto row = [&](int r) {
    const auto p = static_cast<size_t>(plane);
    return reinterpret_cast<const Code*>(frame.planes[p] + r * frame.row_strides[p]);
  };
  if (plane == 0 || frame.subsampling == Subsampling::yuv444) {
    std::copy(row(y), row(y) + frame.width, out);
    return;
  }
  const Code* codes = row(y / 2);
  const int count = frame.plane_width(plane);
  if (frame.subsampling == Subsampling::yuv420) {
    for (int x = 0; x < frame.width / 2; ++x) out[2 * x] = out[2 * x + 1] = codes[x];
    if (frame.width % 2 != 0) out[frame.width - 1] = codes[count - 1];
    return;
  }
  // Of 4:2:2 libvmaf takes the rows that are there to be half as many as they are, and the columns to be all there are:
  // half of the rows are read, past their ends, through zeros up to a multiple of 32 samples, into the rows below.
  const int stride = static_cast<int>(round_up(static_cast<size_t>(count), 32));
  std::fill(out, out + frame.width, 0.0f);
  std::copy(codes, codes + count, out);
  if (stride < frame.width && y / 2 + 1 < frame.height) {
    const Code* below = row(y / 2 + 1);
    std::copy(below, below + (frame.width - stride), out + stride);
  }
}

/// Reads rows of a frame, and keeps those of its chroma for the row of luma below.
class Reader {
 public:
  Reader(int width, Arena& arena) {
    for (float*& row : rows_) {
      row = arena.take<float>(padded(width));
      std::fill(row, row + padded(width), 0.0f);
    }
  }
  static size_t bytes(int width) { return kPlanes * Arena::cost<float>(padded(width)); }

  PixelRow read(const FrameView& frame, int y) {
    const bool chroma_kept = y % 2 == 1 && frame.subsampling != Subsampling::yuv444;
    for (int plane = 0; plane < (chroma_kept ? 1 : kPlanes); ++plane) {
      float* row = rows_[static_cast<size_t>(plane)];
      if (frame.depth == 8) {
        read_row<uint8_t>(frame, plane, y, row);
      } else {
        read_row<uint16_t>(frame, plane, y, row);
      }
    }
    return {rows_[0], rows_[1], rows_[2]};
  }

 private:
  std::array<float*, kPlanes> rows_{};
};

class Worker final : public FeatureWorker {
 public:
  Worker(int width, Arena arena) : arena_(std::move(arena)), reference_(width, arena_), distorted_(width, arena_) {}
  static size_t bytes_needed(int width) { return 2 * Reader::bytes(width); }

  size_t bytes() const override { return arena_.size(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const FrameView& frame = *window.reference[0];
    FewColours few_colours(frame.depth);
    double sum = 0;
    for (int y = 0; y < frame.height; ++y) {
      const PixelRow reference = reference_.read(frame, y), distorted = distorted_.read(*window.distorted[0], y);
      for (int begin = 0; begin < frame.width; begin += kChunk) {
        const int count = std::min(frame.width - begin, kChunk);
        if (std::optional<FewColours::Pairs> few = FewColours::find(reference, distorted, begin, count)) {
          sum += few_colours.sum_of(*few);
        } else {
          sum += sum_of_differences(reference, distorted, frame.depth, begin, count);
        }
      }
    }
    values[0] = decibels(sum, frame);
    return {};
  }

 private:
  Arena arena_;
  Reader reference_, distorted_;
};

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  DeviceWorker(const FrameShape& shape, const DeviceSum& sum) : shape_(shape), sum_(sum) {}
  size_t bytes() const override { return 0; }
  size_t result_bytes() const override { return sum_.result_bytes(); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    return sum_.submit(queue, window, results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    numbers[0] = decibels(sum_.finish(results), shape_);
    return {};
  }

 private:
  FrameShape shape_;
  DeviceSum sum_;
};

class Ciede final : public Feature {
 public:
  explicit Ciede(const FrameShape& shape) : shape_(shape) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<Arena> arena = Arena::create(Worker::bytes_needed(shape_.width));
    if (!arena.ok()) return arena.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(shape_.width, std::move(*arena)));
  }

  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    DeviceSum sum;
    ACUITY_TRY_ASSIGN(sum, DeviceSum::create(device, shape_));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<DeviceWorker>(shape_, sum));
  }

 private:
  FrameShape shape_;
  std::vector<FeatureOutput> outputs_ = {{"ciede2000"}};
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("ciede", setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_chroma("ciede", setup));
  return std::unique_ptr<Feature>(std::make_unique<Ciede>(setup.format));
}

}  // namespace
}  // namespace ciede2000

FeatureEntry ciede_entry() {
  return {.info = {.name = "ciede",
                   .version = "libvmaf 3.2.0",
                   .title = "mean colour difference by CIEDE2000, in decibels",
                   .better = Better::higher,
                   .identical = 245,
                   .minimum_side = 1,
                   .alpha_rule = ""},
          .create = ciede2000::create,
          .on_gpu = true,
          .cpu_ns = 15};
}

}  // namespace acuity
