// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scorers of one device, by metrics, size and memory mode, kept for the next row like the last.
#ifndef ACUITY_SCHEDULE_SCORER_CACHE_H
#define ACUITY_SCHEDULE_SCORER_CACHE_H

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "acuity/scorer.h"
#include "schedule/ledger.h"

namespace acuity {

struct ScorerKey {
  std::string metrics;  // MetricSet::key
  int width = 0;
  int height = 0;
  int strip_rows = 0;  // 0: full
  int threads = 1;
  bool operator==(const ScorerKey&) const = default;
};

struct CachedScorer {
  CachedScorer(ScorerKey of, Scorer made) : key(std::move(of)), scorer(std::move(made)) {}
  const ScorerKey key;
  Scorer scorer;
  Held held;             // while nobody uses it, what it holds of the host's memory
  int rows = 0;          // in flight
  int counted_rows = 0;  // whose memory it keeps
};

class ScorerCache {
 public:
  explicit ScorerCache(size_t most) : most_(most) {}

  /// One like that, taken out of the cache; null if there is none.
  std::shared_ptr<CachedScorer> take(const ScorerKey& key);
  /// Puts it back; the least recently used one goes if there are too many.
  void put(std::shared_ptr<CachedScorer> scorer);
  /// Drops the least recently used; false if there is none.
  bool drop_oldest();
  /// They stay, but what they hold is not counted any more.
  void release_counted();
  void clear();

 private:
  const size_t most_;
  std::mutex mutex_;
  std::list<std::shared_ptr<CachedScorer>> unused_;  // the last used at the back
};

}  // namespace acuity

#endif
