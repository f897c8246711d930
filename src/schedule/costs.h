// SPDX-License-Identifier: BSD-2-Clause-Patent
// How long rows take on each place: what the chooser expects until rows of a size have run, and then what they took. It
// decides where rows go, never a score.
#ifndef ACUITY_SCHEDULE_COSTS_H
#define ACUITY_SCHEDULE_COSTS_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/plans.h"
#include "schedule/row.h"

namespace acuity {

class Costs {
 public:
  Costs(const std::vector<Place>& places, bool want_map) : places_(places), want_map_(want_map) {}

  /// Nanoseconds that the place is busy with a row of that size while others wait; of the CPU, one thread of it.
  double row_ns(size_t place, const MetricSet& metrics, int width, int height);
  void note(size_t place, const MetricSet& metrics, int width, int height, double ns);

 private:
  using Key = std::tuple<std::string, int>;  // metrics, and the size by its power of two
  std::vector<double> expected(const MetricSet& metrics, int width, int height) const;
  std::vector<double>& known(const MetricSet& metrics, int width, int height);

  const std::vector<Place>& places_;
  const bool want_map_;
  std::mutex mutex_;
  std::map<Key, std::vector<double>> known_;  // ns per pixel, by place
};

}  // namespace acuity

#endif
