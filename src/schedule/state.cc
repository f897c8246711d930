// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/state.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/guard.h"
#include "base/try.h"
#include "engine/requests.h"

namespace acuity {
namespace {

constexpr size_t kMostSets = 1024;
constexpr int64_t kLeastToRecycle = int64_t{128} << 20, kMostRecycled = int64_t{1} << 30;

std::string key_of(const std::vector<MetricRequest>& requests) {
  std::string key;
  for (const MetricRequest& request : requests) {
    key += request.metric;
    for (const OptionValue& option : request.options) key += ":" + option.name + "=" + option.value;
    key += ";";
  }
  return key;
}

}  // namespace

Scheduler::State::State(const SchedulerOptions& given, const PairRules& given_rules, std::vector<Place> opened,
                        int thread_count)
    : options(given),
      rules(given_rules),
      places(std::move(opened)),
      results(given.ordered),
      threads_(thread_count),
      limit_(given.memory_limit_bytes > 0 ? given.memory_limit_bytes : default_memory_limit()),
      recycled_(limit_ < kLeastToRecycle ? 0 : std::min(limit_ / 16, kMostRecycled)),
      recycler_(static_cast<size_t>(recycled_)),
      ledger_(limit_ - recycled_, [this](int64_t bytes) { return reclaim(bytes); }),
      plans_(options),
      references_(places.size(), ledger_.limit() / 4, static_cast<uint64_t>(std::max(given.window, 256)) * 4),
      costs_(places, given.want_map),
      scorers_(static_cast<size_t>(thread_count) * 4),
      window_(static_cast<size_t>(std::max(given.window, 1)), places.size()),
      loader_({options, rules, places, ledger_, plans_, references_, counts_}),
      kinds_(given.limits),
      works_(places.size()) {
  const auto is_cpu = [](const Place& place) { return place.is_cpu(); };
  cpu_ = static_cast<size_t>(std::find_if(places.begin(), places.end(), is_cpu) - places.begin());
}

Scheduler::State::~State() = default;

void Scheduler::State::start() {
  for (size_t i = 0; i < places.size(); ++i) {
    gpus_.push_back(
        places[i].is_cpu()
            ? nullptr
            : std::make_unique<GpuWorker>(
                  GpuWorker::Parts{
                      .options = options,
                      .place = places[i],
                      .number = i,
                      .plans = plans_,
                      .references = references_,
                      .counts = counts_,
                      .costs = costs_,
                      .ledger = ledger_,
                      .done = [this](const RowPointer& row) { done(row); },
                      .fail = [this](const RowPointer& row, Status status) { fail(row, std::move(status)); },
                      .leave = [this](const RowPointer& row, Attempt attempt) { leave(row, std::move(attempt)); },
                      .time_out = [this](const RowPointer& row) { time_out(*row); }},
                  shared_from_this()));
  }
  const std::lock_guard lock(workers_mutex_);
  while (live_ < threads_) add_worker();
  if (options.timeout_ms > 0) watcher_ = std::thread([this] { watch_time(); });
}

void Scheduler::State::stop() {
  cancel();
  results.flush();  // what is running ends; what does not is given up by the watcher
  window_.close();
  {
    const std::lock_guard lock(workers_mutex_);
    stopping_ = true;
  }
  time_over_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    // It holds the state. When it returns, it finds that it is not wanted any more.
    if (!worker->thread.joinable()) continue;  // it could not be started
    if (worker->is_left_behind) {
      worker->thread.detach();
    } else {
      worker->thread.join();
    }
  }
  // They stay: a thread that was left behind may still look at them.
  for (const std::unique_ptr<GpuWorker>& gpu : gpus_) {
    if (gpu) gpu->stop();
  }
  references_.clear();
  scorers_.clear();
}

std::shared_ptr<const MetricSet> Scheduler::State::metric_set(const std::vector<MetricRequest>& requests) {
  std::string key = key_of(requests);
  const std::lock_guard lock(sets_mutex_);
  if (const auto found = sets_.find(key); found != sets_.end()) return found->second;
  auto made = std::make_shared<MetricSet>();
  made->requests = requests;
  made->key = std::move(key);
  // A size that every metric accepts: that of the pictures is checked with them.
  constexpr int kSide = 1024;
  const Result<std::vector<RequestedMetric>> found = find_requested_metrics({.metrics = requests}, kSide, kSide);
  made->on_gpu = found.ok() ? check_gpu_can(*found, options.want_map) : found.status();
  if (found.ok()) made->costs = costed(*found);
  if (sets_.size() >= kMostSets) sets_.clear();  // rows have theirs
  return sets_[made->key] = std::move(made);
}

Result<bool> Scheduler::State::submit(const Task& task, std::optional<Clock::time_point> until, const Work& videos) {
  auto row = std::make_shared<Row>();
  row->metrics = metric_set(task.metrics.empty() ? options.metrics : task.metrics);
  row->task = task;
  row->work = videos;
  row->reference_name = name_of_reference(task.reference);
  row->result.id = task.id;
  row->result.fields = task.fields;
  return enter(row, until);
}

