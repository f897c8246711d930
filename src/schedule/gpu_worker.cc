// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/gpu_worker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/try.h"
#include "engine/requests.h"

namespace acuity {
namespace {

constexpr int64_t kSmallPixels = int64_t{1} << 20;
constexpr size_t kQueued = 32;
// Enough for a Scorer to have the next job at hand whenever one ends.
constexpr size_t kSmallInFlight = 24, kLargeInFlight = 4;
constexpr int kUnexplainedFailures = 2;
constexpr size_t kMostUnexplained = 1024;

bool is_short_of_memory(StatusCode code) {
  return code == StatusCode::device_memory || code == StatusCode::out_of_memory || code == StatusCode::too_big;
}

// Failures that another device may not have.
bool is_of_device(StatusCode code) {
  return is_short_of_memory(code) || code == StatusCode::device_lost || code == StatusCode::device ||
         code == StatusCode::unknown_device;
}

std::string mode_text(int strip_rows) { return strip_rows > 0 ? fmt::format("strip {}", strip_rows) : "full"; }

// 0: none. What is wrong with it is told by each row.
int64_t cap_of(const SchedulerOptions& options) {
  const Result<std::optional<int64_t>> cap = vram_cap(options.vram_cap_bytes);
  return cap.ok() ? cap->value_or(0) : 0;
}

int64_t share_of_references(int64_t memory, int64_t cap) { return (cap > 0 ? std::min(memory, cap) : memory) / 4; }

std::string size_text(const Row& row) {
  return fmt::format("{} {}x{}", row.metrics->key, row.result.width, row.result.height);
}

}  // namespace

GpuWorker::GpuWorker(Parts parts, const std::shared_ptr<const void>& owner)
    : parts_(std::move(parts)),
      cap_(cap_of(parts_.options)),
      reference_share_(share_of_references(parts_.place.device->info().memory_bytes, cap_)),
      reference_room_(reference_share_) {
  starter_ = std::thread([this, owner] { start_rows(); });
  finisher_ = std::thread([this, owner] { finish_rows(); });
}

void GpuWorker::stop() {
  if (std::exchange(is_stopped_, true)) return;
  // What hangs ends later or never. Its thread holds the owner of all that it uses.
  const auto end = [](std::thread& thread, bool hangs) { hangs ? thread.detach() : thread.join(); };
  bool starter_hangs = false, finisher_hangs = false;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    starter_hangs = starting_is_given_up_;
  }
  start_.notify_one();
  end(starter_, starter_hangs);
  {
    const std::lock_guard lock(mutex_);
    no_more_flights_ = true;
    finisher_hangs = !flights_.empty();
  }
  land_.notify_one();
  end(finisher_, finisher_hangs);
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
  }
  room_.notify_all();
  if (!starter_hangs && !finisher_hangs) scorers_.clear();
}

bool GpuWorker::push(const RowPointer& row) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return lost_ || queue_.size() < kQueued; });
  lock.unlock();
  return push_anyway(row);
}

bool GpuWorker::push_anyway(const RowPointer& row) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_) return false;
    queue_.push_back(row);
    row->queued = Clock::now();
    backlog_ns_ += row->expected_ns;
  }
  start_.notify_one();
  return true;
}

bool GpuWorker::has_room() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() < kQueued;
}

void GpuWorker::take_off_backlog(Row& row) { backlog_ns_ -= std::exchange(row.expected_ns, 0); }

bool GpuWorker::is_late(Clock::time_point since) const {
  return milliseconds_between(since, Clock::now()) > static_cast<double>(parts_.options.timeout_ms);
}

Status GpuWorker::hanging_status() const {
  return {StatusCode::device_lost,
          fmt::format("{} did not finish a row within the time limit of {} ms, and is not used any more",
                      parts_.place.id, parts_.options.timeout_ms)};
}

