// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores pairs of pictures.
//
//   auto scorer = acuity::Scorer::create({.metric = "ssimulacra2"}, width, height);
//   if (!scorer.ok()) return report(scorer.status());
//   scorer->set_reference(reference);                // once: computes what depends only on the reference
//   acuity::Result<acuity::Score> a = scorer->score(distorted);      // many times
//   acuity::Result<acuity::Score> b = scorer->score(other, other_distorted);
//   auto c = scorer->score_many(pairs);              // for many small pictures
//
// Only one thread at a time may use a Scorer; it uses several inside. Different Scorers are independent.
#ifndef ACUITY_SCORER_H
#define ACUITY_SCORER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acuity/export.h"
#include "acuity/image.h"
#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity {

/// How much of the picture is worked on at once. It never changes a score.
struct MemoryMode {
  enum class Kind { automatic, full, strip };
  Kind kind = Kind::automatic;
  int rows = 0;  ///< for strip: rows at a time, at least 1

  static MemoryMode automatic() { return {}; }
  static MemoryMode full() { return {Kind::full, 0}; }
  static MemoryMode strip(int rows) { return {Kind::strip, rows}; }
};

struct ScorerOptions {
  std::string metric{};  ///< a name from metrics()
  /// Settings of that metric, by the names in MetricInfo::options. Settings left out have their defaults.
  std::vector<OptionValue> metric_options{};
  std::string device = "auto";  ///< "auto", "cpu", or a GPU: "cuda", "cuda:1", "hip:0", "vulkan"; never substituted
  int64_t expected_pairs = 1;   ///< how many pairs you expect to score: "auto" uses a GPU if that is faster
  MemoryMode memory{};
  int threads = 0;        ///< 0: one per core
  bool want_map = false;  ///< fill Score::map
};

enum class Better { higher, lower };

/// A setting of a metric: a number in a range, one of some words, or either; or any text, such as a file name.
struct MetricOption {
  std::string name;
  std::string help;                  ///< what it does, in a few words
  std::string otherwise;             ///< the default value
  double least = 1;                  ///< the smallest number accepted
  double most = 0;                   ///< the largest; if least > most, numbers are not accepted
  std::vector<std::string> words{};  ///< the words accepted
  std::string alias{};               ///< a shorter name, accepted as well
  bool whole = false;                ///< only whole numbers are accepted
  bool in_names = false;             ///< a value other than the default appears in the names of outputs
  bool any_text = false;             ///< any text is accepted
};

/// Describes a metric.
struct MetricInfo {
  std::string name;     ///< as in ScorerOptions::metric
  std::string version;  ///< of the definition
  std::string title;    ///< one line for lists
  Better better = Better::higher;
  std::optional<double> identical{};  ///< what two identical pictures give, always; none: identical_says
  std::string identical_says{};  ///< what they give where that is not one number, to follow "identical pictures give"
  int minimum_side = 1;          ///< smaller pictures are refused, unless the option `small` says what becomes of them
  bool has_map = false;
  /// Where a map's values stop being good and where they begin to be bad, if the metric has such values.
  std::optional<std::pair<double, double>> map_thresholds{};
  std::string alpha_rule;               ///< how transparency is handled, in words
  std::vector<MetricOption> options{};  ///< the options that ScorerOptions::metric_options accepts
  std::string variant{};                ///< the option set by a word without a name, as in "metric:word"; empty: none
  bool frames = false;                  ///< works on Y'CbCr frames: use FrameScorer instead of Scorer
};

/// Every metric of this build, in the order in which lists show them.
ACUITY_API std::span<const MetricInfo> metrics();

/// The metric of that name, or null.
ACUITY_API const MetricInfo* find_metric(std::string_view name);

/// What a value of that metric means to a person, in a few words; empty if the metric has no anchors.
ACUITY_API std::string meaning(std::string_view metric, double value);

struct ImagePair {
  ImageView reference;
  ImageView distorted;
};

class ACUITY_API Scorer {
 public:
  static Result<Scorer> create(const ScorerOptions& options, int width, int height);
  ~Scorer();
  Scorer(Scorer&&) noexcept;
  Scorer& operator=(Scorer&&) noexcept;

  /// Prepares a reference for score(distorted). The view may go away afterwards.
  Status set_reference(const ImageView& reference);
  /// Scores a picture against the reference that was set.
  Result<Score> score(const ImageView& distorted);
  /// Scores a pair. A reference that was set stays.
  Result<Score> score(const ImageView& reference, const ImageView& distorted);
  /// Scores many pairs, in order, faster than one call each. Small pairs run in parallel: one per thread on the CPU,
  /// several at once on a GPU. Each pair has its own result; the call itself fails only if no pair could be started.
  Result<std::vector<Result<Score>>> score_many(std::span<const ImagePair> pairs);

  const MetricInfo& metric() const;  ///< without a name where the Scorer was moved from

 private:
  struct State;
  explicit Scorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace acuity

#endif
