// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/heat.h"

#include <memory>

namespace acuity::cvvdp {

Result<Heat> Heat::create(const std::vector<Scale>& scales) {
  size_t bytes = 0;
  for (const Scale& scale : scales) bytes += Plane::cost(scale.size);
  Result<Arena> arena = Arena::create(bytes);
  if (!arena.ok()) return arena.status();
  Heat heat;
  heat.memory_ = std::move(*arena);
  for (const Scale& scale : scales) heat.planes_.push_back(Plane::take(heat.memory_, scale.size));
  return heat;
}

DifferenceMap Heat::map() const {
  const Size size = planes_[0].size;
  std::vector<float> scratch(add_scratch_floats(size.width) + kAlignment / sizeof(float));
  void* first = scratch.data();
  size_t bytes = scratch.size() * sizeof(float);
  float* aligned = static_cast<float*>(std::align(kAlignment, sizeof(float), first, bytes));
  for (size_t s = planes_.size() - 1; s-- > 0;) {
    // What was doubled is halved again.
    add_next_scale(planes_[s + 1], s == 0 ? 1.0f : 0.5f, planes_[s], aligned);
  }
  DifferenceMap map{size.width, size.height,
                    std::vector<float>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height))};
  for (int y = 0; y < size.height; ++y) {
    finish_map_row(planes_[0].row(y), size.width,
                   map.values.data() + static_cast<size_t>(y) * static_cast<size_t>(size.width));
  }
  return map;
}

}  // namespace acuity::cvvdp
