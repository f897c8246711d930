// SPDX-License-Identifier: BSD-2-Clause-Patent
// All scales of a pair of still pictures on the CPU.
#ifndef ACUITY_METRICS_CVVDP_RUNNER_H
#define ACUITY_METRICS_CVVDP_RUNNER_H

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/threads.h"
#include "metrics/cvvdp/cpu.h"
#include "metrics/cvvdp/heat.h"

namespace acuity::cvvdp {

/// The scales of a picture from the second on.
class Pyramid {
 public:
  static Result<Pyramid> create(const std::vector<Scale>& scales);
  size_t bytes() const { return arena_.size(); }
  const PlaneReader& operator[](size_t index) const { return scales_[index - 1]; }

 private:
  Arena arena_;
  std::vector<PlaneReader> scales_;
};

/// Both sides of a pair. The first scale is read anew whenever it is needed.
struct Sides {
  const ChannelReader* reference = nullptr;
  const Pyramid* reference_pyramid = nullptr;
  const ChannelReader* distorted = nullptr;
  const Pyramid* distorted_pyramid = nullptr;
};

class Runner {
 public:
  Runner(const Threads& threads, std::vector<Scale> scales);

  size_t bytes() const;
  const std::vector<Scale>& scales() const { return scales_; }
  void build(const ChannelReader& picture, const Pyramid& pyramid) const;
  Differences compare(const Sides& sides);

  /// From then on compare() keeps what a map is made of.
  Status keep_map();
  /// The map of the pair that was compared last.
  DifferenceMap map() const;

 private:
  void share(int count, size_t scratch_floats, const std::function<void(int, float*)>& work) const;

  const Threads& threads_;
  std::vector<Scale> scales_;
  std::vector<std::vector<TileSums>> tiles_;  // of each subband but the base
  std::optional<Heat> heat_;                  // if there shall be a map
};

}  // namespace acuity::cvvdp

#endif
