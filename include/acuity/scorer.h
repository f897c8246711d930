// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores pairs of pictures.
//
//   auto scorer = acuity::Scorer::create({.metrics = {"ssimulacra2", "butteraugli"}}, width, height);
//   if (!scorer.ok()) return report(scorer.status());
//   auto scores = scorer->score(original, distorted);          // one Score per metric; each picture is uploaded once
//   auto reference = scorer->prepare(original);                // once: computes what depends only on the reference
//   auto against = scorer->score(*reference, distorted);       // many times
//   auto job = scorer->start(*reference, distorted);           // returns at once
//   auto later = job->finish();
//   auto many = scorer->score_many(pairs);                     // for many small pictures
//
// Several threads may use a Scorer at once. Different Scorers are independent. A child process after fork() has none of
// their threads: it must make its own Scorers, as calls of those made before may never return.
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
#include "acuity/input.h"
#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity {

/// How much of the picture is worked on at once. It never changes a score.
///
/// - full: as much as is fastest, whatever memory that needs
/// - strip: at most so many rows, or the few more that the metric needs; on a GPU the samples of both pictures are
/// there as well
/// - automatic: full; on a GPU with too little free memory, the largest strip that fits
///
/// If that does not fit either: StatusCode::too_big, from Scorer::create, or from scoring larger samples than 8-bit
/// RGB.
struct MemoryMode {
  enum class Kind { automatic, full, strip };
  Kind kind = Kind::automatic;
  int rows = 0;  ///< for strip: rows at a time, at least 1

  static MemoryMode automatic() { return {}; }
  static MemoryMode full() { return {Kind::full, 0}; }
  static MemoryMode strip(int rows) { return {Kind::strip, rows}; }
};

/// A metric to score with.
struct MetricRequest {
  MetricRequest() = default;
  MetricRequest(const char* name) : metric(name) {}  // NOLINT(google-explicit-constructor): a name is a request
  MetricRequest(std::string name, std::vector<OptionValue> values = {})  // NOLINT(google-explicit-constructor)
      : metric(std::move(name)), options(std::move(values)) {}

  std::string metric{};  ///< a name from metrics()
  /// Settings of that metric, by the names in MetricInfo::options. Settings left out have their defaults.
  std::vector<OptionValue> options{};
};

struct ScorerOptions {
  std::vector<MetricRequest> metrics{};
  std::string device = "auto";  ///< "auto", "cpu", or a GPU: "cuda", "cuda:1", "hip:0", "vulkan"; never substituted
  int64_t expected_pairs = 1;   ///< how many pairs you expect to score: "auto" uses a GPU if that is faster
  MemoryMode memory{};
  /// The most memory to use on a GPU, by all of this process; 0: as ACUITY_VRAM_CAP_BYTES states, or all.
  int64_t vram_cap_bytes = 0;
  int threads = 0;        ///< 0: one per core
  bool want_map = false;  ///< fill Score::map
};

enum class Better {
  higher,
  lower,
  neither,  ///< the value describes one picture or video and does not compare two
};

/// A setting of a metric: a number in a range, one of some words, or either; or any text, such as a file name.
struct MetricOption {
  std::string name;
  std::string help;                  ///< what it does, in a few words
  std::string default_value;         ///< as text
  double minimum = 1;                ///< the smallest number accepted
  double maximum = 0;                ///< the largest; if minimum > maximum, numbers are not accepted
  std::vector<std::string> words{};  ///< the words accepted
  std::string alias{};               ///< a shorter name, accepted as well
  bool whole = false;                ///< only whole numbers are accepted
  bool in_names = false;             ///< a value other than the default appears in the names of outputs
  bool any_text = false;             ///< any text is accepted
};

