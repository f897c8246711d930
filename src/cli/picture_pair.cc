// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/picture_pair.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/threads.h"
#include "base/try.h"
#include "cli/leave.h"
#include "device/pinned.h"
#include "media/meaning.h"
#include "media/scale.h"
#include "metrics/cvvdp/context.h"

namespace acuity::cli {
namespace {

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

class PictureScorer {
 public:
  PictureScorer(const ScoreJob& job, const std::function<void(const std::string&)>& progress)
      : job_(job), progress_(progress), threads_(job.threads) {
    result_.reference = job.reference;
    result_.distorted = job.distorted.front();
  }

  PairResult operator()() {
    result_.status = score();
    if (!result_.status.ok()) result_.scores.clear();
    return std::move(result_);
  }

 private:
  Status score() {
    ACUITY_TRY(open_reference());
    ACUITY_TRY(open_distorted());
    ACUITY_TRY(fit());
    ACUITY_TRY(settle());
    if (locking_.valid()) locking_.get();
    progress_("computing " +
              (job_.metrics.size() == 1 ? job_.metrics[0].label : fmt::format("{} metrics", job_.metrics.size())));
    ImageView reference = reference_.view;
    reference.colour = reference_colour_;
    Result<std::vector<Score>> scores = Status();
    result_.spans.push_back(timed("score", [&] { scores = scorer_->score(reference, distorted_.view); }));
    const std::string files = fmt::format("{} and {}", shown(result_.reference), shown(result_.distorted));
    if (!scores.ok()) return naming_files(scores.status(), files);
    return note_scores(std::move(*scores), files);
  }

  Status open_reference() {
    progress_("reading " + shown(job_.reference));
    ReadPicture read = job_.ahead ? job_.ahead->reference.get() : read_picture_of(job_, job_.reference, true);
    result_.reference_facts = std::move(read.facts);
    ACUITY_TRY(read.picture.status());
    reference_ = std::move(*read.picture);
    if (job_.geometry.scale_reference == true) return {};  // the distorted picture tells its size
    if (job_.opening.valid()) locking_ = std::async([this] { lock_picture(job_, reference_); });
    return open_scorer();
  }

  Status open_scorer() {
    ScorerOptions options = scorer_options(job_, 1);
    for (const MetricChoice& metric : job_.metrics) options.metrics.emplace_back(metric.name, metric.options);
    Result<Scorer> scorer = Status();
    result_.spans.push_back(
        timed("make scorer", [&] { scorer = Scorer::create(options, reference_.view.width, reference_.view.height); }));
    if (job_.opening.valid()) {
      ACUITY_TRY(job_.opening.get().device.status());
      result_.spans.push_back(job_.opening.get().span);
    }
    const Status& opened = scorer.status();
    // A mistake of the command line has nothing to do with the picture.
    if (opened.code() == StatusCode::usage) return opened;
    if (!opened.ok()) return naming_files(opened, shown(job_.reference));
    scorer_ = std::move(*scorer);
    return {};
  }

  Status open_distorted() {
    progress_("reading " + shown(result_.distorted));
    ReadPicture read = job_.ahead ? job_.ahead->distorted.get() : read_picture_of(job_, result_.distorted, false);
    result_.distorted_facts = std::move(read.facts);
    ACUITY_TRY(read.picture.status());
    distorted_ = std::move(*read.picture);
    if (!job_.ahead) lock_picture(job_, distorted_);
    return {};
  }

  Status scale(Picture& picture, const ImageView& to, const std::string& path, FileFacts& facts) {
    if (same_size(picture.view, to)) return {};
    const Stopwatch watch;
    ACUITY_TRY_ASSIGN(picture, scaled(picture, to.width, to.height, job_.geometry.scaler, threads_, shown(path)));
    facts.found = picture.found;
    facts.changed.push_back(picture.found.back());
    facts.decode_ms += watch.milliseconds();
    return {};
  }

  // Scales one of them where that is wanted, and sees whether they can be compared.
  Status fit() {
    const ImageView mine = reference_.view, other = distorted_.view;
    if (job_.geometry.scale_reference == true) {
      ACUITY_TRY(scale(reference_, other, result_.reference, result_.reference_facts));
      ACUITY_TRY(open_scorer());
    } else if (job_.geometry.scale_reference == false) {
      ACUITY_TRY(scale(distorted_, mine, result_.distorted, result_.distorted_facts));
    } else if (!same_size(mine, other)) {
      return unequal_sizes(shown(result_.reference), mine.width, mine.height, shown(result_.distorted), other.width,
                           other.height);
    }
    result_.width = reference_.view.width;
    result_.height = reference_.view.height;
    return {};
  }

  Status settle() {
    Result<PairMeaning> meaning = settle_meaning({shown(result_.reference), format_of(reference_)},
                                                 {shown(result_.distorted), format_of(distorted_)}, job_.meaning);
    if (!meaning.ok()) return meaning.status();
    reference_colour_ = meaning->reference.colour;
    distorted_.view.colour = meaning->distorted.colour;
    result_.reference_facts.found = std::move(meaning->reference.found);
    result_.reference_facts.assumed = std::move(meaning->reference.assumed);
    result_.distorted_facts.found = std::move(meaning->distorted.found);
    result_.distorted_facts.assumed = std::move(meaning->distorted.assumed);
    result_.warnings = std::move(meaning->warnings);
    return {};
  }

  // A failure shows no number, not even of the metrics that did not fail.
  Status note_scores(std::vector<Score> scores, const std::string& files) {
    for (size_t m = 0; m < job_.metrics.size(); ++m) {
      const MetricChoice& metric = job_.metrics[m];
      if (!finite(scores[m])) {
        return Status(
            StatusCode::internal,
            fmt::format("{}: {} gave a result that is not a finite number; please report this", files, metric.label));
      }
      for (const std::string& warning : scores[m].provenance.warnings) {
        result_.warnings.push_back(fmt::format("{}: {}", metric.label, warning));
      }
      result_.scores.push_back({scorer_->metrics()[m], metric.label, std::move(scores[m]), {}});
      if (!job_.want_map_context || metric.name != "cvvdp") continue;
      Result<std::vector<float>> context = cvvdp::context_of(metric.options, reference_colour_, distorted_.view);
      if (context.ok()) result_.scores.back().map_context = std::move(*context);
    }
    return {};
  }

  const ScoreJob job_;
  const std::function<void(const std::string&)> progress_;
  Threads threads_;
  PairResult result_;
  Picture reference_;
  Picture distorted_;
  Colour reference_colour_;    // what it is taken for beside the distorted picture
  std::future<void> locking_;  // of the reference's memory
  std::optional<Scorer> scorer_;
};

}  // namespace

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

PairResult score_pictures(const ScoreJob& job, const std::function<void(const std::string&)>& progress) {
  const auto scorer = std::make_shared<PictureScorer>(job, progress);
  PairResult result = (*scorer)();
  if (job.ends_process) keep_until_exit(scorer);
  return result;
}

}  // namespace acuity::cli