// The first row in flight is late if the device has done nothing else for so long. Which of those behind it hang,
// nobody knows: they wait for the first, and are tried elsewhere.
void GpuWorker::give_up_late() {
  std::vector<Left> others;
  std::list<Flight> landed;
  Left late;
  RowPointer starting;
  {
    const std::lock_guard lock(mutex_);
    const bool start_hangs = starting_ && !starting_is_given_up_ && is_late(starting_since_);
    const bool flight_hangs = !flights_.empty() && flights_.front().row && !flights_.front().job.done() &&
                              is_late(std::max(flights_.front().began, last_landing_));
    if (!start_hangs && !flight_hangs) return;
    others.reserve(queue_.size() + flights_.size());  // from here on nothing throws
    lost_ = true;
    given_up_ = true;
    if (start_hangs) {
      starting = starting_;
      starting_is_given_up_ = true;
      written_off_ = starting->counted_bytes;
    }
    for (auto flight = flights_.begin(); flight_hangs && flight != flights_.end();) {
      const auto next = std::next(flight);
      Left left{std::move(flight->row), mode_text(flight->scorer->key.strip_rows)};
      if (flight == flights_.begin()) {
        late = std::move(left);
      } else if (flight->job.done()) {
        flight->row = std::move(left.row);
        landed.splice(landed.end(), flights_, flight);
      } else {
        others.push_back(std::move(left));
      }
      flight = next;
    }
    for (RowPointer& row : queue_) others.push_back({std::move(row), ""});
    queue_.clear();
    for (const std::shared_ptr<CachedScorer>& scorer : active_) scorer->held = Held();
  }
  room_.notify_all();
  start_.notify_one();
  scorers_.release_counted();
  parts_.references.abandon(parts_.number);
  if (starting) {
    parts_.ledger.write_off(written_off_);
    parts_.time_out(starting);
  }
  if (late.row) fail_late(late);
  while (!landed.empty()) {
    std::list<Flight> one;
    one.splice(one.begin(), landed, landed.begin());
    Result<std::vector<Score>> scores = one.front().job.finish();
    land(std::move(one), std::move(scores));
  }
  for (Left& left : others) {
    fail_if(guarded<Status>([&] {
              retry(left.row, {.device = parts_.place.id, .memory_mode = left.memory_mode, .why = hanging_status()});
              return Status();
            }),
            left.row);
  }
}

void GpuWorker::fail_late(const Left& late) {
  take_off_backlog(*late.row);
  TaskResult& result = late.row->result;
  result.timed_out = true;
  fail_if(guarded<Status>([&] {
            const Status why(StatusCode::cancelled, timeout_text(parts_.options.timeout_ms));
            result.attempts.push_back({.device = parts_.place.id, .memory_mode = late.memory_mode, .why = why});
            return why;
          }),
          late.row);
}

// Null when there will be none any more.
RowPointer GpuWorker::next_row() {
  RowPointer row;
  {
    std::unique_lock lock(mutex_);
    const auto has_row = [this] {
      if (queue_.empty()) return false;
      return flights_.size() < (queue_.front()->pixels() <= kSmallPixels ? kSmallInFlight : kLargeInFlight);
    };
    const auto is_over = [this] { return closing_ && queue_.empty() && (flights_.empty() || given_up_); };
    start_.wait(lock, [&] { return has_row() || is_over(); });
    if (!has_row()) return nullptr;
    row = std::move(queue_.front());
    queue_.pop_front();
    starting_ = row;
    starting_since_ = Clock::now();
  }
  room_.notify_one();
  return row;
}

void GpuWorker::start_rows() {
  while (const RowPointer row = next_row()) {
    row->result.waiting_ms += milliseconds_between(row->queued, Clock::now());
    const Status thrown = guarded<Status>([&] {
      Attempt attempt{.device = parts_.place.id};
      attempt.why = lost_ ? Status(StatusCode::device_lost, fmt::format("{} was lost", parts_.place.id))
                          : guarded<Status>([&] { return start(row, attempt); });
      if (!attempt.why.ok() && end_start(row)) retry(row, std::move(attempt));
      return Status();
    });
    if (!thrown.ok() && end_start(row)) fail_if(thrown, row);
  }
}

// Whether the row is still ours. If it was given up meanwhile, it is dropped here.
bool GpuWorker::end_start(const RowPointer& row) {
  {
    const std::lock_guard lock(mutex_);
    starting_.reset();
    if (!std::exchange(starting_is_given_up_, false)) return true;
  }
  parts_.ledger.count_again(written_off_);
  take_off_backlog(*row);
  row->result.timed_out = true;
  parts_.fail(row, Status(StatusCode::cancelled, timeout_text(parts_.options.timeout_ms)));
  return false;
}

// For what was thrown where the row was still ours.
void GpuWorker::fail_if(const Status& status, const RowPointer& row) {
  if (status.ok()) return;
  take_off_backlog(*row);
  parts_.fail(row, status);
}