Result<bool> Scheduler::State::submit(const Work& work, std::optional<Clock::time_point> until) {
  auto row = std::make_shared<Row>();
  row->is_work = true;
  row->work = work;
  row->result.id = work.id;
  row->result.fields = work.fields;
  return enter(row, until);
}

Result<bool> Scheduler::State::enter(const RowPointer& row, std::optional<Clock::time_point> until) {
  if (cancelled_) return cancelled_status();
  int64_t none = 0;
  began_ns_.compare_exchange_strong(none, Clock::now().time_since_epoch().count());
  // Results that are kept back because one before them takes long are bounded as well.
  const int64_t most_ahead = 4 * std::max(options.window, 256);
  const auto is_admitted = [&] {
    return !options.ordered || results.expected() - results.first_unfinished() <= most_ahead;
  };
  const auto number = [&](Row& one) {
    one.index = one.result.index = results.expect();
    ++submitted_;
  };
  switch (window_.put(row, is_admitted, number, until)) {
    case Window::Put::yes:
      return true;
    case Window::Put::no_room:
      return false;
    case Window::Put::closed:
      break;
  }
  return closed_status();
}

void Scheduler::State::cancel() {
  cancelled_ = true;
  window_.close();
  while (const RowPointer row = window_.take_back()) fail(row, cancelled_status());
  ledger_.close();
}

void Scheduler::State::add_worker() {
  workers_.push_back(std::make_unique<Worker>());
  Worker* worker = workers_.back().get();
  // A thread that is left behind may outlive the Scheduler.
  worker->thread = std::thread([state = shared_from_this(), worker] { state->work(*worker); });
  ++live_;
}

void Scheduler::State::work(Worker& worker) {
  while (!worker.is_left_behind) {
    const Clock::time_point before = Clock::now();
    RowPointer row = window_.take(worker.is_left_behind);
    if (!row) break;
    counts_.note_idle(milliseconds_between(before, Clock::now()));
    {
      const std::lock_guard lock(worker.mutex);
      worker.row = row;
    }
    Status status = guarded<Status>([&] { return process(row); });
    if (!status.ok()) fail(row, std::move(status));
    const std::lock_guard lock(worker.mutex);
    worker.row.reset();
  }
  if (worker.is_left_behind) come_back(worker);
}

// A failure is that of the row, which is still ours then.
Status Scheduler::State::process(const RowPointer& row) {
  if (row->is_work) return run_work(row);
  if (row->result.width > 0) return score_here(row);  // comes from a GPU
  if (cancelled_) return cancelled_status();
  row->began = Clock::now();
  ACUITY_TRY(loader_.check_reference(*row));
  if (row->work.run) {
    row->stages.begin();
    row->are_videos = kinds_.are_videos(*row);
    row->stages.end();
    if (row->stages.is_given_up()) return cancelled_status();
    row->is_work = row->are_videos || row->work.for_pictures;
    if (row->is_work) return window_.put_work(row) ? Status() : closed_status();
  }
  ACUITY_TRY(loader_.load(*row));
  if (row->stages.is_given_up()) return cancelled_status();
  return place(row);
}

bool Scheduler::State::can_score(size_t place, const Row& row) const {
  if (row.has_tried(place)) return false;
  return places[place].is_cpu() || (row.metrics->on_gpu.ok() && !gpus_[place]->is_lost());
}

double Scheduler::State::expected_ns(size_t place, const Row& row) {
  return costs_.row_ns(place, *row.metrics, row.result.width, row.result.height);
}

// To the GPU that would be done with it first. The CPU scores what it does faster, and what GPUs have no room for if it
// is done before they are done with all that waits.
Status Scheduler::State::place(const RowPointer& row) {
  while (true) {
    size_t best = places.size(), cpu = places.size();
    double best_ns = 0, best_end_ns = 0, cpu_ns = 0;
    bool has_room = false;
    for (size_t i = 0; i < places.size(); ++i) {
      if (!can_score(i, *row)) continue;
      const double ns = expected_ns(i, *row);
      if (places[i].is_cpu()) {
        cpu = i;
        cpu_ns = ns;
        continue;
      }
      const double end_ns = gpus_[i]->backlog_ns() + ns;
      const bool room = gpus_[i]->has_room();
      const bool better = best == places.size() || (room && !has_room) || (room == has_room && end_ns < best_end_ns);
      if (!better) continue;
      best = i;
      best_ns = ns;
      best_end_ns = end_ns;
      has_room = room;
    }
    if (best == places.size() && cpu == places.size()) {
      const Status& on_gpu = row->metrics->on_gpu;
      return !on_gpu.ok() ? on_gpu : Status(StatusCode::device_lost, "every device was lost; open them again");
    }
    const auto left = static_cast<double>(results.unfinished());
    const bool here =
        cpu != places.size() && (best == places.size() || cpu_ns <= best_ns || (!has_room && cpu_ns < left * best_ns));
    if (here) return score_here(row);
    row->expected_ns = best_ns;
    if (gpus_[best]->push(row)) return {};
  }
}

