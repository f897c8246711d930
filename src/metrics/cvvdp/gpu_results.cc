// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/gpu_results.h"

#include "base/memory.h"
#include "metrics/cvvdp/base.h"
#include "sums/tiles.h"

namespace acuity::cvvdp {
namespace {

// As places.h has it.
size_t row_step(Size size) { return round_up(static_cast<size_t>(size.width), 4); }

size_t scale_floats(Size size, int channels) {
  return 2 * static_cast<size_t>(channels) * row_step(size) * static_cast<size_t>(size.height);
}

// Planes one after the other.
class PackedReader final : public ChannelReader {
 public:
  PackedReader(const float* planes, Size size, int channels) : planes_(planes), size_(size), channels_(channels) {}
  ChannelRows read(int y, float*) const override {
    ChannelRows rows{};
    for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) {
      rows[c] = planes_ + (c * static_cast<size_t>(size_.height) + static_cast<size_t>(y)) * row_step(size_);
    }
    return rows;
  }

 private:
  const float* planes_;
  Size size_;
  int channels_;
};

}  // namespace

std::vector<float> sensitivity_fours(const std::vector<Scale>& scales, int channels) {
  std::vector<float> fours;
  for (size_t s = 0; s + 1 < scales.size(); ++s) {
    const Subband subband = subband_of(scales, s, channels);
    for (const auto* tables : {&subband.sensitivity, &subband.growth}) {
      for (size_t l = 0; l < kTableSide; ++l) {
        for (const auto& table : *tables) fours.push_back(table[l]);
      }
    }
  }
  // Pictures without subbands have a place for the tables all the same.
  if (fours.empty()) fours.resize(kChannels);
  return fours;
}

size_t planes_before_base(const std::vector<Scale>& scales, int channels) {
  size_t floats = 0;
  for (size_t s = channels == kStillChannels ? 1 : 0; s + 1 < scales.size(); ++s) {
    floats += scale_floats(scales[s].size, channels);
  }
  return floats;
}

DeviceResults::DeviceResults(const std::vector<Scale>& scales, int channels) : scales_(scales), channels_(channels) {
  base_floats_ = scale_floats(scales.back().size, channels);
  for (size_t s = 0; s + 1 < scales.size(); ++s) tiles_ += tile_count(scales[s].size.width, scales[s].size.height);
}

Differences DeviceResults::differences(const float* results) const {
  Differences differences;
  differences.channels = channels_;
  const float* tile = results + base_floats_;
  for (size_t s = 0; s + 1 < scales_.size(); ++s) {
    const Size size = scales_[s].size;
    std::array<double, kChannels> sums{};
    for (size_t i = 0; i < tile_count(size.width, size.height); ++i) {
      for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) sums[c] += static_cast<double>(*tile++);
    }
    for (double& sum : sums) sum = difference_of(sum, size.pixels());
    differences.subbands.push_back(sums);
  }
  const Size size = scales_.back().size;
  const PackedReader reference(results, size, channels_), distorted(results + base_floats_ / 2, size, channels_);
  differences.subbands.push_back(Base{{&reference, &distorted}, scales_.back(), channels_, nullptr}.differences());
  return differences;
}

}  // namespace acuity::cvvdp
