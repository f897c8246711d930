// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU: how the samples of both pictures get there, on a queue of their own while rows sent before are
// worked on.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_SAMPLES_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_SAMPLES_H

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "colour/rows.h"
#include "engine/metric.h"
#include "metrics/upload.h"

namespace acuity::ssimulacra2 {

class Samples {
 public:
  explicit Samples(const Metric::Setup& setup);
  Status create();

  /// Keeps a reference's samples on the device, all of them; they are there when it returns. What was held for
  /// references that are sent with the distorted picture goes.
  Status keep(const Rows& reference);

  /// Of each call: the pictures, and how many rows of each that is sent are held, the first at its top. Without a
  /// reference the kept one stands in. The last call is over.
  Status begin(const Rows* reference, const Rows& distorted, int rows_held);
  /// Rows y .. y_end - 1, which lie one after the other in the ring. They are there when queue() has come so far.
  Status send(int y, int y_end);
  Queue& queue() const { return *queue_; }

  /// A picture on the device: row y lies at y % ring.
  struct Place {
    SentPixels pixels;
    int ring = 0;
    bool operator==(const Place&) const = default;
  };
  using Places = std::array<Place, 2>;  // reference, distorted
  const Places& places() const { return places_; }
  /// The page-locked memory that is sent as it is; nothing if any picture takes other ways.
  std::optional<std::vector<HostBytes>> sources() const;

  size_t bytes() const;

 private:
  const Metric::Setup& setup_;
  Upload distorted_upload_, kept_upload_;
  std::optional<Upload> reference_upload_;
  Place kept_;
  std::array<const Rows*, 2> pictures_{};
  Places places_;
  std::unique_ptr<Queue> queue_;  // goes before the memory, and waits for what is in flight on it
};

}  // namespace acuity::ssimulacra2

#endif
