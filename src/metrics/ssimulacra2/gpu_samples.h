// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU: the pixels of both pictures, as they arrive.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_SAMPLES_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_SAMPLES_H

#include <array>
#include <memory>
#include <vector>

#include "device/pixels/reader.h"
#include "engine/metric.h"

namespace acuity::ssimulacra2 {

class Samples {
 public:
  explicit Samples(const Metric::Setup& setup);
  Status create();

  /// Of each call: the pictures, which are sent, to be worked on `rows_at_once` rows at a time. Where pixels must be
  /// made before they are read, `rows_held` rows of them are held. The last call is over.
  Status begin(const InputRows& reference, const InputRows& distorted, int rows_held, int rows_at_once);
  /// Rows y .. y_end - 1 for what comes after in `pixels`. Where they are made they lie one after the other in the
  /// ring, when queue() has come so far. `recorded`: this is part of work that is being recorded.
  Status make(Queue& pixels, int y, int y_end, bool recorded);
  /// The queue on which pixels are made, if any are.
  Queue& queue() const { return *queue_; }
  bool are_made() const { return !readers_[0].reads_samples() || !readers_[1].reads_samples(); }

  /// A picture on the device: row y lies at y % ring.
  struct Place {
    SentPixels pixels;
    int ring = 0;
    uint64_t number = 0;        // of the samples' memory
    std::vector<int> making{};  // how pixels are made of them
    int band_rows = 0;          // of the samples, which recorded work waits for
    bool operator==(const Place&) const = default;
  };
  using Places = std::array<Place, 2>;  // reference, distorted
  const Places& places() const { return places_; }

  /// Whether work on these samples may be recorded: kernels make pixels of them, and they have been sent.
  bool may_be_recorded();

  size_t bytes() const { return readers_[0].bytes() + readers_[1].bytes(); }

 private:
  const Metric::Setup& setup_;
  std::array<PixelReader, 2> readers_;
  Places places_;
  std::unique_ptr<Queue> queue_;  // goes before the memory, and waits for what is in flight on it
};

}  // namespace acuity::ssimulacra2

#endif
