// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pairs.h"

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace acuity::cli {
namespace {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

// The library speaks of the reference and the distorted picture; people know them by their files.
Status naming_files(const Status& status, const std::string& files) {
  return Status(status.code(), fmt::format("{}: {}", files, status.message()));
}

Result<Picture> read(const std::string& path, FileFacts& facts) {
  const Stopwatch watch;
  Result<Picture> picture = read_picture(path);
  if (picture.ok()) facts = {picture->format, picture->found, picture->assumed, watch.milliseconds()};
  return picture;
}

bool finite(const Score& score) {
  bool all = std::isfinite(score.value);
  for (const NamedValue& output : score.outputs) all = all && std::isfinite(output.value);
  return all;
}

bool same_colour(const Colour& a, const Colour& b) {
  if (a.icc != nullptr || b.icc != nullptr) return a.icc != nullptr && b.icc != nullptr && *a.icc == *b.icc;
  return a.transfer == b.transfer && a.primaries == b.primaries && a.gamma == b.gamma &&
         a.chromaticities == b.chromaticities;
}

// What makes a score doubtful although it can be computed: an encoder that dropped the profile or the transparency.
std::vector<std::string> warnings(const Picture& reference, const Picture& distorted, const std::string& reference_name,
                                  const std::string& distorted_name) {
  std::vector<std::string> list;
  if (reference.view.has_alpha() != distorted.view.has_alpha()) {
    const bool reference_has = reference.view.has_alpha();
    list.push_back(fmt::format("{} has transparency but {} has none and counts as opaque",
                               reference_has ? reference_name : distorted_name,
                               reference_has ? distorted_name : reference_name));
  }
  if (reference.assumed.empty() != distorted.assumed.empty() &&
      !same_colour(reference.view.colour, distorted.view.colour)) {
    const bool reference_told = reference.assumed.empty();
    list.push_back(fmt::format(
        "{} says what its colours are but {} does not: assumed {}", reference_told ? reference_name : distorted_name,
        reference_told ? distorted_name : reference_name, (reference_told ? distorted : reference).assumed.front()));
  }
  return list;
}

void list_facts(const FileFacts& facts, const std::string& side, std::vector<std::string>& list) {
  std::string found = facts.format;
  for (const std::string& fact : facts.found) found += ", " + fact;
  list.push_back(fmt::format("{}: {}", side, found));
  for (const std::string& fact : facts.assumed) list.push_back(fmt::format("{}: assumed {}", side, fact));
}

}  // namespace

std::vector<std::string> assumptions(const PairResult& pair) {
  std::vector<std::string> list;
  list_facts(pair.reference_facts, "reference", list);
  list_facts(pair.distorted_facts, "distorted", list);
  for (const MetricScore& entry : pair.scores) {
    for (const std::string& fact : entry.score.provenance.assumptions) {
      list.push_back(fmt::format("{}: {}", entry.label, fact));
    }
  }
  return list;
}

std::vector<NamedValue> timings(const PairResult& pair) {
  std::vector<NamedValue> list{{"decode_reference", pair.reference_facts.decode_ms},
                               {"decode_distorted", pair.distorted_facts.decode_ms},
                               {"prepare_reference", pair.prepare_ms}};
  for (const MetricScore& entry : pair.scores) {
    for (const NamedValue& stage : entry.score.provenance.timing_ms) {
      list.push_back({stage.name == "metric" ? entry.label : entry.label + "." + stage.name, stage.value});
    }
  }
  return list;
}

PairScorer::PairScorer(const ScoreJob& job) : job_(job), status_(open_reference()) {}

Status PairScorer::open_reference() {
  Result<Picture> picture = read(job_.reference, reference_facts_);
  if (!picture.ok()) return picture.status();
  reference_ = std::move(*picture);
  const Stopwatch watch;
  for (const MetricChoice& metric : job_.metrics) {
    const ScorerOptions options{.metric = metric.name,
                                .metric_options = metric.options,
                                .device = job_.device,
                                .memory = job_.memory,
                                .threads = job_.threads,
                                .want_map = job_.want_map};
    Result<Scorer> scorer = Scorer::create(options, reference_.view.width, reference_.view.height);
    if (!scorer.ok()) return naming_files(scorer.status(), shown(job_.reference));
    if (job_.distorted.size() > 1) {
      if (Status set = scorer->set_reference(reference_.view); !set.ok())
        return naming_files(set, shown(job_.reference));
    }
    scorers_.push_back(std::move(*scorer));
  }
  if (job_.distorted.size() > 1) {
    prepare_ms_ = watch.milliseconds();
    reference_.pixels.reset();  // the scorers hold what they need of it
  }
  return {};
}

PairResult PairScorer::score(const std::string& distorted) {
  PairResult pair;
  pair.reference = job_.reference;
  pair.distorted = distorted;
  pair.status = status_.ok() ? score_into(pair) : status_;
  if (!pair.status.ok()) pair.scores.clear();  // a failure shows no number, not even of the metrics before it
  return pair;
}

Status PairScorer::score_into(PairResult& pair) {
  const Result<Picture> distorted = read(pair.distorted, pair.distorted_facts);
  if (!distorted.ok()) return distorted.status();
  const ImageView& mine = reference_.view;
  const ImageView& other = distorted->view;
  const std::string files = fmt::format("{} and {}", shown(pair.reference), shown(pair.distorted));
  if (mine.width != other.width || mine.height != other.height) {
    return Status(StatusCode::input, fmt::format("{} is {}x{} pixels but {} is {}x{}: scale or crop one of them first",
                                                 shown(pair.reference), mine.width, mine.height, shown(pair.distorted),
                                                 other.width, other.height));
  }
  pair.width = mine.width;
  pair.height = mine.height;
  // What was done once for several pairs counts in the first of them, so that sums come out right.
  pair.reference_facts = reference_facts_;
  pair.prepare_ms = std::exchange(prepare_ms_, 0);
  reference_facts_.decode_ms = 0;
  pair.warnings = warnings(reference_, *distorted, shown(pair.reference), shown(pair.distorted));
  for (size_t i = 0; i < scorers_.size(); ++i) {
    Scorer& scorer = scorers_[i];
    Result<Score> score = job_.distorted.size() > 1 ? scorer.score(other) : scorer.score(mine, other);
    if (!score.ok()) return naming_files(score.status(), files);
    if (!finite(*score)) {
      return Status(StatusCode::internal,
                    fmt::format("{}: {} gave a result that is no finite number", files, job_.metrics[i].label));
    }
    pair.scores.push_back({&scorer.metric(), job_.metrics[i].label, std::move(*score)});
  }
  return {};
}

}  // namespace acuity::cli
