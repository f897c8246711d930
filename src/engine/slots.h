// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a Scorer works with: a slot has all it takes to score one pair, a metric for each that was asked for.
#ifndef ACUITY_ENGINE_SLOTS_H
#define ACUITY_ENGINE_SLOTS_H

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/metric.h"

namespace acuity {

struct Slot {
  std::vector<std::unique_ptr<Metric>> metrics;
  uint64_t generation = 0;
  bool is_used = false;  // on a GPU the first row also records the launches of later ones
};

/// Slots of one kind, made when they are needed and used again. May be used from several threads.
class Slots {
 public:
  using Make = std::function<Result<std::unique_ptr<Slot>>()>;
  Slots(size_t most, Make make) : most_(most), make_(std::move(make)) {}

  /// A slot that nobody uses. Where there are as many as may be, or memory is short for another, waits for one.
  Result<std::unique_ptr<Slot>> take();
  void give_back(std::unique_ptr<Slot> slot);
  /// Of one whose metrics failed.
  void drop(std::unique_ptr<Slot> slot);
  /// From now on all are made anew.
  void renew();

  size_t most() const { return most_; }
  /// Of those that nobody uses, by the metrics' count.
  size_t unused_bytes() const;

 private:
  const size_t most_;
  const Make make_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> unused_;
  size_t made_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace acuity

#endif
