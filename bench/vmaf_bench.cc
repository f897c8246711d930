// SPDX-License-Identifier: BSD-2-Clause-Patent
// Models of VMAF on frames of 1920x1080: bits, threads.
#include <memory>

#include <benchmark/benchmark.h>

#include "acuity/frame_scorer.h"
#include "lang/targets.h"
#include "support/synthetic_video.h"

namespace acuity::bench {
namespace {

constexpr int kFrames = 24, kDistinct = 4;

std::vector<FrameView> draw(int bits, bool distorted) {
  const tests::SyntheticVideo video(1920, 1080, bits, Subsampling::yuv420);
  std::vector<FrameView> views;
  for (int t = 0; t < kDistinct; ++t) {
    const auto frame = std::make_shared<tests::OwnedFrame>(distorted ? video.distorted(t) : video.reference(t));
    views.push_back(frame->view());
    views.back().owner = frame;
  }
  return views;
}

Result<std::vector<FrameScore>> score(const FrameScorerOptions& options, const std::vector<FrameView>& reference,
                                      const std::vector<FrameView>& distorted) {
  Result<FrameScorer> scorer = FrameScorer::create(options);
  if (!scorer.ok()) return scorer.status();
  for (size_t i = 0; i < kFrames; ++i) {
    const Status pushed = scorer->push(reference[i % kDistinct], distorted[i % kDistinct]);
    if (!pushed.ok()) return pushed;
  }
  return scorer->finish();
}

void run_model(benchmark::State& state, const std::string& model, const std::string& precision) {
  const int bits = static_cast<int>(state.range(0)), threads = static_cast<int>(state.range(1));
  const std::vector<FrameView> reference = draw(bits, false), distorted = draw(bits, true);
  const FrameScorerOptions options{.metrics = {{"vmaf", {{"model", model}, {"precision", precision}}}},
                                   .format = FrameFormat{{.width = 1920, .height = 1080, .depth = bits}},
                                   .device = "cpu",
                                   .threads = threads};
  int64_t bytes = 0;
  for (auto _ : state) {
    const Result<std::vector<FrameScore>> scores = score(options, reference, distorted);
    if (!scores.ok()) return state.SkipWithError(scores.status().message().c_str());
    bytes = scores->front().provenance.working_bytes;
  }
  state.SetLabel(cpu_target());
  state.counters["frames/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kFrames, benchmark::Counter::kIsRate);
  state.counters["working KiB"] = static_cast<double>(bytes) / 1024;
}

bool bench_model(const std::string& label, const std::string& model, const std::string& precision) {
  benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) { run_model(state, model, precision); })
      ->ArgsProduct({{8, 10}, {1, 2}})
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  return true;
}

[[maybe_unused]] const bool v0 = bench_model("vmaf v0.6.1", "v0.6.1", "stream");
[[maybe_unused]] const bool v1 = bench_model("vmaf v1.0.16_3d0h", "v1.0.16_3d0h", "stream");
[[maybe_unused]] const bool v1_deep = bench_model("vmaf v1.0.16_3d0h, 8 bits as 10", "v1.0.16_3d0h", "auto");
[[maybe_unused]] const bool bootstrap = bench_model("vmaf b_v0.6.3", "b_v0.6.3", "stream");

}  // namespace
}  // namespace acuity::bench