// What is to become of a row that failed here.
void GpuWorker::retry(const RowPointer& row, Attempt attempt) {
  const StatusCode code = attempt.why.code();
  if (code == StatusCode::device_lost || code == StatusCode::unknown_device) {
    {
      const std::lock_guard lock(mutex_);
      lost_ = true;
    }
    room_.notify_all();
  }
  take_off_backlog(*row);
  if (!is_of_device(code)) return parts_.fail(row, std::move(attempt.why));
  const bool was_strip = attempt.memory_mode.starts_with("strip");
  row->tried.push_back({parts_.number, was_strip});
  const bool may_try_strip = parts_.plans.is_automatic() && !row->has_tried(parts_.number, true);
  if (is_short_of_memory(code) && may_try_strip && !lost_) {
    row->result.attempts.push_back(std::move(attempt));
    if (push_anyway(row)) return;
    attempt = std::move(row->result.attempts.back());
    row->result.attempts.pop_back();
  }
  row->tried.push_back({parts_.number, true});
  parts_.leave(row, std::move(attempt));
}

Result<int64_t> GpuWorker::available_bytes() const {
  int64_t available = 0;
  ACUITY_TRY_ASSIGN(available, parts_.place.device->free_bytes());
  available += static_cast<int64_t>(parts_.place.pool->unused_bytes());
  std::optional<int64_t> cap;
  ACUITY_TRY_ASSIGN(cap, vram_cap(parts_.options.vram_cap_bytes));
  if (cap) available = std::min(available, *cap - static_cast<int64_t>(parts_.place.pool->held_bytes()));
  return std::max<int64_t>(available, 0);
}

// Waits for what is in flight, whose time it is, and drops what is only kept.
Status GpuWorker::make_room() {
  {
    std::unique_lock lock(mutex_);
    starting_since_ = Clock::time_point::max();
    start_.wait(lock, [this] { return flights_.empty() || given_up_; });
    starting_since_ = Clock::now();
  }
  if (given_up_) return hanging_status();
  scorers_.clear();
  reference_room_ = reference_share_;
  parts_.references.trim_device(parts_.number, 0);
  parts_.place.pool->free_unused();
  return {};
}

// For one row more.
std::shared_ptr<CachedScorer> GpuWorker::find_scorer(const ScorerKey& key) {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<CachedScorer>& one : active_) {
    if (one->key != key) continue;
    ++one->rows;
    return one;
  }
  std::shared_ptr<CachedScorer> found = scorers_.take(key);
  if (!found) return nullptr;
  found->rows = 1;
  active_.push_back(found);
  return found;
}

// Under a cap a Scorer takes as much as it can use, so it is told to leave the references their share, if a row then
// has room; if not, references have what the row leaves.
Result<std::shared_ptr<CachedScorer>> GpuWorker::make_scorer(const Row& row, const ScorerKey& key,
                                                             const Attempt& attempt) {
  const int64_t left = attempt.free_bytes - attempt.needed_bytes;
  const bool has_both = left >= reference_share_;
  if (cap_ > 0) reference_room_ = std::min(reference_room_, has_both ? reference_share_ : std::max<int64_t>(left, 0));
  Result<Scorer> scorer =
      Scorer::create({.metrics = row.metrics->requests,
                      .device = parts_.place.id,
                      .memory = key.strip_rows > 0 ? MemoryMode::strip(key.strip_rows) : MemoryMode::full(),
                      .vram_cap_bytes = cap_ > 0 && has_both ? cap_ - reference_share_ : cap_,
                      .threads = 1,
                      .want_map = parts_.options.want_map},
                     key.width, key.height);
  if (cap_ > 0) parts_.place.pool->set_cap(cap_);  // for references as well
  if (!scorer.ok()) return scorer.status();
  auto made = std::make_shared<CachedScorer>(key, std::move(*scorer));
  made->rows = 1;
  const std::lock_guard lock(mutex_);
  active_.push_back(made);
  return made;
}

