// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pairs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/try.h"
#include "cli/leave.h"
#include "device/pinned.h"
#include "media/meaning.h"
#include "media/scale.h"
#include "metrics/cvvdp/context.h"

namespace acuity::cli {
namespace {

constexpr int64_t kSmallPixels = int64_t{1} << 20;  // pictures up to here are scored side by side

ReadPicture read_picture_of(const ScoreJob& job, const std::string& path, bool is_reference) {
  const Stopwatch watch;
  const double begin_ms = now_ms();
  ReadPicture read;
  Result<Picture>& picture = read.picture;
  picture = read_picture(path, job.limits, is_reference ? job.reference_frame : job.distorted_frame);
  const std::optional<Crop>& crop = is_reference ? job.geometry.crop_reference : job.geometry.crop_distorted;
  if (!picture.ok()) return read;
  FileFacts& facts = read.facts;
  if (crop) {
    if (Status cropped = crop_picture(*picture, *crop, shown(path)); !cropped.ok()) {
      picture = cropped;
      return read;
    }
    facts.changed = {picture->found.back()};
  }
  facts = {picture->format,          picture->found,
           picture->assumed,         watch.milliseconds(),
           std::move(facts.changed), {is_reference ? "read reference" : "read distorted", begin_ms, now_ms()}};
  return read;
}

// The GPU that was named takes the picture from where it is then.
void lock_picture(const ScoreJob& job, const Picture& picture) {
  if (!job.opening.valid() || !job.opening.get().device.ok()) return;
  lock_samples(*job.opening.get().device, picture.view.planes[0]);
}

bool same_size(const ImageView& a, const ImageView& b) { return a.width == b.width && a.height == b.height; }

void state_scaling(const Picture& picture, double milliseconds, FileFacts& facts) {
  facts.found = picture.found;
  facts.changed.push_back(picture.found.back());
  facts.decode_ms += milliseconds;
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

std::vector<Span> timeline(const PairResult& pair) {
  std::vector<Span> spans = pair.spans;
  for (const FileFacts* facts : {&pair.reference_facts, &pair.distorted_facts}) {
    if (!facts->read.what.empty()) spans.push_back(facts->read);
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin_ms < b.begin_ms; });
  return spans;
}

std::vector<NamedValue> timings(const PairResult& pair) {
  std::vector<NamedValue> list{{"decode_reference", pair.reference_facts.decode_ms},
                               {"decode_distorted", pair.distorted_facts.decode_ms},
                               {"prepare_reference", pair.prepare_ms}};
  if (pair.video) list.push_back({"convert", pair.video->convert_ms});
  for (const MetricScore& entry : pair.scores) {
    for (const NamedValue& stage : entry.score.provenance.timing_ms) {
      list.push_back({stage.name == "metric" ? entry.label : entry.label + "." + stage.name, stage.value});
    }
  }
  return list;
}

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

Status naming_files(const Status& status, const std::string& files) {
  return Status(status.code(), fmt::format("{}: {}", files, status.message()));
}

bool finite(const Score& score) {
  bool all = std::isfinite(score.value);
  for (const NamedValue& output : score.outputs) all = all && std::isfinite(output.value);
  return all;
}

ScorerOptions scorer_options(const ScoreJob& job, int64_t pairs) {
  return {.device = job.device,
          .expected_pairs = pairs,
          .memory = job.memory,
          .vram_cap_bytes = job.vram_cap_bytes,
          .threads = job.threads,
          .want_map = job.want_map};
}

std::shared_ptr<ReadAhead> read_ahead(const ScoreJob& job) {
  const std::string& distorted = job.distorted.front();
  std::error_code error;
  const auto is_file = [&](const std::string& path) { return std::filesystem::is_regular_file(path, error); };
  if (!is_file(job.reference) || !is_file(distorted)) return nullptr;
  const auto begin = [&job](const std::string& path, bool is_reference) {
    return std::async([job, path, is_reference] {
      ReadPicture read = read_picture_of(job, path, is_reference);
      if (!is_reference && read.picture.ok()) lock_picture(job, *read.picture);  // while the scorer is made
      return read;
    });
  };
  return std::make_shared<ReadAhead>(ReadAhead{begin(job.reference, true), begin(distorted, false)});
}

PairScorer::PairScorer(const ScoreJob& job, std::function<void(const std::string&)> progress)
    : job_(job), progress_(std::move(progress)), threads_(job.threads), status_(open_reference()) {}

Status PairScorer::open_reference() {
  progress_("reading " + shown(job_.reference));
  ReadPicture read =
      job_.ahead ? job_.ahead->reference.get() : read_picture_of(job_, job_.reference, /*is_reference=*/true);
  reference_facts_ = std::move(read.facts);
  Result<Picture>& picture = read.picture;
  if (!picture.ok()) return picture.status();
  if (job_.geometry.scale_reference == true) {
    original_ = std::move(*picture);
    return {};  // the distorted pictures tell its size
  }
  reference_ = std::move(*picture);
  const ImageView& view = reference_.view;
  const bool several = job_.distorted.size() > 1;
  side_by_side_ = several && threads_.count() > 1 && int64_t{view.width} * view.height <= kSmallPixels;
  if (job_.opening.valid()) locking_ = std::async([this] { lock_picture(job_, reference_); });
  const Status opened = open_scorer();
  if (job_.opening.valid()) {
    ACUITY_TRY(job_.opening.get().device.status());
    spans_.push_back(job_.opening.get().span);
  }
  // A mistake of the command line has nothing to do with the picture.
  return opened.ok() || opened.code() == StatusCode::usage ? opened : naming_files(opened, shown(job_.reference));
}

Status PairScorer::open_scorer() {
  ScorerOptions options = scorer_options(job_, static_cast<int64_t>(job_.distorted.size()));
  for (const MetricChoice& metric : job_.metrics) options.metrics.emplace_back(metric.name, metric.options);
  Result<Scorer> scorer = Status();
  spans_.push_back(
      timed("make scorer", [&] { scorer = Scorer::create(options, reference_.view.width, reference_.view.height); }));
  if (!scorer.ok()) return scorer.status();
  scorer_ = std::move(*scorer);
  prepared_.reset();
  return {};
}

// Where several pictures are compared with the reference one by one, it is prepared once, or again where its colours
// are those that another of them says.
Status PairScorer::prepare(const Entrant& entrant) {
  if (locking_.valid()) locking_.get();
  if (job_.distorted.size() == 1 || side_by_side_) return {};
  const ImageView view = reference_view(entrant);
  if (prepared_ && same_colour(*prepared_, view.colour, view.is_grey())) return {};
  const Stopwatch watch;
  prepared_.reset();
  ACUITY_TRY_ASSIGN(kept_, scorer_->prepare(Input(view, reference_.pixels)));
  prepared_ = view.colour;
  prepare_ms_ += watch.milliseconds();
  if (reference_.says_transfer && reference_.says_primaries) {
    reference_.pixels.reset();  // the scorer holds what it needs of it
  }
  return {};
}

ImageView PairScorer::reference_view(const Entrant& entrant) const {
  ImageView view = reference_.view;
  view.colour = entrant.reference_colour;
  return view;
}

std::vector<PairResult> PairScorer::score(std::span<const std::string> distorted) {
  std::vector<Entrant> entrants(distorted.size());
  for (size_t i = 0; i < distorted.size(); ++i) {
    entrants[i].result.reference = job_.reference;
    entrants[i].result.distorted = distorted[i];
  }
  progress_(distorted.size() == 1 ? "reading " + shown(distorted[0])
                                  : fmt::format("reading {} pictures", distorted.size()));
  std::atomic<size_t> next = 0;
  threads_.run([&](int) {
    for (size_t i = next++; i < entrants.size(); i = next++) {
      entrants[i].result.status = status_.ok() ? enter(entrants[i], i == 0) : status_;
    }
  });
  for (Entrant& entrant : entrants) {
    if (entrant.result.status.ok()) entrant.result.status = fit(entrant);
    if (entrant.result.status.ok()) entrant.result.status = prepare(entrant);
  }
  std::vector<Entrant*> left;
  for (Entrant& entrant : entrants) {
    if (entrant.result.status.ok()) left.push_back(&entrant);
  }
  // What was done once for several pairs counts in the first of them, so that sums come out right.
  for (Entrant* entrant : left) {
    FileFacts facts = reference_facts_;
    facts.found = std::move(entrant->result.reference_facts.found);
    facts.assumed = std::move(entrant->result.reference_facts.assumed);
    entrant->result.reference_facts = std::move(facts);
    entrant->result.prepare_ms = std::exchange(prepare_ms_, 0);
    entrant->result.spans = std::exchange(spans_, {});
    reference_facts_.decode_ms = 0;
    reference_facts_.read = {};
  }
  if (!left.empty()) {
    progress_("computing " +
              (job_.metrics.size() == 1 ? job_.metrics[0].label : fmt::format("{} metrics", job_.metrics.size())));
    std::vector<Result<std::vector<Score>>> scores;
    const Span span = timed("score", [&] { scores = score_all(left); });
    for (Entrant* entrant : left) entrant->result.spans.push_back(span);
    for (size_t i = 0; i < left.size(); ++i) note_scores(*left[i], std::move(scores[i]));
  }
  std::vector<PairResult> results;
  for (Entrant& entrant : entrants) {
    if (job_.opening.valid() && job_.distorted.size() == 1) keep_until_exit(entrant.distorted.pixels);
    results.push_back(std::move(entrant.result));
  }
  return results;
}

// A failure shows no number, not even of the metrics that did not fail.
void PairScorer::note_scores(Entrant& entrant, Result<std::vector<Score>> scores) const {
  PairResult& result = entrant.result;
  const std::string files = fmt::format("{} and {}", shown(result.reference), shown(result.distorted));
  if (!scores.ok()) result.status = naming_files(scores.status(), files);
  for (size_t m = 0; m < job_.metrics.size() && result.status.ok(); ++m) {
    Score& score = (*scores)[m];
    if (finite(score)) {
      for (const std::string& warning : score.provenance.warnings) {
        result.warnings.push_back(fmt::format("{}: {}", job_.metrics[m].label, warning));
      }
      result.scores.push_back({scorer_->metrics()[m], job_.metrics[m].label, std::move(score), {}});
      if (!job_.want_map_context || job_.metrics[m].name != "cvvdp") continue;
      Result<std::vector<float>> context =
          cvvdp::context_of(job_.metrics[m].options, entrant.reference_colour, entrant.distorted.view);
      if (context.ok()) result.scores.back().map_context = std::move(*context);
    } else {
      result.status = Status(StatusCode::internal,
                             fmt::format("{}: {} gave a result that is not a finite number; please report this", files,
                                         job_.metrics[m].label));
    }
  }
  if (!result.status.ok()) result.scores.clear();
}

Status PairScorer::enter(Entrant& entrant, bool first) {
  PairResult& result = entrant.result;
  const bool is_ahead = first && job_.ahead && job_.ahead->distorted.valid();
  ReadPicture read =
      is_ahead ? job_.ahead->distorted.get() : read_picture_of(job_, result.distorted, /*is_reference=*/false);
  result.distorted_facts = std::move(read.facts);
  if (!read.picture.ok()) return read.picture.status();
  entrant.distorted = std::move(*read.picture);
  if (!is_ahead && !side_by_side_) lock_picture(job_, entrant.distorted);
  return {};
}

// Scales one of them where that is wanted, and sees whether they can be compared.
Status PairScorer::fit(Entrant& entrant) {
  PairResult& result = entrant.result;
  const ImageView& other = entrant.distorted.view;
  const Stopwatch watch;
  if (job_.geometry.scale_reference == true && (!scorer_ || !same_size(reference_.view, other))) {
    ACUITY_TRY(fit_reference(other.width, other.height));
  }
  const ImageView& mine = reference_.view;
  if (job_.geometry.scale_reference == false && !same_size(mine, other)) {
    ACUITY_TRY_ASSIGN(entrant.distorted, scaled(entrant.distorted, mine.width, mine.height, job_.geometry.scaler,
                                                threads_, shown(result.distorted)));
    state_scaling(entrant.distorted, watch.milliseconds(), result.distorted_facts);
  }
  if (!same_size(mine, other)) {
    return unequal_sizes(shown(result.reference), mine.width, mine.height, shown(result.distorted), other.width,
                         other.height);
  }
  result.width = mine.width;
  result.height = mine.height;
  Result<PairMeaning> meaning = settle_meaning({shown(result.reference), format_of(reference_)},
                                               {shown(result.distorted), format_of(entrant.distorted)}, job_.meaning);
  if (!meaning.ok()) return meaning.status();
  entrant.reference_colour = meaning->reference.colour;
  entrant.distorted.view.colour = meaning->distorted.colour;
  result.reference_facts.found = std::move(meaning->reference.found);
  result.reference_facts.assumed = std::move(meaning->reference.assumed);
  result.distorted_facts.found = std::move(meaning->distorted.found);
  result.distorted_facts.assumed = std::move(meaning->distorted.assumed);
  result.warnings = std::move(meaning->warnings);
  return {};
}

// Brings the reference to this size, and makes the scorer for it.
Status PairScorer::fit_reference(int width, int height) {
  const Stopwatch watch;
  scorer_.reset();
  reference_ = original_;
  reference_facts_.found = original_.found;
  reference_facts_.changed.clear();
  if (job_.geometry.crop_reference) reference_facts_.changed.push_back(original_.found.back());
  if (original_.view.width != width || original_.view.height != height) {
    ACUITY_TRY_ASSIGN(reference_,
                      scaled(original_, width, height, job_.geometry.scaler, threads_, shown(job_.reference)));
    state_scaling(reference_, watch.milliseconds(), reference_facts_);
  }
  const Status opened = open_scorer();
  return opened.ok() ? opened : naming_files(opened, shown(job_.reference));
}

std::vector<Result<std::vector<Score>>> PairScorer::score_all(const std::vector<Entrant*>& entrants) {
  if (side_by_side_) {
    std::vector<InputPair> pairs;
    for (const Entrant* entrant : entrants) pairs.push_back({reference_view(*entrant), entrant->distorted.view});
    Result<std::vector<Result<std::vector<Score>>>> scores = scorer_->score_many(pairs);
    if (scores.ok()) return std::move(*scores);
    return std::vector<Result<std::vector<Score>>>(entrants.size(), scores.status());
  }
  std::vector<Result<std::vector<Score>>> scores;
  for (const Entrant* entrant : entrants) {
    const ImageView& view = entrant->distorted.view;
    scores.push_back(prepared_ ? scorer_->score(kept_, view) : scorer_->score(reference_view(*entrant), view));
  }
  return scores;
}

}  // namespace acuity::cli
