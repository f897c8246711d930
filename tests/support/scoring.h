// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores for tests: whatever fails on the way to one fails the test.
#ifndef ACUITY_TESTS_SUPPORT_SCORING_H
#define ACUITY_TESTS_SUPPORT_SCORING_H

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "support/layouts.h"

namespace acuity::tests {

/// The score of a Scorer that has one metric.
inline Result<Score> only(const Result<std::vector<Score>>& scores) {
  if (!scores.ok()) return scores.status();
  EXPECT_EQ(scores->size(), 1u);
  return scores->front();
}

/// The metric, unless the options name one.
inline ScorerOptions with_metric(ScorerOptions options, const char* metric) {
  if (options.metrics.empty()) options.metrics = {metric};
  return options;
}

inline Score checked(const Result<Score>& result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : Score{};
}

inline Score score_pair(const ImageView& reference, const ImageView& distorted, const ScorerOptions& options) {
  Result<Scorer> scorer = Scorer::create(options, reference.width, reference.height);
  return checked(scorer.ok() ? only(scorer->score(reference, distorted)) : scorer.status());
}

/// The same by way of a prepared reference.
inline Score score_prepared(const ImageView& reference, const ImageView& distorted, const ScorerOptions& options) {
  Result<Scorer> scorer = Scorer::create(options, reference.width, reference.height);
  if (!scorer.ok()) return checked(scorer.status());
  const Result<Reference> prepared = scorer->prepare(reference);
  return checked(prepared.ok() ? only(scorer->score(*prepared, distorted)) : prepared.status());
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

using Scoring = std::function<Score(const ImageView&, const ImageView&)>;

/// The same pictures score alike in every layout, as a pair and with a prepared reference.
inline void expect_layouts_score_alike(const Scoring& pair, const Scoring& prepared, const Content& reference,
                                       const Content& distorted, Channels channels) {
  for (const SampleType type : {SampleType::u8, SampleType::u16, SampleType::f32}) {
    const int depth = type == SampleType::u8 ? 8 : 12;
    const auto sheet = [channels](const Layout& layout, const Content& content) {
      return Sheet(layout, 61, 45, channels, content);
    };
    const Layout plain{.type = type, .depth = depth};
    const Score expected = pair(sheet(plain, reference).view, sheet(plain, distorted).view);
    for (const Layout& layout : arrangements(type, depth)) {
      const Sheet first = sheet(layout, reference), second = sheet(layout, distorted);
      expect_same(expected, pair(first.view, second.view), layout.name());
      expect_same(expected, prepared(first.view, second.view), layout.name());
    }
  }
}

/// A difference in one place shows there, and little of it elsewhere. `pair` makes a map; content(true) differs from
/// content(false).
inline void expect_map_shows_a_spot(const Scoring& pair, const std::function<Content(bool)>& content) {
  constexpr int kSide = 128;
  const auto in_spot = [](int x, int y) { return x >= 64 && x < 96 && y >= 32 && y < 64; };
  const Sheet reference({}, kSide, kSide, Channels::rgb, content(false));
  const Sheet distorted({}, kSide, kSide, Channels::rgb,
                        [&](int c, int x, int y) { return content(in_spot(x, y))(c, x, y); });
  const Score result = pair(reference.view, distorted.view);
  ASSERT_EQ(result.map.values.size(), static_cast<size_t>(kSide * kSide));
  double inside = 0, outside = 0;
  for (int i = 0; i < kSide * kSide; ++i) {
    (in_spot(i % kSide, i / kSide) ? inside : outside) +=
        static_cast<double>(result.map.values[static_cast<size_t>(i)]);
  }
  EXPECT_GT(inside, outside);
}

}  // namespace acuity::tests

#endif
