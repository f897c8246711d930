// SPDX-License-Identifier: BSD-2-Clause-Patent
// What stays on the device of a prepared reference of Butteraugli.
#ifndef ACUITY_METRICS_BUTTERAUGLI_GPU_REFERENCE_H
#define ACUITY_METRICS_BUTTERAUGLI_GPU_REFERENCE_H

#include <array>
#include <cstdint>
#include <vector>

#include "device/pool.h"
#include "engine/metric.h"

namespace acuity::butteraugli {

// Of how many planes each part is: subbands, and for the mask the blurred activity and the gains.
enum PreparedPart : size_t { kPreparedLow, kPreparedMiddle, kPreparedHigh, kPreparedMask };
inline constexpr std::array<size_t, 4> kPreparedPlanes{3, 3, 4, 3};

// The full resolution, and the half.
class PreparedScales final : public PreparedReference {
 public:
  std::array<std::array<PooledMemory, kPreparedPlanes.size()>, 2> scales;

  size_t bytes() const override {
    size_t bytes = 0;
    for (const auto& scale : scales) {
      for (const PooledMemory& part : scale) bytes += part ? part->size() : 0;
    }
    return bytes;
  }
  /// Tell its memory from all other.
  std::vector<uint64_t> numbers() const {
    std::vector<uint64_t> numbers;
    for (const auto& scale : scales) {
      for (const PooledMemory& part : scale) numbers.push_back(part ? part.number() : 0);
    }
    return numbers;
  }
};

}  // namespace acuity::butteraugli

#endif
