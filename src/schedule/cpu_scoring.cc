// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the threads of a scheduler do with rows besides loading them: scoring on the CPU, and works.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/try.h"
#include "schedule/state.h"

namespace acuity {
namespace {

constexpr int64_t kSmallPixels = int64_t{1} << 20;

std::string mode_text(int strip_rows) { return strip_rows > 0 ? fmt::format("strip {}", strip_rows) : "full"; }

bool is_of_device(StatusCode code) {
  return code == StatusCode::device_memory || code == StatusCode::out_of_memory || code == StatusCode::too_big ||
         code == StatusCode::device_lost || code == StatusCode::device || code == StatusCode::unknown_device;
}

}  // namespace

// A row has one thread, which is the best for many. If there are not enough rows for all threads, or not enough memory
// for so many rows, a large one has them all.
bool Scheduler::State::is_wide(const Row& row) const {
  if (threads_ == 1 || row.pixels() <= kSmallPixels) return false;
  return results.unfinished() * 2 <= threads_ || row.needs_bytes * threads_ > ledger_.limit();
}

Status Scheduler::State::score_here(const RowPointer& row) {
  if (cancelled_) return cancelled_status();
  if (row->queued != Clock::time_point{}) {
    row->result.waiting_ms += milliseconds_between(row->queued, Clock::now());
  }
  const bool wide = is_wide(*row);
  int strip_rows = plans_.chosen_rows();
  Status status;
  const Clock::time_point began = Clock::now();
  row->count_bytes();
  row->stages.begin();
  while (true) {
    status = guarded<Status>([&] { return try_here(*row, strip_rows, wide && strip_rows == 0); });
    const bool is_short = status.code() == StatusCode::out_of_memory || status.code() == StatusCode::too_big;
    if (!is_short) break;
    const Result<MemoryPlan> plan =
        plans_.plan(*row->metrics, row->result.width, row->result.height, {}, strip_rows, 1);
    Attempt attempt{.device = "cpu",
                    .memory_mode = mode_text(strip_rows),
                    .why = status,
                    .needed_bytes = plan.ok() ? plan->pair.host : 0,
                    .free_bytes = ledger_.limit() - ledger_.used() + row->scoring.bytes()};
    if (row->has_tried(cpu_, true)) break;
    row->tried.push_back({cpu_, strip_rows > 0});
    const int64_t room = std::max(row->scoring.bytes(), int64_t{1});
    const Result<int> smaller = plans_.smaller_strip(*row->metrics, row->result.width, row->result.height, {},
                                                     strip_rows, 1, strip_rows > 0 ? room / 2 : room);
    if (!smaller.ok() || *smaller == 0) break;
    row->result.attempts.push_back(std::move(attempt));
    row->tried.push_back({cpu_, true});
    strip_rows = *smaller;
  }
  row->stages.end();
  const double ms = milliseconds_between(began, Clock::now());
  row->result.device_ms = ms;
  ACUITY_TRY(status);
  if (!wide) costs_.note(cpu_, *row->metrics, row->result.width, row->result.height, ms * 1e6);
  done(row);
  return {};
}

Status Scheduler::State::try_here(Row& row, int strip_rows, bool wide) {
  const int width = row.result.width, height = row.result.height;
  ScorerKey key{row.metrics->key, width, height, strip_rows, wide ? threads_ : 1};
  MemoryPlan plan;
  ACUITY_TRY_ASSIGN(plan, plans_.plan(*row.metrics, width, height, {}, strip_rows, key.threads));
  std::shared_ptr<CachedScorer> scorer = scorers_.take(key);
  if (scorer) {
    row.scoring = std::move(scorer->held);
  } else {
    if (!row.scoring.try_more(plan.pair.host - row.scoring.bytes())) {
      if (wide) return try_here(row, strip_rows, false);
      return Status(StatusCode::too_big,
                    fmt::format("{}x{} pixels need {} bytes of memory to be scored, but {} are left of the limit for "
                                "all tasks, {}; raise the limit",
                                width, height, plan.pair.host, row.scoring.bytes(), ledger_.limit()));
    }
    row.scoring.keep_only(plan.pair.host);
    Result<Scorer> made = Scorer::create({.metrics = row.metrics->requests,
                                          .device = "cpu",
                                          .memory = strip_rows > 0 ? MemoryMode::strip(strip_rows) : MemoryMode::full(),
                                          .threads = key.threads,
                                          .want_map = options.want_map},
                                         width, height);
    if (!made.ok()) return made.status();
    scorer = std::make_shared<CachedScorer>(key, std::move(*made));
  }
  Result<std::vector<Score>> scores = Status();
  const Input distorted = row.new_input();
  if (row.scaled_reference.pixels) {
    ImageView view = row.scaled_reference.view;
    view.colour = row.reference_colour;
    scores = scorer->scorer.score(input_of(view, row.scaled_reference.pixels), distorted);
  } else {
    const auto prepare = [&](const Input& input) -> std::optional<CachedReference::Prepared> {
      CachedReference::Prepared kept;
      kept.held = ledger_.try_take(plan.reference.host);
      if (kept.held.bytes() < plan.reference.host) return std::nullopt;
      const Clock::time_point before = Clock::now();
      Result<Reference> reference = scorer->scorer.prepare(input, Keep::fast);
      row.result.prepare_ms += milliseconds_between(before, Clock::now());
      if (!reference.ok()) return std::nullopt;  // scoring tells why, or does without
      counts_.note_prepared();
      kept.reference = std::move(*reference);
      return kept;
    };
    const bool again = row.cached->count_use() > 0;
    std::optional<Reference> prepared;
    if (options.keep == Keep::fast && (again || row.shares_reference)) {
      prepared = row.cached->prepared_for(cpu_, row.reference_colour, row.metrics->key, prepare);
    }
    scores = prepared ? scorer->scorer.score(*prepared, distorted)
                      : scorer->scorer.score(row.cached->input_for(cpu_, row.reference_colour), distorted);
  }
  // A failure may have to do with the memory that the scorer holds.
  if (!scores.ok() && scores.status().code() != StatusCode::input) return scores.status();
  scorer->held = row.scoring.split(row.scoring.bytes());
  scorers_.put(std::move(scorer));
  if (!scores.ok()) return scores.status();
  row.result.device = "cpu";
  row.result.memory_mode = mode_text(strip_rows);
  row.result.scores = std::move(*scores);
  return {};
}

// On one device after another, until one can.
Status Scheduler::State::run_work(const RowPointer& row) {
  const Work& work = row->work;
  TaskResult& result = row->result;
  const auto may_run = [&](size_t place) {
    if (row->has_tried(place) || (gpus_[place] && gpus_[place]->is_lost())) return false;
    return work.devices.empty() ||
           std::find(work.devices.begin(), work.devices.end(), places[place].id) != work.devices.end();
  };
  // What it uses is known only about: with a lower limit it runs when nothing else does.
  ACUITY_TRY_ASSIGN(row->held, ledger_.take(std::min(work.host_bytes, ledger_.limit())));
  row->count_bytes();
  row->began = Clock::now();
  while (!cancelled_) {
    size_t best = places.size();
    for (size_t i = 0; i < places.size(); ++i) {
      if (may_run(i) && (best == places.size() || works_[i] < works_[best])) best = i;
    }
    if (best == places.size()) {
      if (!result.attempts.empty()) {
        result.status = result.attempts.back().why;
      } else {
        result.status = Status(StatusCode::unknown_device, "no device that can score it is available; name others");
      }
      break;
    }
    ++works_[best];
    const Clock::time_point before = Clock::now();
    row->stages.begin();
    result.status = Status();
    work.run({.device = places[best].id,
              .threads = threads_,
              .are_videos = row->are_videos,
              .is_given_up = [&] { return cancelled_ || row->stages.is_given_up(); }},
             result);
    row->stages.end();
    --works_[best];
    result.device_ms = milliseconds_between(before, Clock::now());
    result.device = places[best].id;
    if (row->stages.is_given_up() || !is_of_device(result.status.code())) break;
    row->tried.push_back({best, false});
    result.attempts.push_back({.device = places[best].id, .memory_mode = result.memory_mode, .why = result.status});
  }
  if (cancelled_ && result.status.ok() && result.scores.empty()) result.status = cancelled_status();
  if (!result.status.ok()) result.scores.clear();
  deliver(row);
  return {};
}

}  // namespace acuity
