// SPDX-License-Identifier: BSD-2-Clause-Patent
// A feature of video frames on one thread of the CPU: width, height, bits; frames of 4:2:0.
#ifndef ACUITY_BENCH_FEATURE_BENCH_H
#define ACUITY_BENCH_FEATURE_BENCH_H

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/feature.h"
#include "lang/targets.h"
#include "support/feature_windows.h"
#include "support/synthetic_video.h"

namespace acuity::bench {

/// Makes the feature and a worker, which share the life of this.
struct BenchedFeature {
  std::unique_ptr<Feature> feature;
  std::unique_ptr<FeatureWorker> worker;

  Status create(const std::string& name, const FrameShape& format, const std::vector<OptionValue>& options) {
    if (Status status = prepare_cpu(); !status.ok()) return status;
    const FeatureEntry* entry = find_feature(name);
    if (entry == nullptr) return Status(StatusCode::usage, "no feature " + name);
    Result<OptionValues> values = OptionValues::parse(entry->info, options);
    if (!values.ok()) return values.status();
    Result<std::unique_ptr<Feature>> made = entry->create({{format}, {format}, *values});
    if (!made.ok()) return made.status();
    feature = std::move(*made);
    Result<std::unique_ptr<FeatureWorker>> made_worker = feature->create_worker();
    if (!made_worker.ok()) return made_worker.status();
    worker = std::move(*made_worker);
    return {};
  }
};

inline void run_feature(benchmark::State& state, const std::string& name, const std::vector<OptionValue>& options) {
  const int width = static_cast<int>(state.range(0)), height = static_cast<int>(state.range(1));
  const tests::SyntheticVideo video(width, height, static_cast<int>(state.range(2)), Subsampling::yuv420);
  BenchedFeature benched;
  Status status = benched.create(name, video.reference(0).format, options);
  if (!status.ok()) return state.SkipWithError(status.message().c_str());
  std::array<std::vector<tests::OwnedFrame>, 2> frames;
  std::array<std::vector<FrameView>, 2> views;
  const int last = benched.feature->history();
  for (int t = 0; t <= last; ++t) {
    frames[0].push_back(video.reference(t));
    frames[1].push_back(video.distorted(t));
  }
  for (size_t side = 0; side < 2; ++side) {
    for (const tests::OwnedFrame& frame : frames[side]) views[side].push_back(frame.view());
  }
  tests::FeatureWindows windows(*benched.feature, *benched.worker, views[0], views[1]);
  std::vector<double> values(benched.feature->value_count());
  for (auto _ : state) {
    status = windows.derive(static_cast<size_t>(last));  // what is kept of the frames before is there
    if (status.ok()) status = windows.measure(static_cast<size_t>(last), values);
    benchmark::DoNotOptimize(values.data());
  }
  if (!status.ok()) return state.SkipWithError(status.message().c_str());
  state.SetLabel(cpu_target());
  state.counters["value"] = values[benched.feature->headline()];
  state.counters["frames/s"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["working KiB"] = static_cast<double>(benched.worker->bytes()) / 1024;
}

/// Registers a benchmark; give the result to a static variable.
inline bool bench_feature(const std::string& label, const std::string& name,
                          const std::vector<OptionValue>& options = {}) {
  benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) { run_feature(state, name, options); })
      ->Args({1920, 1080, 8})
      ->Args({1920, 1080, 10})
      ->Unit(benchmark::kMillisecond);
  return true;
}

}  // namespace acuity::bench

#endif
