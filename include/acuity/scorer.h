// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scoring pairs of pictures.
//
//   auto scorer = acuity::Scorer::create({.metric = "ssimulacra2"}, width, height);
//   if (!scorer.ok()) return report(scorer.status());
//   scorer->set_reference(reference);                // once: all that depends on the reference alone is kept
//   acuity::Result<acuity::Score> a = scorer->score(distorted);      // many times
//   acuity::Result<acuity::Score> b = scorer->score(other, other_distorted);
//   auto c = scorer->score_many(pairs);              // for many small pictures
//
// A Scorer is used by one thread at a time; it uses several inside. Different Scorers are independent.
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

/// How much of the picture is in work at once. It never changes a score.
struct MemoryMode {
  enum class Kind { automatic, full, strip };
  Kind kind = Kind::automatic;
  int rows = 0;  ///< for strip: how many rows at a time, at least 1

  static MemoryMode automatic() { return {}; }
  static MemoryMode full() { return {Kind::full, 0}; }
  static MemoryMode strip(int rows) { return {Kind::strip, rows}; }
};

struct ScorerOptions {
  std::string metric{};  ///< a name from metrics()
  /// Settings of that metric, by the names in MetricInfo::options; those left out have their defaults.
  std::vector<OptionValue> metric_options{};
  std::string device = "auto";  ///< "auto", "cpu", or a GPU: "cuda", "cuda:1", "hip:0", "vulkan"; never another instead
  int64_t expected_pairs = 1;   ///< how many will be scored, as far as known: "auto" takes a GPU where that pays
  MemoryMode memory{};
  int threads = 0;        ///< 0: one for each core
  bool want_map = false;  ///< fill Score::map
};

enum class Better { higher, lower };

/// A setting a metric has: a number in a range, one of some words, or either; or any text, such as a file.
struct MetricOption {
  std::string name;
  std::string help;                  ///< what it does, in a few words
  std::string otherwise;             ///< its value where none is given
  double least = 1;                  ///< numbers from here ...
  double most = 0;                   ///< ... to here; no numbers where least > most
  std::vector<std::string> words{};  ///< what it may be besides
  std::string alias{};               ///< a shorter name that serves as well
  bool whole = false;                ///< numbers have no fraction
  bool in_names = false;             ///< the names of outputs tell a value that is not the usual one
  bool any_text = false;             ///< whatever is given will do
};

/// What is known of a metric without running it.
struct MetricInfo {
  std::string name;     ///< as ScorerOptions::metric takes it
  std::string version;  ///< of the definition
  std::string title;    ///< one line for lists
  Better better = Better::higher;
  double identical = 0;  ///< the value of two identical pictures
  int minimum_side = 1;  ///< smaller pictures are refused
  bool has_map = false;
  /// Where a map's values stop being good and where they begin to be bad, if the metric has such values.
  std::optional<std::pair<double, double>> map_thresholds{};
  std::string alpha_rule;               ///< what is done with transparency, in words
  std::vector<MetricOption> options{};  ///< what ScorerOptions::metric_options may hold
  std::string variant{};                ///< the option that a word alone is a value of: "metric:word"; empty: none
  bool frames = false;                  ///< works on Y'CbCr frames, by way of FrameScorer instead of Scorer
};

/// Every metric this build has, in the order lists show them.
ACUITY_API std::span<const MetricInfo> metrics();

/// The entry of that name, or null.
ACUITY_API const MetricInfo* find_metric(std::string_view name);

/// What a value of that metric means to a person, in a few words; empty where the metric has no anchors.
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

  /// Keeps what it needs of the reference; the view may go away afterwards.
  Status set_reference(const ImageView& reference);
  /// Against the reference set before.
  Result<Score> score(const ImageView& distorted);
  /// A pair; the reference set before, if any, stays.
  Result<Score> score(const ImageView& reference, const ImageView& distorted);
  /// Many pairs: what score(reference, distorted) answers to each, in their order, sooner. Small ones are in work
  /// side by side, on the CPU one a thread, on a GPU several at once. Fails as a whole where nothing could be begun.
  Result<std::vector<Result<Score>>> score_many(std::span<const ImagePair> pairs);

  const MetricInfo& metric() const;

 private:
  struct State;
  explicit Scorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace acuity

#endif
