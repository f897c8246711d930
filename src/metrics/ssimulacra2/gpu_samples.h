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

  /// Reference and distorted picture, or one of them and null.
  using Pictures = std::array<const InputRows*, 2>;
  /// Of each call: the pictures, which are sent, to be worked on `rows_at_once` rows at a time. Where pixels must be
  /// made before they are read, `rows_held` rows of them are held. The last call is over.
  Status begin(const Pictures& pictures, int rows_held, int rows_at_once);
  /// Rows y .. y_end - 1 for what comes after in `pixels`. Where they are made they lie one after the other in the
  /// ring, when queue() has come so far. `recorded`: this is part of work that is being recorded.
  Status make(Queue& pixels, int y, int y_end, bool recorded);
  /// The queue on which pixels are made, if any are.
  Queue& queue() const { return *queue_; }
  bool are_made() const;
  /// For all work on them, at whose end queue() has waited for all other queues.
  Status wait();

  /// A picture on the device: row y lies at y % ring.
  struct Place {
    SentPixels pixels;
    int ring = 0;
  };
  using Places = std::array<Place, 2>;  // reference, distorted
  const Places& places() const { return places_; }

  /// Whether work on these samples may be recorded: kernels make pixels of them, and they have been sent.
  bool may_be_recorded() const;
  /// What recorded work on them depends on.
  using Key = std::array<PixelReader::Key, 2>;
  Key key() const;

  size_t bytes() const { return readers_[0].bytes() + readers_[1].bytes(); }

 private:
  const Metric::Setup& setup_;
  std::array<PixelReader, 2> readers_;
  std::array<bool, 2> in_use_{};
  Places places_;
  std::unique_ptr<Queue> queue_;  // goes before the memory, and waits for what is in flight on it
};

}  // namespace acuity::ssimulacra2

#endif