/// Describes a metric.
struct MetricInfo {
  std::string name;     ///< as in MetricRequest::metric
  std::string version;  ///< of the definition
  std::string title;    ///< one line for lists
  Better better = Better::higher;
  std::optional<double> identical{};  ///< the value of any two identical pictures; none: see identical_says
  std::string identical_says{};       ///< what they give if that is not one number, to follow "identical pictures give"
  int minimum_side = 1;        ///< smaller pictures are refused, unless the metric has an option `small` for them
  std::string minimum_says{};  ///< which pictures are large enough, in words, if minimum_side does not state all
  bool has_map = false;
  /// Where a map's values stop being good and where they begin to be bad, if the metric has such values.
  std::optional<std::pair<double, double>> map_thresholds{};
  int map_root = 2;                     ///< 2 or 4: which root of a map's values rises as evenly as what people see
  std::string alpha_rule;               ///< how transparency is handled, in words
  std::vector<MetricOption> options{};  ///< the options that MetricRequest::options accepts
  std::string variant{};                ///< the option set by a word without a name, as in "metric:word"; empty: none
  bool is_frame_metric = false;         ///< works on Y'CbCr frames: use FrameScorer instead of Scorer
};

/// Every metric of this build, in the order in which lists show them.
ACUITY_API std::span<const MetricInfo> metrics();

/// The metric of that name, or null.
ACUITY_API const MetricInfo* find_metric(std::string_view name);

/// What a value of that metric means to a person, in a few words; empty if the metric has no anchors.
ACUITY_API std::string meaning(std::string_view metric, double value);

struct InputPair {
  Input reference;
  Input distorted;
};

/// How much is kept of a reference. It never changes a score.
enum class Keep {
  fast,   ///< all that the metrics can compute ahead: the default. MemoryMode::automatic keeps `small` if it lacks room
  small,  ///< only its samples, which every score starts from; a device gets them once
};

/// What is kept of a reference, made by Scorer::prepare. Copies are the same; several threads may use it at once. With
/// Keep::fast it works with any Scorer that has the same size and device, and some or all of the same metrics with the
/// same options; with Keep::small with any Scorer that has the same size.
class ACUITY_API Reference {
 public:
  Reference() noexcept = default;
  /// Memory held for it, on the host and on the device.
  int64_t bytes() const noexcept;

  struct State;
  const std::shared_ptr<const State>& state() const noexcept { return state_; }

 private:
  friend class Scorer;
  std::shared_ptr<const State> state_;
};

/// A pair being scored. The destructor waits until it is done.
class ACUITY_API Job {
 public:
  ~Job();
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  bool done() const noexcept;
  /// Waits until it is done. One Score per metric, in the order of ScorerOptions::metrics, or the first failure. Only
  /// the first call returns them.
  Result<std::vector<Score>> finish();
  /// finish() returns StatusCode::cancelled unless the scores were there before. What has begun on a device runs
  /// to its end.
  void cancel() noexcept;

  struct State;

 private:
  friend class Scorer;
  explicit Job(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

class ACUITY_API Scorer {
 public:
  static Result<Scorer> create(const ScorerOptions& options, int width, int height);
  /// Waits for all jobs.
  ~Scorer();
  Scorer(Scorer&&) noexcept;
  Scorer& operator=(Scorer&&) noexcept;

  /// Computes what depends only on the reference, for any number of distorted pictures. The pixels may go away
  /// afterwards.
  Result<Reference> prepare(const Input& reference, Keep keep = Keep::fast);

  /// Begins to score a pair and returns. A few jobs run at the same time; the others wait in line.
  Result<Job> start(const Input& reference, const Input& distorted);
  Result<Job> start(const Reference& reference, const Input& distorted);

  /// Scores a pair: one Score per metric, in the order of ScorerOptions::metrics, or the first failure.
  Result<std::vector<Score>> score(const Input& reference, const Input& distorted);
  Result<std::vector<Score>> score(const Reference& reference, const Input& distorted);

  /// Scores many pairs, in order, faster than one call each. Small pairs run in parallel: one per thread on the CPU,
  /// several at once on a GPU. Each pair has its own result; the call itself fails only if a pair could not be started.
  Result<std::vector<Result<std::vector<Score>>>> score_many(std::span<const InputPair> pairs);

  /// The metrics, in the order of ScorerOptions::metrics; none if the Scorer was moved from.
  std::span<const MetricInfo* const> metrics() const noexcept;

 private:
  struct State;
  explicit Scorer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace acuity

#endif
