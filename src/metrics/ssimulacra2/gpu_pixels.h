// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU: how pixels get there, band by band, and become XYB.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_PIXELS_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_PIXELS_H

#include <array>
#include <memory>

#include "colour/rows.h"
#include "engine/metric.h"
#include "metrics/ssimulacra2/pooling.h"
#include "metrics/upload.h"

namespace acuity::ssimulacra2 {

/// Bands and rings of rows are multiples of this, as the kernels want them, and so are the floats of a row.
inline constexpr int kBandUnit = 32;

inline int whole_units(int count) { return (count + kBandUnit - 1) / kBandUnit * kBandUnit; }
inline int groups(int count, int of) { return (count + of - 1) / of; }

enum Picture : size_t { kReference, kDistorted };

/// Sends pictures on a queue of its own while the bands before are worked on.
class PixelBands {
 public:
  explicit PixelBands(const Metric::Setup& setup);
  Status create();

  /// Of each call: the pictures to be sent, or null, and the rows of a band. The last call is over.
  Status begin(const std::array<const Rows*, 2>& pictures, int band_rows);
  /// `queue` goes on when a band is there, which is sent first with those that share its place. Bands come in order.
  Status await(Queue& queue, int band);
  /// The rows with which the band last awaited came.
  const SentPixels& sent(Picture picture) const { return sent_[picture]; }
  /// The queue is done with a band's pixels when it comes here.
  Status release(Queue& queue, int band);

  size_t bytes() const { return uploads_[kReference].bytes() + uploads_[kDistorted].bytes(); }

 private:
  static constexpr int kSlots = 2;  // places for pixels on the device: one being worked on, one on its way
  int bands_a_slot() const { return slot_rows_ / band_rows_; }

  const Metric::Setup& setup_;
  std::array<Upload, 2> uploads_;
  std::array<const Rows*, 2> pictures_{};
  std::array<SentPixels, 2> sent_;
  int band_rows_ = 0, slot_rows_ = 0;
  std::array<std::unique_ptr<Event>, kSlots> arrived_;
  std::array<std::unique_ptr<Event>, kSlots> released_;
  std::unique_ptr<Queue> copy_;
};

/// Where pixels go as they are made: three planes of XYB, and of the next scale's light if there is one.
struct PixelTarget {
  DeviceArray<float> xyb;
  int ring = 0;    // rows of a plane
  int stride = 0;  // floats a row
  DeviceArray<float> next{};
  int next_first = 0, next_plane = 0;  // the row that comes first; floats a plane
};

/// Rows y .. y_end - 1 of `pictures` pictures of a size, which lie one after the other here and there.
Status make_pixels(Queue& queue, const SentPixels& from, const PixelTarget& to, Size size, int pictures, int y,
                   int y_end);

/// Linear light that the scale before left in planes, row y first.
SentPixels light_at(uint64_t address, int plane_floats, int y);

}  // namespace acuity::ssimulacra2

#endif