// In full if there is memory for that, or in the largest strips that there is memory for. What does not fit beside
// other work waits for it first.
Result<std::shared_ptr<CachedScorer>> GpuWorker::scorer_for(Row& row, Attempt& attempt) {
  const MetricSet& metrics = *row.metrics;
  ScorerKey key{metrics.key, row.result.width, row.result.height, parts_.plans.chosen_rows(), 1};
  bool in_full = !row.has_tried(parts_.number, false);
  {
    const std::lock_guard lock(mutex_);
    const auto failures = unexplained_.find(size_text(row));
    in_full = in_full && (failures == unexplained_.end() || failures->second < kUnexplainedFailures);
  }
  attempt.memory_mode = mode_text(key.strip_rows);
  if (in_full) {
    if (std::shared_ptr<CachedScorer> found = find_scorer(key)) return found;
  }
  MemoryPlan plan;
  ACUITY_TRY_ASSIGN(plan, parts_.plans.plan(metrics, key.width, key.height, parts_.place.gpu(), key.strip_rows, 1));
  int64_t available = 0;
  ACUITY_TRY_ASSIGN(available, available_bytes());
  if (plan.pair.device > available) {
    ACUITY_TRY(make_room());
    ACUITY_TRY_ASSIGN(available, available_bytes());
  }
  attempt.needed_bytes = plan.pair.device;
  attempt.free_bytes = available;
  if (in_full && plan.pair.device <= available) return make_scorer(row, key, attempt);
  int rows = 0;
  if (!row.has_tried(parts_.number, true)) {
    ACUITY_TRY_ASSIGN(rows, parts_.plans.smaller_strip(metrics, key.width, key.height, parts_.place.gpu(),
                                                       key.strip_rows, 1, available));
  }
  Status too_big(StatusCode::too_big, fmt::format("{}x{} pixels need {} bytes of memory on {}, but {} are available",
                                                  key.width, key.height, plan.pair.device, parts_.place.id, available));
  if (rows == 0) {
    if (!in_full) attempt.memory_mode = "strip";
    row.tried.push_back({parts_.number, true});  // none is small enough
    return too_big;
  }
  if (in_full) {
    attempt.why = too_big;
    row.result.attempts.push_back(attempt);
    row.tried.push_back({parts_.number, false});
  }
  key.strip_rows = rows;
  attempt.memory_mode = mode_text(rows);
  ACUITY_TRY_ASSIGN(plan, parts_.plans.plan(metrics, key.width, key.height, parts_.place.gpu(), rows, 1));
  attempt.needed_bytes = plan.pair.device;
  if (std::shared_ptr<CachedScorer> found = find_scorer(key)) return found;
  return make_scorer(row, key, attempt);
}

// Whether a reference of so many bytes stays within the cap, if need be in place of others.
bool GpuWorker::may_prepare(int64_t bytes) {
  if (cap_ == 0) return true;
  const auto fits = [&] {
    const Result<int64_t> available = available_bytes();
    return available.ok() && bytes <= *available;
  };
  if (fits()) return true;
  parts_.references.trim_device(parts_.number, std::max<int64_t>(reference_room_ - bytes, 0));
  parts_.place.pool->free_unused();
  return fits();
}

std::optional<Reference> GpuWorker::prepared(Row& row, CachedScorer& scorer) {
  return row.cached->prepared_for(parts_.number, row.reference_colour, row.metrics->key,
                                  [&](const Input& input) -> std::optional<CachedReference::Prepared> {
                                    const Result<MemoryPlan> plan =
                                        parts_.plans.plan(*row.metrics, row.result.width, row.result.height,
                                                          parts_.place.gpu(), scorer.key.strip_rows, 1);
                                    if (!plan.ok() || !may_prepare(plan->reference.device)) return std::nullopt;
                                    const Clock::time_point before = Clock::now();
                                    Result<Reference> reference = scorer.scorer.prepare(input, Keep::fast);
                                    row.result.prepare_ms += milliseconds_between(before, Clock::now());
                                    if (!reference.ok()) return std::nullopt;  // scoring tells why, or does without
                                    parts_.counts.note_prepared();
                                    CachedReference::Prepared kept;
                                    kept.reference = std::move(*reference);
                                    kept.device_bytes = plan->reference.device;
                                    return kept;
                                  });
}

Result<Job> GpuWorker::start_job(Row& row, CachedScorer& scorer) {
  std::optional<Reference> kept;
  Input reference;
  if (row.scaled_reference.pixels) {
    ImageView view = row.scaled_reference.view;
    view.colour = row.reference_colour;
    reference = input_of(view, row.scaled_reference.pixels);
  } else {
    const bool again = row.cached->count_use() > 0;
    if (parts_.options.keep == Keep::fast && (again || row.shares_reference)) kept = prepared(row, scorer);
    reference = row.cached->input_for(parts_.number, row.reference_colour);
    parts_.references.trim_device(parts_.number, reference_room_);
  }
  const Input distorted = row.new_input();
  return kept ? scorer.scorer.start(*kept, distorted) : scorer.scorer.start(reference, distorted);
}

