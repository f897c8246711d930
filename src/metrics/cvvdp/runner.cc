// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/runner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

namespace acuity::cvvdp {
namespace {

constexpr int kRowsAtATime = 32;  // of a scale that is made

int tile_rows(Size size) { return (size.height + kTileHeight - 1) / kTileHeight; }

// The base has few pixels, and neither masking nor a limit; it is compared in double.
struct Base {
  const std::array<const ChannelReader*, 2> pictures;  // reference, distorted
  Size size;
  double frequency;
  size_t channels;
  const Plane* heat = nullptr;

  // Calls visit(rows of both) for each row.
  template <typename Visit>
  void each_row(const Visit& visit) const {
    std::vector<float> room(2 * kStillChannels * row_floats(size.width) + kAlignment / sizeof(float));
    void* first = room.data();
    size_t bytes = room.size() * sizeof(float);
    float* aligned = static_cast<float*>(std::align(kAlignment, sizeof(float), first, bytes));
    for (int y = 0; y < size.height; ++y) {
      visit(std::array<ChannelRows, 2>{pictures[0]->read(y, aligned),
                                       pictures[1]->read(y, aligned + kStillChannels * row_floats(size.width))});
    }
  }

  std::array<double, kChannels> differences() const {
    std::array<double, 2> backgrounds{};
    each_row([&](const std::array<ChannelRows, 2>& rows) {
      for (size_t side = 0; side < 2; ++side) {
        for (int x = 0; x < size.width; ++x) {
          backgrounds[side] += std::max(static_cast<double>(rows[side][0][x]), kLeastBackground);
        }
      }
    });
    for (double& background : backgrounds) background /= size.pixels();
    std::array<double, kChannels> sums{};
    std::array<double, kChannels> sensitivity{};
    for (size_t c = 0; c < channels; ++c) {
      sensitivity[c] = sensitivity_at(static_cast<int>(c), frequency, backgrounds[0]);
    }
    std::vector<double> fourths(static_cast<size_t>(size.width));
    int y = 0;
    each_row([&](const std::array<ChannelRows, 2>& rows) {
      std::fill(fourths.begin(), fourths.end(), 0.0);
      for (size_t c = 0; c < channels; ++c) {
        for (int x = 0; x < size.width; ++x) {
          const auto contrast = [&](size_t side) {
            return std::min(static_cast<double>(rows[side][c][x]) / backgrounds[side], kLargestContrast);
          };
          const double difference = std::fabs(contrast(1) - contrast(0)) * sensitivity[c];
          sums[c] += difference * (difference + 2 * kPowerOffset);
          if (heat == nullptr) continue;
          const double weight = kChannelWeights[c] * kBaseWeights[c] * kStillFactor;
          fourths[static_cast<size_t>(x)] += offset_power(difference * weight, 4);
        }
      }
      for (int x = 0; x < size.width && heat != nullptr; ++x) {
        heat->row(y)[x] = static_cast<float>(offset_power(fourths[static_cast<size_t>(x)], 0.25));
      }
      ++y;
    });
    for (double& sum : sums) sum = difference_of(sum, size.pixels());
    return sums;
  }
};

}  // namespace

Result<Pyramid> Pyramid::create(const std::vector<Scale>& scales, int channels) {
  Pyramid pyramid;
  pyramid.first_ = channels == kStillChannels ? 1 : 0;
  size_t bytes = 0;
  for (size_t s = pyramid.first_; s < scales.size(); ++s) {
    bytes += static_cast<size_t>(channels) * Plane::cost(scales[s].size);
  }
  Result<Arena> arena = Arena::create(bytes);
  if (!arena.ok()) return arena.status();
  pyramid.arena_ = std::move(*arena);
  for (size_t s = pyramid.first_; s < scales.size(); ++s) {
    pyramid.scales_.emplace_back(pyramid.arena_, scales[s].size, channels);
  }
  return pyramid;
}

Runner::Runner(const Threads& threads, Size picture, double pixels_per_degree, int channels)
    : threads_(threads), channels_(channels), scales_(scales_of(picture, pixels_per_degree)) {
  for (size_t s = 0; s + 1 < scales_.size(); ++s) {
    tiles_.emplace_back(tile_count(scales_[s].size.width, scales_[s].size.height));
  }
}

size_t Runner::bytes() const {
  size_t bytes = map_memory_.size();
  for (const std::vector<TileSums>& tiles : tiles_) bytes += tiles.size() * sizeof(TileSums);
  const int width = scales_[0].size.width;
  const size_t scratch = std::max(reduce_scratch_floats(width), compare_scratch_floats(width));
  return bytes + static_cast<size_t>(threads_.count()) * scratch * sizeof(float);
}

// Calls work(i, scratch) for each i below count. Threads take whichever is next.
void Runner::share(int count, size_t scratch_floats, const std::function<void(int, float*)>& work) const {
  std::atomic<int> next = 0;
  threads_.run([&](int) {
    int i = next++;
    if (i >= count) return;
    std::vector<float> scratch(scratch_floats + kAlignment / sizeof(float));
    void* first = scratch.data();
    size_t bytes = scratch.size() * sizeof(float);
    float* aligned = static_cast<float*>(std::align(kAlignment, scratch_floats * sizeof(float), first, bytes));
    for (; i < count; i = next++) work(i, aligned);
  });
}

void Runner::build(const ChannelReader& picture, const Pyramid& pyramid) const {
  for (size_t s = 0; s + 1 < scales_.size(); ++s) {
    const ChannelReader& from = s == 0 ? picture : pyramid[s];
    const Size size = scales_[s].size;
    const int rows = scales_[s + 1].size.height;
    share((rows + kRowsAtATime - 1) / kRowsAtATime, reduce_scratch_floats(size.width), [&](int i, float* scratch) {
      reduce_rows(from, size, i * kRowsAtATime, std::min((i + 1) * kRowsAtATime, rows), pyramid[s + 1], scratch);
    });
  }
}

Differences Runner::compare(const Sides& sides) {
  struct Piece {
    size_t subband;
    int begin, end;  // rows of tiles
  };
  const size_t base = scales_.size() - 1;
  std::vector<Subband> subbands;
  std::vector<Piece> pieces;
  for (size_t s = 0; s < base; ++s) {
    Subband& subband = subbands.emplace_back(subband_of(scales_, s, channels_));
    subband.reference = s == 0 ? sides.reference : &(*sides.reference_pyramid)[s];
    subband.distorted = s == 0 ? sides.distorted : &(*sides.distorted_pyramid)[s];
    subband.next_reference = &(*sides.reference_pyramid)[s + 1];
    subband.heat = heat_.empty() ? nullptr : &heat_[s];
    subband.next_distorted = &(*sides.distorted_pyramid)[s + 1];
    // Each piece sees some rows that its neighbours see as well, so one thread does best with a single one.
    const int rows = tile_rows(subband.size), parts = threads_.count() == 1 ? 1 : 2 * threads_.count();
    const int step = (rows + parts - 1) / parts;
    for (int begin = 0; begin < rows; begin += step) pieces.push_back({s, begin, std::min(begin + step, rows)});
  }
  share(static_cast<int>(pieces.size()), compare_scratch_floats(scales_[0].size.width), [&](int i, float* scratch) {
    const Piece& piece = pieces[static_cast<size_t>(i)];
    const size_t across = tile_count(scales_[piece.subband].size.width, 1);
    compare_rows(subbands[piece.subband], piece.begin, piece.end, scratch,
                 tiles_[piece.subband].data() + static_cast<size_t>(piece.begin) * across);
  });

  Differences differences;
  differences.channels = channels_;
  for (size_t s = 0; s < base; ++s) {
    std::array<double, kChannels> sums{};
    for (const TileSums& tile : tiles_[s]) {
      for (size_t c = 0; c < static_cast<size_t>(channels_); ++c) sums[c] += static_cast<double>(tile[c]);
    }
    for (double& sum : sums) sum = difference_of(sum, scales_[s].size.pixels());
    differences.subbands.push_back(sums);
  }
  const auto last_scale = [&](const ChannelReader* first, const Pyramid& pyramid) {
    return base == 0 ? first : &pyramid[base];
  };
  const Base last{
      {last_scale(sides.reference, *sides.reference_pyramid), last_scale(sides.distorted, *sides.distorted_pyramid)},
      scales_[base].size,
      scales_[base].frequency,
      static_cast<size_t>(channels_),
      heat_.empty() ? nullptr : &heat_[base]};
  differences.subbands.push_back(last.differences());
  return differences;
}

Status Runner::keep_map() {
  size_t bytes = 0;
  for (const Scale& scale : scales_) bytes += Plane::cost(scale.size);
  Result<Arena> arena = Arena::create(bytes);
  if (!arena.ok()) return arena.status();
  map_memory_ = std::move(*arena);
  for (const Scale& scale : scales_) heat_.push_back(Plane::take(map_memory_, scale.size));
  return {};
}

DifferenceMap Runner::map() const {
  const Size size = scales_[0].size;
  std::vector<float> scratch(add_scratch_floats(size.width) + kAlignment / sizeof(float));
  void* first = scratch.data();
  size_t bytes = scratch.size() * sizeof(float);
  float* aligned = static_cast<float*>(std::align(kAlignment, sizeof(float), first, bytes));
  for (size_t s = scales_.size() - 1; s-- > 0;) {
    // What was doubled is halved again.
    add_next_scale(heat_[s + 1], s == 0 ? 1.0f : 0.5f, heat_[s], aligned);
  }
  DifferenceMap map{size.width, size.height,
                    std::vector<float>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height))};
  for (int y = 0; y < size.height; ++y) {
    finish_map_row(heat_[0].row(y), size.width,
                   map.values.data() + static_cast<size_t>(y) * static_cast<size_t>(size.width));
  }
  return map;
}

}  // namespace acuity::cvvdp
