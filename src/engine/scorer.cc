// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/scorer.h"

#include <utility>

#include "base/guard.h"
#include "base/try.h"
#include "engine/scoring.h"

namespace acuity {

struct Scorer::State {
  std::unique_ptr<Scoring> scoring;
};

Scorer::Scorer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Scorer::~Scorer() = default;
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;

Result<Scorer> Scorer::create(const ScorerOptions& options, int width, int height) {
  return guarded<Result<Scorer>>([&]() -> Result<Scorer> {
    auto state = std::make_unique<State>();
    ACUITY_TRY_ASSIGN(state->scoring, Scoring::create(options, width, height));
    return Scorer(std::move(state));
  });
}

Result<Reference> Scorer::prepare(const Input& reference, Keep keep) {
  if (!state_) return moved_from("Scorer");
  return guarded<Result<Reference>>([&]() -> Result<Reference> {
    Reference prepared;
    ACUITY_TRY_ASSIGN(prepared.state_, state_->scoring->prepare(reference, keep));
    return prepared;
  });
}

Result<Job> Scorer::start(const Input& reference, const Input& distorted) {
  if (!state_) return moved_from("Scorer");
  return guarded<Result<Job>>([&]() -> Result<Job> {
    auto job = std::make_shared<Job::State>(reference, nullptr, distorted);
    state_->scoring->start(job);
    return Job(std::move(job));
  });
}

Result<Job> Scorer::start(const Reference& reference, const Input& distorted) {
  if (!state_) return moved_from("Scorer");
  return guarded<Result<Job>>([&]() -> Result<Job> {
    auto job = std::make_shared<Job::State>(Input(), reference.state(), distorted);
    state_->scoring->start(job);
    return Job(std::move(job));
  });
}

Result<std::vector<Score>> Scorer::score(const Input& reference, const Input& distorted) {
  if (!state_) return moved_from("Scorer");
  return guarded<Result<std::vector<Score>>>([&] {
    Job::State job(reference, nullptr, distorted);
    state_->scoring->run(job);
    return job.finish();
  });
}

Result<std::vector<Score>> Scorer::score(const Reference& reference, const Input& distorted) {
  if (!state_) return moved_from("Scorer");
  return guarded<Result<std::vector<Score>>>([&] {
    Job::State job(Input(), reference.state(), distorted);
    state_->scoring->run(job);
    return job.finish();
  });
}

Result<std::vector<Result<std::vector<Score>>>> Scorer::score_many(std::span<const InputPair> pairs) {
  using AllScores = std::vector<Result<std::vector<Score>>>;
  if (!state_) return moved_from("Scorer");
  return guarded<Result<AllScores>>([&]() -> Result<AllScores> {
    std::vector<Job> jobs;
    for (const InputPair& pair : pairs) {
      Result<Job> job = start(pair.reference, pair.distorted);
      if (!job.ok()) return job.status();
      jobs.push_back(std::move(*job));
    }
    AllScores scores;
    for (Job& job : jobs) scores.push_back(job.finish());
    return scores;
  });
}

std::span<const MetricInfo* const> Scorer::metrics() const noexcept {
  if (!state_) return {};
  return state_->scoring->infos();
}

int64_t Reference::bytes() const noexcept {
  int64_t bytes = 0;
  if (!state_) return bytes;
  if (state_->samples.has_picture()) return static_cast<int64_t>(bytes_of(state_->samples));
  for (const PreparedMetric& metric : state_->metrics) bytes += static_cast<int64_t>(metric.reference->bytes());
  return bytes;
}

}  // namespace acuity