Status GpuWorker::start(const RowPointer& row, Attempt& attempt) {
  std::shared_ptr<CachedScorer> scorer;
  ACUITY_TRY_ASSIGN(scorer, scorer_for(*row, attempt));
  const Clock::time_point began = Clock::now();
  std::list<Flight> flight;  // if it was given up, this waits for its job
  const Status started = guarded<Status>([&]() -> Status {
    row->result.memory_mode = attempt.memory_mode;
    Result<Job> job = start_job(*row, *scorer);
    if (!job.ok()) return job.status();
    flight.push_back({row, scorer, std::move(*job), began});
    const std::lock_guard lock(mutex_);
    if (starting_is_given_up_) return hanging_status();
    starting_.reset();
    flights_.splice(flights_.end(), flight);
    return {};
  });
  if (!started.ok()) {
    flight.clear();
    release(scorer, nullptr);
    return started;
  }
  land_.notify_one();
  return {};
}

void GpuWorker::finish_rows() {
  while (true) {
    Flight* flight = nullptr;
    {
      std::unique_lock lock(mutex_);
      land_.wait(lock, [this] { return !flights_.empty() || no_more_flights_; });
      if (flights_.empty()) return;
      flight = &flights_.front();  // stays the first while nobody has finished it
    }
    Result<std::vector<Score>> scores = flight->job.finish();
    std::list<Flight> landed;
    {
      const std::lock_guard lock(mutex_);
      landed.splice(landed.begin(), flights_, flights_.begin());
    }
    land(std::move(landed), std::move(scores));
  }
}

// One flight.
void GpuWorker::land(std::list<Flight> landed, Result<std::vector<Score>> scores) {
  const RowPointer row = landed.front().row;
  const Clock::time_point began = landed.front().began, now = Clock::now();
  const int strip_rows = landed.front().scorer->key.strip_rows;
  double busy_ms = 0;
  {
    const std::lock_guard lock(mutex_);
    busy_ms = milliseconds_between(std::max(began, last_landing_), now);
    last_landing_ = now;
  }
  release(landed.front().scorer, row && scores.ok() ? row.get() : nullptr);
  landed.clear();
  start_.notify_one();
  if (!row) return;  // it was given up
  row->result.device_ms = milliseconds_between(began, now);
  fail_if(guarded<Status>([&] {
            settle(row, strip_rows, std::move(scores), busy_ms);
            return Status();
          }),
          row);
}

void GpuWorker::settle(const RowPointer& row, int strip_rows, Result<std::vector<Score>> scores, double busy_ms) {
  const int width = row->result.width, height = row->result.height;
  if (scores.ok()) {
    parts_.costs.note(parts_.number, *row->metrics, width, height, busy_ms * 1e6);
    take_off_backlog(*row);
    row->result.device = parts_.place.id;
    row->result.scores = std::move(*scores);
    row->gpu_ms = busy_ms;
    return parts_.done(row);
  }
  Attempt attempt{.device = parts_.place.id, .memory_mode = mode_text(strip_rows), .why = scores.status()};
  if (is_short_of_memory(attempt.why.code()) && !given_up_) {
    const Result<MemoryPlan> plan = parts_.plans.plan(*row->metrics, width, height, parts_.place.gpu(), strip_rows, 1);
    attempt.needed_bytes = plan.ok() ? plan->pair.device : 0;
    attempt.free_bytes = available_bytes().ok() ? *available_bytes() : 0;
    // If memory was there for the plan, the plan or the driver is to blame, and the same would happen again.
    if (strip_rows == 0 && attempt.free_bytes >= attempt.needed_bytes) {
      const std::lock_guard lock(mutex_);
      if (unexplained_.size() >= kMostUnexplained) unexplained_.clear();
      ++unexplained_[size_text(*row)];
    }
  }
  retry(row, std::move(attempt));
}

// The scorer keeps the memory of as many rows as it ever had in flight; it goes with it. On a device that hangs nothing
// goes.
void GpuWorker::release(const std::shared_ptr<CachedScorer>& scorer, Row* scored) {
  bool is_unused = false;
  {
    const std::lock_guard lock(mutex_);
    if (given_up_) return;
    const int most = scored != nullptr && scored->pixels() <= kSmallPixels ? 8 : 2;
    if (scored != nullptr && scorer->counted_rows < std::min(scorer->rows, most)) {
      ++scorer->counted_rows;
      scorer->held.add(scored->scoring.split(scored->scoring.bytes()));
    }
    is_unused = --scorer->rows == 0;
    if (is_unused) active_.remove(scorer);
  }
  if (is_unused) scorers_.put(scorer);
}

}  // namespace acuity
