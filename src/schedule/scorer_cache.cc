// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/scorer_cache.h"

#include <algorithm>
#include <new>
#include <utility>

namespace acuity {

std::shared_ptr<CachedScorer> ScorerCache::take(const ScorerKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(unused_.rbegin(), unused_.rend(), [&](const auto& one) { return one->key == key; });
  if (found == unused_.rend()) return nullptr;
  std::shared_ptr<CachedScorer> scorer = std::move(*found);
  unused_.erase(std::next(found).base());
  return scorer;
}

void ScorerCache::put(std::shared_ptr<CachedScorer> scorer) {
  std::shared_ptr<CachedScorer> dropped;  // goes after the lock
  const std::lock_guard lock(mutex_);
  try {
    unused_.push_back(std::move(scorer));
  } catch (const std::bad_alloc&) {
    return;  // it is made anew when it is needed
  }
  if (unused_.size() <= most_) return;
  dropped = std::move(unused_.front());
  unused_.pop_front();
}

bool ScorerCache::drop_oldest() {
  std::shared_ptr<CachedScorer> dropped;
  const std::lock_guard lock(mutex_);
  if (unused_.empty()) return false;
  dropped = std::move(unused_.front());
  unused_.pop_front();
  return true;
}

void ScorerCache::release_counted() {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<CachedScorer>& scorer : unused_) scorer->held = Held();
}

void ScorerCache::clear() {
  while (drop_oldest()) {
  }
}

}  // namespace acuity