void Scheduler::State::leave(const RowPointer& row, Attempt attempt) {
  row->result.attempts.push_back(std::move(attempt));
  if (cancelled_) return fail(row, cancelled_status());
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].is_cpu() || !can_score(i, *row)) continue;
    row->expected_ns = expected_ns(i, *row);
    if (gpus_[i]->push_anyway(row)) return;
  }
  if (cpu_ < places.size() && can_score(cpu_, *row)) {
    row->queued = Clock::now();
    if (window_.put_first(row)) return;
    return fail(row, closed_status());
  }
  fail(row, row->result.attempts.back().why);
}

void Scheduler::State::done(const RowPointer& row) {
  TaskResult& result = row->result;
  for (const Score& score : result.scores) {
    const bool is_finite =
        std::isfinite(score.value) && std::all_of(score.outputs.begin(), score.outputs.end(),
                                                  [](const NamedValue& output) { return std::isfinite(output.value); });
    if (is_finite) continue;
    return fail(row, Status(StatusCode::internal,
                            score.metric + " gave a result that is not a finite number; please report this"));
  }
  const auto list = [&](const PictureFacts& facts, const char* side) {
    std::string found = facts.format;
    for (const std::string& fact : facts.found) found += ", " + fact;
    result.assumptions.push_back(fmt::format("{}: {}", side, found));
    for (const std::string& fact : facts.assumed)
      result.assumptions.push_back(fmt::format("{}: assumed {}", side, fact));
  };
  list(result.reference, "reference");
  list(result.distorted, "distorted");
  for (const Score& score : result.scores) {
    for (const std::string& fact : score.provenance.assumptions) {
      result.assumptions.push_back(fmt::format("{}: {}", score.metric, fact));
    }
    for (const std::string& warning : score.provenance.warnings) {
      result.warnings.push_back(fmt::format("{}: {}", score.metric, warning));
    }
  }
  deliver(row);
}

std::string Scheduler::State::names_of(const Row& row) {
  if (row.is_work) return row.work.name;
  return fmt::format("{} and {}", name_of_file(row.task.reference.name), name_of_file(row.task.distorted.name));
}

// With the files in front, unless the message names them. A failure has no scores.
void Scheduler::State::fail(const RowPointer& row, Status status) {
  row->result.scores.clear();
  row->result.status = std::move(status);
  try {
    const Status& plain = row->result.status;
    const auto names = [&](const TaskPicture& picture) {
      return plain.message().find(name_of_file(picture.name)) != std::string::npos;
    };
    const bool is_cancelled = plain.code() == StatusCode::cancelled && !row->result.timed_out;
    if (!is_cancelled && !row->is_work && !names(row->task.reference) && !names(row->task.distorted)) {
      row->result.status = Status(plain.code(), fmt::format("{}: {}", names_of(*row), plain.message()));
    }
  } catch (const std::bad_alloc&) {  // without the names then
  }
  deliver(row);
}

void Scheduler::State::deliver(const RowPointer& row) {
  row->stages.end();
  row->drop_pictures();
  row->scoring = Held();
  row->held = Held();
  ledger_.wake();
  window_.end_work(*row);
  // Whoever gave it up, because its time was over, hands out its result.
  if (row->stages.is_given_up() || !row->claim_delivery()) return;
  TaskResult& result = row->result;
  if (row->began != Clock::time_point{}) result.wall_ms = milliseconds_between(row->began, Clock::now());
  hand_out(std::move(result), row->gpu_ms);
}

// Somebody waits for it, so that it must get there. If there is no memory for it, others will free some.
void Scheduler::State::hand_out(TaskResult result, std::optional<double> gpu_ms) {
  counts_.note(result, gpu_ms);
  while (true) {
    try {
      results.deliver(std::move(result));
      break;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  window_.wake_putters();
}

bool Scheduler::State::reclaim(int64_t bytes) {
  if (references_.drop(bytes) || scorers_.drop_oldest()) return true;
  return std::any_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu && gpu->drop_unused(); });
}

SchedulerStatistics Scheduler::State::statistics() const {
  SchedulerStatistics statistics;
  counts_.fill(statistics);
  statistics.submitted = submitted_;
  statistics.upload_ms = sending_ms() - sent_before_ms_;
  // Another scheduler may have part in what is recycled.
  const RecycledMemory::Bytes kept = RecycledMemory::kept();
  statistics.host_bytes = ledger_.used() + std::min(static_cast<int64_t>(kept.now), recycled_);
  statistics.peak_host_bytes = ledger_.peak() + std::min(static_cast<int64_t>(kept.most), recycled_);
  statistics.memory_limit_bytes = limit_;
  if (const int64_t began = began_ns_; began != 0) {
    statistics.wall_ms = static_cast<double>(Clock::now().time_since_epoch().count() - began) / 1e6;
  }
  for (size_t i = 0; i < gpus_.size(); ++i) {
    if (!gpus_[i] || !gpus_[i]->is_lost()) continue;
    auto& devices = statistics.devices;
    auto found = std::find_if(devices.begin(), devices.end(), [&](auto& one) { return one.device == places[i].id; });
    if (found == devices.end()) found = devices.insert(found, {places[i].id, 0, 0, false});
    found->is_lost = true;
  }
  return statistics;
}

}  // namespace acuity
