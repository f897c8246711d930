// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores for tests: whatever fails on the way to one fails the test.
#ifndef ACUITY_TESTS_SUPPORT_SCORING_H
#define ACUITY_TESTS_SUPPORT_SCORING_H

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/scorer.h"

namespace acuity::tests {

inline Score checked(const Result<Score>& result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : Score{};
}

inline Score score_pair(const ImageView& reference, const ImageView& distorted, const ScorerOptions& options) {
  Result<Scorer> scorer = Scorer::create(options, reference.width, reference.height);
  return checked(scorer.ok() ? scorer->score(reference, distorted) : scorer.status());
}

/// The same by way of a prepared reference.
inline Score score_prepared(const ImageView& reference, const ImageView& distorted, const ScorerOptions& options) {
  Result<Scorer> scorer = Scorer::create(options, reference.width, reference.height);
  Status status = scorer.ok() ? scorer->set_reference(reference) : scorer.status();
  return checked(status.ok() ? scorer->score(distorted) : status);
}

inline double output(const Score& score, const std::string& name) {
  for (const NamedValue& named : score.outputs) {
    if (named.name == name) return named.value;
  }
  ADD_FAILURE() << "no output " << name;
  return std::numeric_limits<double>::quiet_NaN();
}

/// All that is not provenance, in one list.
inline std::vector<double> numbers(const Score& score) {
  std::vector<double> all{score.value};
  for (const NamedValue& named : score.outputs) all.push_back(named.value);
  all.insert(all.end(), score.map.values.begin(), score.map.values.end());
  return all;
}

/// To the last bit; maps where both have one.
inline void expect_same(const Score& a, const Score& b, const std::string& what) {
  EXPECT_EQ(a.value, b.value) << what;
  ASSERT_EQ(a.outputs.size(), b.outputs.size()) << what;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    EXPECT_EQ(a.outputs[i].value, b.outputs[i].value) << what << " " << a.outputs[i].name;
  }
  if (!a.map.values.empty() && !b.map.values.empty()) {
    EXPECT_EQ(a.map.values, b.map.values) << what;
  }
}

}  // namespace acuity::tests

#endif
